"""An operator stops a running match: both stakes back, and both are told why."""

from functools import partial

import pytest
from django.contrib.auth.models import Permission

from engine.verify import verify
from matches import battle, lobby
from matches.audit import CHECKS
from matches.errors import NotRunning
from matches.models import Match
from matches.transcript import transcript
from tests.matches.helpers import (
    PAPER,
    ROCK,
    Table,
    at_once,
    available,
    escrow_of,
    player,
    sum_over_all_accounts,
)
from tests.matches.test_api_errors import problem
from wallets.audit import BEGINNING
from wallets.errors import Forbidden, NotFound
from wallets.models import Transfer, Wallet

API = "/api/v1/matches"
REASON = "Der Server fiel aus. Très fâcheux 🐒"


def operator(*, permitted=True, **fields):
    wallet = Wallet.objects.create(username=f"op{Wallet.objects.count()}", is_staff=True, **fields)
    if permitted:
        wallet.user_permissions.add(Permission.objects.get(codename="void_match"))
    return wallet


def void(table, by=None, reason=REASON):
    battle.void(operator=by or operator(), match_id=table.id, reason=reason)


@pytest.mark.django_db
def test_both_get_their_stakes_back_whole_and_are_told_the_reason(client_of, table):
    table.movement(PAPER, ROCK)
    table.play("a", ROCK)
    void(table, reason=f"  {REASON}\n")
    match = table.now()
    assert (match.status, match.ended_by, match.winner) == ("cancelled", "voided", "")
    assert [available(wallet) for wallet in table.wallets.values()] == [1_000, 1_000]
    assert escrow_of(match) == sum_over_all_accounts() == 0
    for wallet in table.wallets.values():
        body = client_of(wallet).get(f"{API}/{table.id}").json()
        assert (body["void_reason"], body["ended_by"]) == (REASON, "voided")
        assert body["play"]["legal_choices"] == []
        assert body["play"]["deadline"] is None


@pytest.mark.django_db
def test_its_transcript_verifies_and_tells_the_reason(table):
    table.movement(PAPER, ROCK)
    table.play("a", ROCK)
    void(table)
    document = transcript(table.now())
    assert verify(document).result["ended_by"] == "voided"
    assert document["events"][-1]["reason"] == REASON


@pytest.mark.django_db
def test_nothing_can_be_done_in_it_any_more(client_of, table):
    void(table)
    client = client_of(table.wallets["a"])
    for call, body in (
        ("moves", {"movement": 1, "move": "rock"}),
        ("potions", None),
        ("resign", None),
    ):
        problem(client.post(f"{API}/{table.id}/{call}", body), 409, "match_not_running")
    assert not battle.catch_up(match_id=table.id)
    with pytest.raises(NotRunning):
        void(table)


@pytest.mark.django_db
def test_only_an_operator_with_the_permission_may(table):
    player_with_it = player()
    player_with_it.user_permissions.add(Permission.objects.get(codename="void_match"))
    type(player_with_it).objects.filter(pk=player_with_it.pk).update(is_active=False)
    frozen = Wallet.objects.get(pk=player_with_it.pk)
    for wallet in (
        operator(permitted=False),
        table.wallets["a"],
        frozen,
        operator(is_active=False),
    ):
        with pytest.raises(Forbidden):
            void(table, by=wallet)
    assert table.now().status == "running"
    void(table, by=operator(permitted=False, is_superuser=True))


@pytest.mark.django_db
@pytest.mark.parametrize("reason", ["", " \n", "x" * 301, "\ud800", "a\0b"])
def test_a_reason_that_can_not_be_shown_is_refused(table, reason):
    with pytest.raises(ValueError, match="reason"):
        void(table, reason=reason)
    assert table.now().status == "running"


@pytest.mark.django_db
def test_only_running_matches_can_be_voided(table):
    opened = lobby.create_match(wallet=player(), stake=1, visibility="open")
    table.resign("a")
    for match in (opened, table.match):
        with pytest.raises(NotRunning):
            battle.void(operator=operator(), match_id=match.pk, reason=REASON)
    with pytest.raises(NotFound):
        battle.void(
            operator=operator(), match_id="00000000-0000-4000-8000-000000000000", reason="x"
        )


@pytest.mark.django_db(transaction=True)
def test_voiding_against_resigning_and_the_last_reveal_settles_once():
    by = operator()
    for _ in range(3):
        table = Table()
        table.almost_won_by("a")
        table.play("a", PAPER)
        at_once(
            partial(void, table, by),
            partial(table.play, "b", ROCK, 5),
            partial(table.resign, "b"),
        )
        match = table.now()
        assert match.status in ("cancelled", "won")
        assert (match.status == "cancelled") == (match.ended_by == "voided")
        assert Transfer.objects.filter(key=f"release:{match.pk}").count() == 1
        assert escrow_of(match) == sum_over_all_accounts() == 0


def off():
    """What the matches' part of the audit finds."""
    return [row for check in CHECKS for row in check.find(BEGINNING)]


@pytest.mark.django_db(transaction=True)
def test_the_audit_is_green_with_voided_and_expired_matches(settings):
    void(Table())
    waiting = lobby.create_match(wallet=player(), stake=7, visibility="open")
    settings.MATCH_OPEN_SECONDS = 0
    assert lobby.expire_match(match_id=waiting.pk)
    assert not off()
    Match.objects.filter(ended_by="voided").update(stake=99)
    assert off()
