"""Every page, wide and narrow: for those who listen, and for those who have little room."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.browser.visitor import practise, serious_faults, sign_in

pytestmark = pytest.mark.xdist_group("stack")

NARROW, WIDE = 360, 1280
PATHS = ("/", "/lobby", "/credits", "/leaderboard", "/rules", "/verify")


def go(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_axe_finds_nothing_serious_and_nothing_is_wider_than_the_screen(
    visit: Callable[..., Page],
) -> None:
    page = visit(width=NARROW)
    found = {}

    def look(place: str, *widths: int) -> None:
        for width in widths:
            page.set_viewport_size({"width": width, "height": 800})
            faults = serious_faults(page)
            if page.evaluate("document.documentElement.scrollWidth") > width:
                faults.append(("wider than the screen", place))
            found[place, width] = faults

    for path in PATHS:
        go(page, path)
        look(f"{path} signed out", NARROW)
    page.get_by_role("banner").get_by_role("button", name="Connect wallet").click()
    look("choosing a wallet", NARROW, WIDE)
    page.keyboard.press("Escape")
    sign_in(page, 4)
    for path in PATHS:
        go(page, path)
        look(path, NARROW, WIDE)
    practise(page)
    look("a battle", NARROW, WIDE)
    go(page, f"/player/{page.locator('html').get_attribute('data-player')}")
    look("a profile", NARROW, WIDE)
    assert {place: faults for place, faults in found.items() if faults} == {}


def test_a_chain_that_is_read_late_is_said_on_every_page(visit: Callable[..., Page]) -> None:
    def late(route: Route) -> None:
        answer = route.fetch()
        chain = answer.json()
        chain["head_block"] = chain["scanned_block"] + 1_000
        route.fulfill(response=answer, json=chain)

    page = visit()
    status = page.get_by_role("status", name="Service status")
    expect(status).to_be_hidden()
    page.route("**/api/v1/chain", late)
    page.reload()
    expect(status).to_contain_text("1,000 blocks behind")
