"""Each alert fires when its cause is made, and stops after; the dashboard shows what there is."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
import yaml
from django.db import connection
from django.test import Client, override_settings
from django.utils import timezone

from bas_site.audit import run_audit
from bas_site.devstack.ports import free_port
from contracts.models import Chain, Withdrawal
from contracts.tasks import note_holdings
from contracts.withdrawals import approve_withdrawal, cancel_withdrawal
from matches.models import Heartbeat
from matches.tasks import sweep_matches
from tests.contracts.conftest import proxy, world  # noqa: F401
from tests.contracts.rpc_proxy import RpcProxy, http_status
from tests.contracts.withdraw_world import House, new_house, operator
from tests.contracts.world import CONFIRMATIONS, World
from tests.matches.helpers import Table, player
from tests.ops.promql import Scrape, fires, names_in
from tests.site.test_audit import by_force
from wallets.models import AuditRun, Service, Wallet
from wallets.services import pause_service

pytestmark = pytest.mark.django_db(transaction=True)

OPS = Path(__file__).parents[2] / "docs" / "ops"
RULES = {
    rule["alert"]: rule["expr"]
    for group in yaml.safe_load((OPS / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
}
MATCHES, JSON = "/api/v1/matches", "application/json"
DASHBOARD = json.loads((OPS / "dashboard.json").read_text())


class Running:
    """The whole of it, as far as the alerts look."""

    def __init__(self, house: House, node: RpcProxy, settings: Any) -> None:
        self.settings = settings
        self.house, self.world, self.node = house, house.world, node
        self.player = self.world.players[0]
        self.is_scraped = True
        self.house.fund(self.player, 5_000)
        self.all_goes_on()

    def all_goes_on(self) -> None:
        """What the workers do all the time."""
        self.world.mine(1)
        self.world.scan()
        note_holdings()
        sweep_matches()
        run_audit()

    def scrape(self) -> Scrape:
        """What Prometheus gets of the server, if it knows of one."""
        if not self.is_scraped:
            return Scrape("")
        answer = Client(raise_request_exception=False).get("/metrics")
        up = answer.status_code == 200
        text = answer.content.decode() if up else ""
        return Scrape(f'{text}\nup{{job="bas"}} {int(up)}\n')


@pytest.fixture
def running(world: World, proxy: RpcProxy, settings: Any) -> Running:  # noqa: F811
    return Running(new_house(world), proxy, settings)


def _later(**passed: float) -> Any:
    return time_machine.travel(timezone.now() + timedelta(**passed))


@contextmanager
def nobody_works(running: Running) -> Iterator[None]:
    with _later(hours=4):
        yield
    # The workers are back, by the clock of before: nothing is overdue.
    running.all_goes_on()


@contextmanager
def nobody_has_ever_worked(running: Running) -> Iterator[None]:
    AuditRun.objects.all().delete()
    Heartbeat.objects.all().delete()
    Chain.objects.update(scanned_at=None)
    yield
    running.all_goes_on()


@contextmanager
def a_balance_is_bent(running: Running) -> Iterator[None]:
    bend = "UPDATE wallets_account SET balance = balance + %s WHERE kind = 'available'"
    for credits_ in (1, -1):
        with by_force() as cursor:
            cursor.execute(bend, [credits_])
        run_audit()
        if credits_ == 1:
            yield


@contextmanager
def the_vault_is_emptied(running: Running) -> Iterator[None]:
    vault = running.world.vault.address
    held = running.world.node.eth.get_balance(vault)
    running.world.chain_node.set_balance(vault, 0)
    note_holdings()
    yield
    running.world.chain_node.set_balance(vault, held)
    note_holdings()


@contextmanager
def no_node_answers_the_audit(running: Running) -> Iterator[None]:
    running.node.always("eth_getBalance", http_status(502))
    run_audit()
    yield
    running.node.heal()
    run_audit()


@contextmanager
def the_signer_is_gone(running: Running) -> Iterator[None]:
    withdrawal = running.house.ask(running.player, 5)
    with _later(minutes=11):
        yield
    assert running.house.sign(withdrawal)


@contextmanager
def no_operator_looks(running: Running) -> Iterator[None]:
    withdrawal = running.house.ask(running.player, 2_000)
    with _later(hours=5):
        yield
    cancel_withdrawal(wallet=withdrawal.wallet, withdrawal_id=withdrawal.pk)


@contextmanager
def the_node_fails(running: Running) -> Iterator[None]:
    running.node.always("eth_getLogs", http_status(502))
    for _ in range(6):
        running.world.mine(1)
        running.world.failing_scan()
    yield
    running.node.heal()
    running.world.scan()


@contextmanager
def the_chain_runs_ahead(running: Running) -> Iterator[None]:
    running.world.chain_node.rpc("evm_increaseTime", 700)
    running.world.mine(2)
    running.node.once("eth_getLogs", http_status(429))
    running.world.failing_scan()
    yield
    running.world.scan()


@contextmanager
def more_blocks_fall_out_than_make_a_deposit_count(running: Running) -> Iterator[None]:
    with running.world.undone():
        for _ in range(CONFIRMATIONS):
            running.world.mine(1)
            running.world.scan()
    running.world.mine(CONFIRMATIONS + 1)
    running.world.scan()
    yield
    Chain.objects.update(confirmations=CONFIRMATIONS + 1)


@contextmanager
def a_deposit_is_never_confirmed(running: Running) -> Iterator[None]:
    running.world.deposit(running.player)
    running.world.scan()
    with _later(hours=2):
        yield
    running.world.confirm()
    running.world.scan()


@contextmanager
def deadlines_pass(running: Running) -> Iterator[None]:
    Table()
    with _later(seconds=90):
        yield
        sweep_matches()


@contextmanager
def a_table_is_missing(running: Running) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE contracts_vault RENAME TO gone")
        try:
            answer = Client(raise_request_exception=False).get("/api/v1/chain")
        finally:
            cursor.execute("ALTER TABLE gone RENAME TO contracts_vault")
    assert answer.status_code == 500
    yield


@contextmanager
def the_database_refuses(running: Running) -> Iterator[None]:
    browser, stake = Client(), {"stake": 1, "visibility": "open"}
    browser.force_login(player())
    with connection.cursor() as cursor:
        cursor.execute("""
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE 'no' USING ERRCODE = 'lock_not_available'; END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON matches_match
            EXECUTE FUNCTION refuse()
        """)
        try:
            answers = [browser.post(MATCHES, stake, JSON).status_code for _ in range(6)]
        finally:
            cursor.execute("DROP FUNCTION refuse CASCADE")
    assert answers == [503] * 6
    yield


@contextmanager
def nobody_listens_where_the_database_was(_running: Running) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as elsewhere:
        connection.close()
        elsewhere.setitem(connection.settings_dict, "PORT", str(free_port()))
        yield
    connection.close()


@contextmanager
def the_server_takes_prometheus_for_a_stranger(_running: Running) -> Iterator[None]:
    with override_settings(ALLOWED_HOSTS=["play.example.org"]):
        yield


@contextmanager
def prometheus_knows_no_server(running: Running) -> Iterator[None]:
    running.is_scraped = False
    yield
    running.is_scraped = True


Cause = Callable[[Running], AbstractContextManager[None]]
CAUSES: dict[str, tuple[Cause, ...]] = {
    "AuditRed": (a_balance_is_bent,),
    "AuditOverdue": (nobody_works, nobody_has_ever_worked),
    "AuditUnseen": (no_node_answers_the_audit,),
    "VaultShort": (the_vault_is_emptied,),
    "WithdrawalsNotSigned": (the_signer_is_gone,),
    "WithdrawalsNotApproved": (no_operator_looks,),
    "ChainNotScanned": (nobody_works, nobody_has_ever_worked),
    "ChainInTrouble": (the_node_fails,),
    "ChainBehind": (the_chain_runs_ahead,),
    "ChainStandsStill": (nobody_works,),
    "DeepReorg": (more_blocks_fall_out_than_make_a_deposit_count,),
    "DepositsWaiting": (a_deposit_is_never_confirmed,),
    "NodeFailing": (the_node_fails,),
    "DeadlinesNotApplied": (deadlines_pass,),
    "SweepSilent": (nobody_works, nobody_has_ever_worked),
    "ServerErrors": (a_table_is_missing,),
    "DatabaseUnavailable": (the_database_refuses,),
    "DatabaseDown": (nobody_listens_where_the_database_was,),
    "ServerSilent": (the_server_takes_prometheus_for_a_stranger, prometheus_knows_no_server),
}


@pytest.mark.parametrize(
    ("alert", "cause"), [(alert, cause) for alert, causes in CAUSES.items() for cause in causes]
)
def test_an_alert_fires_when_its_cause_is_made_and_stops_after(
    running: Running, alert: str, cause: Cause
):
    before = running.scrape()
    assert not fires(RULES[alert], before, before)
    with cause(running):
        during = running.scrape()
        assert fires(RULES[alert], during, before)
    assert not fires(RULES[alert], running.scrape(), during)


# --- What operators do themselves is no news to them ------------------------------------------
CHAIN_ALERTS = [
    "ChainNotScanned",
    "ChainInTrouble",
    "ChainBehind",
    "ChainStandsStill",
    "DepositsWaiting",
    "NodeFailing",
]


def pages(running: Running, alert: str) -> bool:
    now = running.scrape()
    return fires(RULES[alert], now, now)


def freeze(_running: Running, withdrawal: Withdrawal) -> None:
    Wallet.objects.filter(pk=withdrawal.wallet_id).update(is_active=False)


def lower_the_limit(running: Running, _withdrawal: Withdrawal) -> None:
    running.settings.WITHDRAWAL_WALLET_DAILY_CREDITS = 1


def pause_withdrawals(_running: Running, _withdrawal: Withdrawal) -> None:
    pause_service(
        operator=operator("pause_service"), name=Service.Name.WITHDRAWALS, reason="a key is changed"
    )


def pause_the_chain(running: Running, _withdrawal: Withdrawal) -> None:
    Chain.objects.update(paused=True)


@pytest.mark.parametrize("do", [freeze, lower_the_limit, pause_withdrawals, pause_the_chain])
def test_what_operators_hold_up_pages_nobody_and_hides_no_signer_that_is_gone(
    running: Running, do: Callable[[Running, Withdrawal], None]
):
    withdrawal = running.house.ask(running.player, 5)
    do(running, withdrawal)
    with _later(hours=5):
        assert pages(running, "WithdrawalsNotSigned")
        assert not running.house.sign(withdrawal)
        assert not pages(running, "WithdrawalsNotSigned")
        assert not pages(running, "WithdrawalsNotApproved")
    with _later(hours=6):
        assert pages(running, "WithdrawalsNotSigned")


def test_a_withdrawal_has_waited_for_the_signer_since_it_was_approved(running: Running):
    withdrawal = running.house.ask(running.player, 2_000)
    with _later(hours=1):
        approve_withdrawal(operator=operator("decide_withdrawal"), withdrawal_id=withdrawal.pk)
        assert not pages(running, "WithdrawalsNotSigned")
    with _later(hours=1, minutes=11):
        assert pages(running, "WithdrawalsNotSigned")


def test_what_the_signer_leaves_to_an_operator_waits_for_an_operator(
    running: Running,
):
    withdrawal = running.house.ask(running.player, 5)
    running.settings.WITHDRAWAL_APPROVAL_CREDITS = 4
    assert not running.house.sign(withdrawal)
    with _later(hours=5):
        assert pages(running, "WithdrawalsNotApproved")
        assert not pages(running, "WithdrawalsNotSigned")
        approve_withdrawal(operator=operator("decide_withdrawal"), withdrawal_id=withdrawal.pk)
        assert not pages(running, "WithdrawalsNotApproved")
        assert not pages(running, "WithdrawalsNotSigned")
    with _later(hours=5, minutes=11):
        assert pages(running, "WithdrawalsNotSigned")


def test_a_chain_that_operators_paused_pages_nobody(running: Running):
    running.world.deposit(running.player)
    running.world.scan()
    with the_node_fails(running), _later(hours=5):
        assert [alert for alert in CHAIN_ALERTS if not pages(running, alert)] == ["ChainBehind"]
        Chain.objects.update(paused=True)
        assert [alert for alert in CHAIN_ALERTS if pages(running, alert)] == []
        Chain.objects.update(paused=False)


def test_a_block_that_falls_out_of_many_that_were_read_at_once_is_no_deep_reorganisation(
    running: Running,
):
    running.world.mine(10)
    with running.world.undone():
        running.world.mine(1)
        running.world.scan()
    running.world.mine(2)
    running.world.scan()
    assert (running.world.chain.reorgs, running.world.chain.deepest_reorg) == (1, 1)
    assert not pages(running, "DeepReorg")


@pytest.fixture
def told(running: Running) -> set[str]:
    """The names of all metrics; an error that never happened has none, so one of each happens."""
    with the_node_fails(running):
        Client().get("/api/v1/auth/me")
        return {name for name in running.scrape().names() if not name.endswith("_created")}


def test_alerts_and_dashboard_ask_for_metrics_that_there_are(told: set[str]):
    asked = set().union(*map(names_in, RULES.values()))
    for panel in DASHBOARD["panels"]:
        asked |= set().union(*(names_in(target["expr"]) for target in panel.get("targets", ())))
    assert asked - told == set()


def test_every_metric_is_in_an_alert_or_on_the_dashboard(told: set[str]):
    shown = str(RULES) + str(DASHBOARD)
    # Of a histogram the buckets are shown; count and sum are there for whoever wants an average.
    families = {name: re.sub(r"_(count|sum)$", "_bucket", name) for name in told}
    hidden = {name for name in told if name not in shown and families[name] not in shown}
    assert hidden == set()


def test_every_alert_has_a_cause():
    assert RULES.keys() == CAUSES.keys()
