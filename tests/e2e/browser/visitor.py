"""A person with a browser, and what they do in it."""

import re
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, expect

from bas_site.devstack.service import PROJECT

AXE = (PROJECT / "node_modules" / "axe-core" / "axe.min.js").read_text()
SERIOUS = ("serious", "critical")
PATIENCE_SECONDS = 60
KEYS = {"Rock": "1", "Paper": "2", "Scissors": "3", "Wild": "4", "Alpha": "5"}
# What Chromium says when the test itself takes the connection away.
OFFLINE = re.compile("ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED")
# What has moved, and how far (https://web.dev/articles/cls); what was touched counts as well.
SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    window.shifts.push({
      value: entry.value,
      moved: entry.sources.map((s) => s.node?.className || s.node?.textContent || "?"),
    });
}).observe({ type: "layout-shift", buffered: true });
"""
# What fades in is judged when it is there: half-way, any text is too pale.
AT_REST = """
Promise.allSettled(document.getAnimations()
  .filter((animation) => animation.effect.getComputedTiming().endTime < Infinity)
  .map((animation) => animation.finished))
"""
# Below this nobody sees anything move.
UNSEEN_SHIFT = 0.001
expect.set_options(timeout=PATIENCE_SECONDS * 1000)


class Visitor:
    """A browser context with one page, and what went wrong in it."""

    def __init__(self, browser: Browser, url: str, *, width: int, script: str = "") -> None:
        self.url = url
        self.complaints: list[str] = []
        self.context = browser.new_context(
            base_url=url, viewport={"width": width, "height": 800}, locale="en-GB"
        )
        self.context.set_default_timeout(PATIENCE_SECONDS * 1000)
        self.context.add_init_script(SHIFTS + script)
        self.page = self.context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(f"thrown: {error}"))
        self.page.on("request", self._see)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not OFFLINE.search(message.text):
            self.complaints.append(f"console: {message.text}")

    def _see(self, request: Request) -> None:
        if not request.url.startswith((f"{self.url}/", "data:", "blob:")):
            self.complaints.append(f"another origin: {request.url}")


def sign_in(page: Page, account: int) -> None:
    """Connect the dev wallet with one of the local chain's accounts."""
    page.get_by_role("banner").get_by_role("button", name="Connect wallet").click()
    page.get_by_role("button", name="Dev wallet").click()
    which = page.get_by_role("dialog", name="Which dev account?")
    which.locator(".choice").nth(account).click()
    expect(page.get_by_role("link", name=re.compile("credits available"))).to_be_visible()


def send_deposit(page: Page, credits: int, *, coin: str = "ETH") -> None:
    """Buy credits; they have not come when this returns."""
    page.goto("/credits")
    page.get_by_label("Pay with").select_option(label=coin)
    page.get_by_label("Credits to buy").fill(str(credits))
    page.get_by_role("button", name="Deposit", exact=True).click()


def see_it_credited(page: Page, credits: int) -> None:
    """Wait until each step of the deposit is done."""
    steps = page.get_by_role("list", name="Progress").get_by_role("listitem")
    expect(steps.last).to_have_text(re.compile(f"{credits} credits credited"))
    for step in steps.all():
        expect(step).to_have_class("done")


def balance(page: Page) -> Locator:
    """The credits in the header."""
    return page.get_by_role("banner").locator(".balance b")


def practise(page: Page) -> None:
    """Begin a match against a house ape."""
    page.goto("/lobby")
    page.get_by_role("button", name="Play drifter").click()
    expect(lock_button(page)).to_be_visible()


def lock_button(page: Page) -> Locator:
    """What locks the choice in; not there while a choice is locked in."""
    return page.get_by_role("button", name="Lock in", exact=True)


def locked(page: Page) -> Locator:
    """The same button once a choice is locked in."""
    return page.get_by_role("button", name="Locked in", exact=True)


def lock_in(page: Page, move: str) -> None:
    """Choose a move and lock it in, by the keyboard alone."""
    expect(lock_button(page)).to_be_visible()
    page.keyboard.press(KEYS[move])
    chosen = page.get_by_role("button", name=move, exact=True)
    expect(chosen).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("l")


def seen_shifts(page: Page) -> list[dict[str, Any]]:
    """What has visibly moved since the page was loaded, or its counter was set back."""
    return [shift for shift in page.evaluate("shifts") if shift["value"] > UNSEEN_SHIFT]


def serious_faults(page: Page) -> list[tuple[str, str]]:
    """What axe-core finds that would keep somebody out: the rule, and the first place."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    page.evaluate(AT_REST)
    found: dict[str, Any] = page.evaluate("axe.run({ resultTypes: ['violations'] })")
    return [
        (fault["id"], fault["nodes"][0]["html"])
        for fault in found["violations"]
        if fault["impact"] in SERIOUS
    ]
