"""`make screenshots`: each page, the console's too, into docs/pictures."""

import base64
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from bas_site.devstack.service import PROJECT
from bas_site.devstack.services import remove_root, throwaway_root
from bas_site.devstack.stack import OPERATOR, Stack
from tests.e2e.browser.conftest import FLAGS, chromium
from tests.e2e.browser.visitor import (
    Visitor,
    lock_button,
    locked,
    see_it_credited,
    send_deposit,
    sign_in,
)

PICTURES = PROJECT / "docs" / "pictures"
WIDTHS = (1280, 360)
HEIGHT = 800
QUALITY = 82
CONSOLE = {
    "console-dashboard": "",
    "console-fair-play": "fair-play/",
    "console-sessions": "sessions/",
    "console-services": "wallets/service/",
    "console-withdrawals": "contracts/withdrawal/",
    "console-second-factor": "second-factor/",
}
# A withdrawal that waits for an operator.
SETTINGS = {"WITHDRAWAL_APPROVAL_CREDITS": "50"}
# What Ann and Bob play: the opening, then a round that goes Ann's way, mostly.
MOVES = [
    ("Rock", "Scissors"),
    ("Paper", "Scissors"),
    ("Rock", "Scissors"),
    ("Alpha", "Rock"),
    ("Rock", "Wild"),
    ("Paper", "Rock"),
    ("Scissors", "Rock"),
]


def main() -> int:
    """Take all pictures of one story: two players meet, fight, one gives up; operators look on."""
    root = throwaway_root("screenshots")
    PICTURES.mkdir(exist_ok=True)
    with Stack(root, env=SETTINGS) as stack, sync_playwright() as playwright:
        path = chromium(playwright.chromium.executable_path)
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        _story(browser, stack.url)
        _console(browser, stack)
        browser.close()
    remove_root(root)
    return 0


def _story(browser: Browser, url: str) -> None:
    ann, bob, eve = (Visitor(browser, url, width=WIDTHS[0]).page for _ in range(3))
    ann.goto("/")
    _picture(ann, "home")
    ann.get_by_role("button", name="Play now").click()
    _picture(ann, "connect")
    ann.keyboard.press("Escape")
    for account, page in ((1, ann), (2, bob), (3, eve)):
        page.goto("/")
        sign_in(page, account)
        send_deposit(page, 120 + account)
    for account, page in ((1, ann), (2, bob), (3, eve)):
        see_it_credited(page, 120 + account)
    _picture(ann, "deposit")
    _wait_in_the_lobby(eve, stake=10)
    _wait_in_the_lobby(bob, stake=25)
    _picture(bob, "waiting")
    ann.goto("/lobby")
    _picture(ann, "lobby")
    ann.get_by_role("button", name="for 25 credits").click()
    for own, other in MOVES:
        _choose_and_lock(ann, own)
        expect(locked(ann)).to_be_visible()
        _choose_and_lock(bob, other)
        expect(lock_button(ann)).to_be_visible()
    # The choices lie open only for a moment.
    _picture(ann, "reveal", WIDTHS[:1])
    ann.get_by_role("button", name="Paper").click()
    expect(ann.get_by_text("Choose your move").first).to_be_visible()
    _picture(ann, "battle")
    bob.get_by_role("button", name="Resign").click()
    bob.get_by_role("button", name="Give up").click()
    expect(ann.get_by_role("heading", name="You win!")).to_be_visible()
    _picture(ann, "end")
    ann.get_by_role("link", name="Watch the replay").click()
    expect(ann.get_by_text("All is as it must be")).to_be_visible()
    ann.get_by_role("slider").fill("5")
    _picture(ann, "replay")
    _ask_for(eve, credits=60)
    expect(eve.get_by_text("waits for an operator")).to_be_visible()
    _ask_for(ann, credits=40)
    ann.get_by_role("button", name="Redeem 40 credits").click()
    expect(ann.get_by_text("paid out")).to_be_visible()
    _picture(ann, "credits")
    for name in ("leaderboard", "rules", "verify"):
        ann.goto(f"/{name}")
        _picture(ann, name)
    ann.goto(f"/player/{ann.locator('html').get_attribute('data-player')}")
    _picture(ann, "player")


def _wait_in_the_lobby(page: Page, *, stake: int) -> None:
    page.goto("/lobby")
    form = page.get_by_role("form", name="Quick match")
    form.get_by_label("Stake").fill(str(stake))
    form.get_by_role("button", name="Find a match").click()
    expect(page.get_by_role("textbox", name="Invitation link")).to_be_visible()


def _choose_and_lock(page: Page, move: str) -> None:
    expect(lock_button(page)).to_be_visible()
    page.get_by_role("button", name=move, exact=True).click()
    lock_button(page).click()


def _ask_for(page: Page, *, credits: int) -> None:
    page.goto("/credits")
    page.get_by_label("Credits to take out").fill(str(credits))
    page.get_by_role("button", name="Ask for a voucher").click()


def _console(browser: Browser, stack: Stack) -> None:
    """What operators see, with made-up history besides the story's."""
    stack.manage("audit")
    stack.manage("seed")
    page = Visitor(browser, stack.url, width=WIDTHS[0]).page
    page.goto("/admin/")
    page.get_by_label("Username").fill(OPERATOR)
    page.get_by_label("Password").fill(stack.operator_password)
    page.get_by_role("button", name="Log in").click()
    page.goto("/admin/wallets/service/withdrawals/pause/")
    page.get_by_label("Reason").fill("The signing key is being changed")
    page.get_by_role("button", name="Pause").click()
    for name, address in CONSOLE.items():
        page.goto(f"/admin/{address}")
        _whole(page, name)
    page.goto("/admin/fair-play/")
    page.locator("article h2 a").first.click()
    _whole(page, "console-player")
    page.goto(page.url.replace("change", "freeze"))
    _whole(page, "console-freeze")
    page.emulate_media(color_scheme="dark")
    page.goto("/admin/")
    _whole(page, "console-dark")


def _whole(page: Page, name: str) -> None:
    page.set_viewport_size({"width": WIDTHS[0], "height": HEIGHT})
    page.wait_for_load_state("networkidle")
    # Charts are drawn a moment later.
    page.wait_for_timeout(1_500)
    height = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": WIDTHS[0], "height": height})
    _write(page, name)


def _picture(page: Page, name: str, widths: tuple[int, ...] = WIDTHS) -> None:
    for width in widths:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        # What is asked for comes a moment later.
        page.wait_for_timeout(800)
        # All of the page is on the screen, up to where a page's empty room begins.
        content = page.locator("main > *").last.bounding_box()
        height = page.evaluate("document.documentElement.scrollHeight")
        if content and content["y"] + content["height"] > HEIGHT:
            page.set_viewport_size({"width": width, "height": height})
        page.evaluate("scrollTo(0, 0)")
        _write(page, f"{name}-{width}")
    page.set_viewport_size({"width": WIDTHS[0], "height": HEIGHT})


def _write(page: Page, name: str) -> None:
    chrome = page.context.new_cdp_session(page)
    form = {"format": "webp", "quality": QUALITY}
    picture = chrome.send("Page.captureScreenshot", form)
    target: Path = PICTURES / f"{name}.webp"
    target.write_bytes(base64.b64decode(picture["data"]))
    print(f"{target.relative_to(PROJECT)}: {target.stat().st_size // 1024} KB")


if __name__ == "__main__":
    sys.exit(main())
