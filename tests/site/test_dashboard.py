"""The console's first page: is it healthy, is anyone losing money, and how has it been?"""

import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
import time_machine
from django.contrib.auth.models import Permission
from django.utils import timezone

from bas_site import figures
from contracts.models import Block, Chain, Deposit, Redemption, Token, Withdrawal
from contracts.selectors import credits_owed
from matches.models import Heartbeat
from tests.site.admin_world import World, an_operator
from wallets.models import AuditRun, Service, Snapshot

pytestmark = pytest.mark.django_db
LONG_AGO = timezone.now() - timedelta(days=2)
CONCERN = re.compile(r'<a class="(danger|warning)" href="(/admin/[^"]+)">(.*?)</a>', re.DOTALL)


@pytest.fixture
def world(settings) -> World:
    """A world in which all is well."""
    settings.CHAIN_STILL_SECONDS = 1_800
    world = World()
    strange = Redemption.objects.exclude(trouble="")
    strange.update(explanation="a test of ours", explained_by=world.superuser)
    Token.objects.update(held=10**24, held_at=timezone.now())
    return world


def first_page(client, world) -> str:
    client.force_login(world.superuser)
    return unescape(client.get("/admin/").content.decode())


def test_all_is_well_when_nothing_is_wrong(client, world):
    html = first_page(client, world)
    assert "All is well" in html
    assert CONCERN.findall(html) == []


def red_audit(world):
    AuditRun.objects.create(
        started_at=timezone.now(), finished_at=timezone.now(), whole=False, broken=2, findings=[]
    )


def waiting(status, hold=""):
    def make(world):
        old = Withdrawal.objects.filter(pk=world.withdrawal.pk)
        old.update(status=status, hold=hold, requested_at=LONG_AGO)

    return make


def a_pause(world):
    Service.objects.filter(pk="matches").update(
        pause_reason="stormy", changed_by=world.superuser, changed_at=timezone.now()
    )


def late_deposit(world):
    deposit = Deposit.objects.filter(pk=world.deposit.pk)
    deposit.update(status="pending", transfer=None, seen_at=LONG_AGO)


def one_chain(**fields):
    return lambda world: Chain.objects.filter(pk=world.chain.pk).update(**fields)


def far_behind(world):
    chain = world.chain
    Block.objects.create(
        chain=chain, number=chain.scanned_block, hash=chain.scanned_hash, timestamp=LONG_AGO
    )
    Chain.objects.filter(pk=chain.pk).update(head_timestamp=timezone.now())


# What happens, what the page says, and whether somebody may be losing credits.
CAUSES = {
    "a red audit": (red_audit, "The audit is red: 2 checks failed.", True),
    "no audit for long": (
        lambda world: AuditRun.objects.update(finished_at=LONG_AGO),
        "The last audit was 2",
        False,
    ),
    "no audit": (
        lambda world: AuditRun.objects.all().delete(),
        "The books have never been audited.",
        False,
    ),
    "too little in the vaults": (
        lambda world: Token.objects.update(held=10**15),
        "credits' worth; ",
        True,
    ),
    "a strange redemption": (
        lambda world: Redemption.objects.update(explanation="", explained_by=None),
        "1 redemptions that the books know no reason for.",
        True,
    ),
    "a chain in trouble": (one_chain(trouble="no <node> answers"), "no <node> answers", False),
    "a paused chain": (one_chain(paused=True), "is paused.", False),
    "no scan": (one_chain(scanned_at=LONG_AGO), "is there a worker?", False),
    "never a scan": (one_chain(scanned_at=None), "has never been looked at", False),
    "a scan far behind": (far_behind, "is read up to 2", False),
    "no new block": (one_chain(head_timestamp=LONG_AGO), "newest block of testchain", False),
    "a deposit that waits": (late_deposit, "A deposit has been waiting for 2", False),
    "nobody approves": (waiting("requested", "approval"), "for an operator", False),
    "nobody looks into it": (waiting("approved", "operator"), "for an operator", False),
    "nobody signs": (waiting("approved"), "for the signer", False),
    "no sweep": (
        lambda world: Heartbeat.objects.update(beat_at=LONG_AGO),
        "Nobody has looked after the matches' deadlines",
        False,
    ),
    "a pause": (a_pause, "New matches are paused by", False),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_what_is_wrong_is_said_with_a_link_to_it(client, world, cause):
    happen, words, danger = CAUSES[cause]
    happen(world)
    ((kind, url, said),) = CONCERN.findall(first_page(client, world))
    assert words in said
    assert kind == ("danger" if danger else "warning")
    assert ("Credits may be lost" in said) == danger
    assert client.get(url).status_code == 200


def test_the_worst_is_said_first(client, world):
    CAUSES["no sweep"][0](world)
    CAUSES["a red audit"][0](world)
    kinds = [kind for kind, _, _ in CONCERN.findall(first_page(client, world))]
    assert kinds == ["danger", "warning"]


def test_an_operator_is_told_of_what_may_be_seen(client, world):
    CAUSES["a red audit"][0](world)
    CAUSES["no sweep"][0](world)
    operator = an_operator()
    seen = Permission.objects.filter(codename__in=["view_heartbeat", "view_match"])
    operator.user_permissions.set(seen)
    client.force_login(operator)
    html = client.get("/admin/").content.decode()
    assert "deadlines" in html
    for hidden in ("audit is red", "Credits owed", "Fees"):
        assert hidden not in html


# --- How it has been --------------------------------------------------------------------------
def test_figures_are_noted_once_in_a_period_and_forgotten_when_old(world, settings):
    settings.FIGURES_SECONDS = 300
    Snapshot.objects.create(at=timezone.now() - timedelta(days=91), figures={})
    with time_machine.travel(datetime(2027, 1, 1, 10, 4, 59, tzinfo=UTC)):
        first = figures.note_figures()
        assert figures.note_figures() == first
    assert first.at == datetime(2027, 1, 1, 10, tzinfo=UTC)
    assert Snapshot.objects.get() == first
    assert first.figures["owed"] == credits_owed() > 0
    assert first.figures["in_play"] == 2_000
    assert first.figures.keys() == figures.FIGURES.keys()


def test_charts_show_the_last_of_each_hour_and_what_each_day_added(client, world):
    noon = timezone.now().replace(hour=12, minute=0, second=0)
    for days, minute, fees in ((3, 0, 5), (2, 0, 7), (2, 20, 8), (1, 0, 20)):
        at = noon - timedelta(days=days) + timedelta(minutes=minute)
        Snapshot.objects.create(at=at, figures={"fees": fees, "owed": 10 * fees, "held": 300})
    Snapshot.objects.create(at=noon - timedelta(days=30), figures={"fees": 1, "owed": 1})
    html = first_page(client, world)
    charts = [json.loads(data) for data in re.findall(r'data-value="(\{.*?\})"', html, re.DOTALL)]
    owed_and_held, _, fees, _ = charts
    assert owed_and_held["datasets"][0]["data"] == [50, 80, 200]
    assert owed_and_held["datasets"][1]["data"] == [300, 300, 300]
    assert fees["datasets"][0]["data"] == [3, 12]
    assert len(fees["labels"]) == 2


def test_there_are_no_charts_before_there_is_anything_to_draw(client, world):
    assert "<canvas" not in first_page(client, world)
