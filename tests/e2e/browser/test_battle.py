"""How a battle feels: nothing moves by itself, a click is answered at once, keys do everything."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.browser.visitor import (
    lock_button,
    lock_in,
    locked,
    practise,
    seen_shifts,
    sign_in,
)
from tests.e2e.helpers import Player, dice, play_movement

pytestmark = pytest.mark.xdist_group("stack")

MOST_TABS = 40
# The opening, an influence, and the first of the next.
MOVEMENTS = 9


def influence(page: Page) -> Locator:
    return page.locator(".influence")


def test_nothing_moves_on_the_screen_of_a_spectator_while_two_apes_fight(
    visit: Callable[..., Page], rich_pair: tuple[Player, Player]
) -> None:
    ann, bob = rich_pair
    made = ann.client.create_match(stake=10, visibility="open")
    views = {"Bob": bob.client.join_match(made.id), "Ann": ann.client.match(made.id)}
    wide, narrow = visit(), visit(width=360)
    for account, page in ((5, wide), (8, narrow)):
        sign_in(page, account)
        page.goto(f"/match/{made.id}")
        expect(page.get_by_text("You are watching this match")).to_be_visible()
        page.evaluate("shifts.length = 0")
    rolls = dice()
    for _ in range(MOVEMENTS):
        play_movement(rich_pair, views, rolls)
    ann.client.resign(made.id)
    for page in (wide, narrow):
        expect(page.get_by_role("heading", name="Gorilla wins")).to_be_visible()
        assert seen_shifts(page) == []


def test_a_choice_is_shown_in_the_next_frame_and_a_lock_before_the_server_has_answered(
    visit: Callable[..., Page],
) -> None:
    page = visit()
    sign_in(page, 6)
    practise(page)
    sound = page.get_by_role("button", name="Sound off")
    expect(sound).to_have_attribute("aria-pressed", "false")
    page.evaluate("shifts.length = 0")
    pressed = page.get_by_role("button", name="Rock").evaluate(
        """async (rock) => {
          rock.click();
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          return rock.getAttribute("aria-pressed");
        }"""
    )
    assert pressed == "true"

    held: list[Route] = []
    page.route("**/moves", lambda route: held.append(route))
    with page.expect_request("**/moves"):
        lock_button(page).click()
    expect(locked(page)).to_be_visible()
    (unanswered,) = held
    unanswered.continue_()
    page.unroute("**/moves")
    expect(influence(page)).to_contain_text("2 of 3")
    lock_in(page, "Paper")
    expect(influence(page)).to_contain_text("3 of 3")
    assert seen_shifts(page) == []


def tab_to(page: Page, target: Locator) -> None:
    """Go on with the Tab key until the target has the focus."""
    expect(target).to_be_visible()
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if target.evaluate("(element) => element === document.activeElement"):
            return
    pytest.fail(f"Tab does not lead to {target}")


def test_a_player_gets_from_the_home_page_through_a_movement_and_out_again_by_keys_alone(
    visit: Callable[..., Page],
) -> None:
    page = visit()
    for target in (
        page.get_by_role("button", name="Play now"),
        page.get_by_role("button", name="Dev wallet"),
        page.get_by_role("dialog", name="Which dev account?").locator(".choice").nth(7),
        page.get_by_role("button", name="Play drifter"),
        page.get_by_role("button", name="Scissors"),
        lock_button(page),
    ):
        tab_to(page, target)
        page.keyboard.press("Enter")
    expect(influence(page)).to_contain_text("2 of 3")
    tab_to(page, page.get_by_role("button", name="Resign"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("button", name="Give up"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="You lose")).to_be_visible()
