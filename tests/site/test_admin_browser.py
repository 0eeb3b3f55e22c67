"""Each action of the console as each role, in a browser: done if the role may, or else refused."""

import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect, sync_playwright

from bas_site import tasks
from bas_site.roles import ROLES, ensure_roles
from tests.e2e.browser.conftest import FLAGS, REQUIRED, chromium
from tests.site.admin_world import (
    World,
    a_player,
    a_redemption,
    a_running_match,
    a_withdrawal,
    an_operator,
    hold_credits,
)
from tests.site.console_actions import ACTIONS, page, url
from wallets import ledger
from wallets.models import Adjustment, Service, Wallet

LIST = reverse("admin:wallets_adjustment_changelist")
ADD = reverse("admin:wallets_adjustment_add")


class InBrowser:
    """Chromium, driven from a thread of its own: in a thread with its event loop Django won't work.

    Pages come without scripts and styles: what the console does must not hang on them.
    """

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1)
        self.run(self._start)

    def run(self, do: Callable[..., Any], *arguments: Any) -> Any:
        return self.thread.submit(do, *arguments).result()

    def _start(self) -> None:
        self.playwright = sync_playwright().start()
        path = chromium(self.playwright.chromium.executable_path)
        if path is None:
            self.playwright.stop()
            (pytest.fail if os.environ.get(REQUIRED) else pytest.skip)("There is no browser.")
        self.browser = self.playwright.chromium.launch(executable_path=path, args=FLAGS)

    def open(self, address: str, session: str) -> Page:
        context = self.browser.new_context(base_url=address, java_script_enabled=False)
        context.route(re.compile("/static/"), lambda route: route.abort())
        context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
        return context.new_page()

    def close(self) -> None:
        self.run(self.browser.close)
        self.run(self.playwright.stop)
        self.thread.shutdown()


@pytest.fixture
def browser() -> Iterator[InBrowser]:
    browser = InBrowser()
    yield browser
    browser.close()


def a_row(world: World, model: str) -> Model | None:
    """What to do it to; a new one where an action can be done once."""
    if model == "withdrawal":
        withdrawal = a_withdrawal(world.vault, world.player)
        hold_credits(withdrawal)
        return withdrawal
    make: dict[str, Any] = {
        "wallet": lambda: world.player,
        **dict.fromkeys(Service.Name, lambda: Service.objects.get(pk=model)),
        "chain": lambda: world.chain,
        "redemption": lambda: a_redemption(world.vault),
        "adjustment": lambda: Adjustment.objects.create(
            wallet=world.player, amount=5, reason="bonus", proposed_by=world.superuser
        ),
        "match": a_running_match,
        "auditrun": lambda: None,
    }
    return make[model]()


def logged_in(role: str) -> str:
    """The session of an operator of this role."""
    operator = an_operator()
    operator.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(operator)
    return client.cookies["sessionid"].value


def do(tab: Page, row: Model | None, action: str, said: dict[str, Any]) -> None:
    tab.goto(page(row))
    tab.locator(f'a[href="{url(row, action)}"]').first.click()
    for name, value in (said | {"reason": "because"}).items():
        tab.locator(f'[name="{name}"]').fill(str(value))
    tab.locator('form button[type="submit"]').last.click()
    expect(tab.get_by_text("done.")).to_be_visible()


def propose(tab: Page, to: Wallet) -> None:
    tab.goto(LIST)
    tab.locator(f'a[href^="{ADD}"]').first.click()
    for name, value in {"address": to.address, "amount": "25", "reason": "because"}.items():
        tab.locator(f'[name="{name}"]').fill(value)
    tab.locator('[name="_save"]').click()
    expect(tab.get_by_text("was added successfully")).to_be_visible()


def propose_not(tab: Page) -> None:
    tab.goto(LIST)
    expect(tab.locator(f'a[href^="{ADD}"]')).to_have_count(0)
    answer = tab.goto(ADD)
    assert answer is not None
    assert answer.status == 403


def approve_not_ones_own(tab: Page, row: Adjustment) -> None:
    tab.goto(page(row))
    tab.locator(f'a[href="{url(row, "approve")}"]').first.click()
    tab.locator('[name="reason"]').fill("because")
    tab.locator('form button[type="submit"]').last.click()
    expect(tab.get_by_text("A second operator has to approve it.")).to_be_visible()


def be_refused(tab: Page, row: Model | None, action: str) -> None:
    tab.goto(page(row))
    expect(tab.locator(f'a[href="{url(row, action)}"]')).to_have_count(0)
    answer = tab.goto(url(row, action))
    assert answer is not None
    assert answer.status == 403


def test_each_role_does_what_it_may_and_is_refused_the_rest(
    live_server: Any, browser: InBrowser, monkeypatch: pytest.MonkeyPatch
):
    handed: list[str] = []
    monkeypatch.setattr(tasks.run_audit, "delay", lambda: handed.append("audit"))
    world = World()
    ensure_roles()
    for role, granted in ROLES.items():
        tab = browser.run(browser.open, live_server.url, logged_in(role))
        for model, action, permission, said in ACTIONS:
            row = a_row(world, model)
            if permission in {name.partition(".")[2] for name in granted}:
                browser.run(do, tab, row, action, said)
            else:
                browser.run(be_refused, tab, row, action)
    assert handed == ["audit", "audit"]


def test_who_may_propose_an_adjustment_does_and_another_has_to_approve_it(
    live_server: Any, browser: InBrowser
):
    player = a_player(10)
    ensure_roles()
    for role, granted in ROLES.items():
        tab = browser.run(browser.open, live_server.url, logged_in(role))
        if "wallets.propose_adjustment" not in granted:
            browser.run(propose_not, tab)
            continue
        browser.run(propose, tab, player)
        proposed = Adjustment.objects.latest("id")
        assert (proposed.wallet, proposed.amount, proposed.status) == (player, 25, "proposed")
        if "wallets.decide_adjustment" in granted:
            browser.run(approve_not_ones_own, tab, proposed)
            another = browser.run(browser.open, live_server.url, logged_in(role))
            browser.run(do, another, proposed, "approve", {})
        else:
            browser.run(be_refused, tab, proposed, "approve")
    assert ledger.balance(ledger.player_account(player)) == 10 + 25 + 25
