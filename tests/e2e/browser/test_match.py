"""Two people with nothing but a browser: from a first visit to a withdrawal that is paid out."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.browser.visitor import (
    balance,
    lock_button,
    lock_in,
    locked,
    see_it_credited,
    send_deposit,
    serious_faults,
    sign_in,
)

pytestmark = pytest.mark.xdist_group("stack")

NARROW = 360
MOST_MOVEMENTS = 40
OFFLINE_SECONDS = 10


def end(page: Page) -> Locator:
    return page.get_by_role("heading", name=re.compile("You win!|You lose"))


def log(page: Page) -> Locator:
    return page.get_by_role("region", name="What happened")


def play_movement(winner: Page, loser: Page) -> None:
    """Rock beats scissors."""
    lock_in(winner, "Rock")
    expect(locked(winner)).to_be_visible()
    lock_in(loser, "Scissors")
    for page in (winner, loser):
        expect(lock_button(page).or_(end(page))).to_be_visible()


def test_two_browsers_go_from_a_first_visit_to_a_paid_withdrawal(
    visit: Callable[..., Page],
) -> None:
    ann, bob = visit(), visit(width=NARROW)
    sign_in(ann, 2)
    sign_in(bob, 3)
    send_deposit(ann, 100)
    send_deposit(bob, 50, coin="TUSD")
    see_it_credited(ann, 100)
    see_it_credited(bob, 50)
    expect(balance(ann)).to_have_text("100")
    expect(balance(bob)).to_have_text("50")
    steps = bob.get_by_role("list", name="Progress")
    expect(steps).to_contain_text("Let the vault take your TUSD")

    ann.goto("/lobby")
    friend = ann.get_by_role("form", name="Invite a friend")
    friend.get_by_label("Stake").fill("20")
    friend.get_by_role("button", name="Make a match").click()
    link = ann.get_by_role("textbox", name="Invitation link").input_value()
    expect(ann.get_by_role("img", name=re.compile("QR code"))).to_be_visible()
    bob.goto(link)
    expect(bob.get_by_text("challenges you")).to_be_visible()
    bob.get_by_role("button", name="Join the match").click()

    # A movement in peace; then Ann reloads between lock-in and reveal: her salt is still there.
    play_movement(ann, bob)
    lock_in(ann, "Rock")
    expect(locked(ann)).to_be_visible()
    ann.reload()
    expect(locked(ann)).to_be_visible()
    lock_in(bob, "Scissors")
    expect(lock_button(ann)).to_be_visible()

    # Bob's connection is gone for a while: what he locks in is sent when it is back.
    expect(lock_button(bob)).to_be_visible()
    bob.context.set_offline(True)
    expect(bob.get_by_text("You are offline")).to_be_visible()
    lock_in(ann, "Rock")
    lock_in(bob, "Scissors")
    expect(locked(bob)).to_be_visible()
    bob.wait_for_timeout(OFFLINE_SECONDS * 1000)
    expect(locked(ann)).to_be_visible()
    bob.context.set_offline(False)

    for page in (ann, bob):
        expect(lock_button(page)).to_be_visible()
    # A streak earns a potion, and whoever is hurt may drink it.
    drink = ann.get_by_role("button", name="Drink a potion")
    for n in range(MOST_MOVEMENTS):
        if drink.get_attribute("aria-disabled") == "false":
            break
        play_movement(*((bob, ann) if n % 4 == 3 else (ann, bob)))
    drink.click()
    expect(log(ann)).to_contain_text("You drink a potion: +2 health.")
    expect(log(bob)).to_contain_text("drinks a potion: +2 health.")

    for _ in range(MOST_MOVEMENTS):
        play_movement(ann, bob)
        if end(ann).is_visible():
            break
    expect(ann.get_by_role("heading", name="You win!")).to_be_visible()
    expect(bob.get_by_role("heading", name="You lose")).to_be_visible()
    faults = {"the end": serious_faults(ann), "the end, narrow": serious_faults(bob)}
    ann.get_by_role("link", name="Watch the replay").click()
    expect(ann.get_by_text("All is as it must be")).to_be_visible()
    faults["a replay"] = serious_faults(ann)
    replay = ann.url
    ann.go_back()

    ann.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ann.get_by_role("button", name="Share").click()
    expect(ann.get_by_role("button", name="Link copied")).to_be_visible()
    assert ann.evaluate("navigator.clipboard.readText()") == replay

    bob.get_by_role("button", name="Rematch").click()
    ann.get_by_role("button", name="Accept the rematch").click()
    for page in (ann, bob):
        expect(lock_button(page)).to_be_visible()
    ann.get_by_role("button", name="Resign").click()
    ann.get_by_role("dialog").get_by_role("button", name="Give up").click()
    expect(ann.get_by_text("You gave the match up.")).to_be_visible()
    expect(bob.get_by_role("heading", name="You win!")).to_be_visible()

    # Each has won a pot of 40, less a fee of 1. The vault holds what Ann has paid in ETH, and can
    # pay no more.
    ann.goto("/credits")
    expect(balance(ann)).to_have_text("99")
    ann.get_by_label("Credits to take out").fill("98")
    ann.get_by_role("button", name="Ask for a voucher").click()
    ann.get_by_role("button", name="Redeem 98 credits").click()
    expect(ann.get_by_text("paid out")).to_be_visible()
    expect(balance(ann)).to_have_text("1")
    faults["credits with something in them"] = serious_faults(ann)
    bob.goto("/leaderboard")
    expect(bob.get_by_role("row").nth(2)).to_be_visible()
    faults["a leaderboard"] = serious_faults(bob)
    assert bob.evaluate("document.documentElement.scrollWidth") == NARROW
    assert not any(faults.values()), faults
