"""A rematch: one player of a match that has ended offers it, the other accepts; nobody else can."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from matches import battle, lobby, tasks
from matches.errors import NotOpen, NotPlayed, StakeOutOfRange, TooManyMatches
from matches.models import Match
from tests.matches.helpers import (
    Table,
    at_once,
    available,
    count_of,
    escrow_of,
    player,
    sum_over_all_accounts,
)
from tests.matches.test_api_errors import problem
from wallets.errors import InsufficientCredits, NotFound, WalletFrozen

API = "/api/v1/matches"


@pytest.fixture
def played(table):
    """A match that b has resigned: a has 1,095 credits then, b 900."""
    table.resign("b")
    return table


def again(table, side):
    with transaction.atomic():
        return lobby.rematch(wallet=table.wallets[side], match_id=table.id)


def shown(client_of, table, side):
    return client_of(table.wallets[side]).get(f"{API}/{table.id}").json()["rematch"]


def refused(error, action):
    with pytest.raises(error), transaction.atomic():
        action()


def test_one_offers_and_the_other_accepts(client_of, played):
    a, b = (client_of(played.wallets[side]) for side in "ab")
    offer = b.post(f"{API}/{played.id}/rematch").json()
    assert (offer["status"], offer["you"], offer["stake"]) == ("open", "a", 100)
    assert available(played.wallets["b"]) == 800
    for side in "ab":
        expected = {"match": offer["id"], "by": "b", "status": "open"}
        assert shown(client_of, played, side) == expected
    accepted = a.post(f"{API}/{played.id}/rematch").json()
    assert (accepted["id"], accepted["status"], accepted["you"]) == (offer["id"], "running", "b")
    assert shown(client_of, played, "a")["status"] == "running"
    assert available(played.wallets["a"]) == 995
    # Once more changes nothing, for either.
    for client, side in ((a, "b"), (b, "a")):
        repeated = client.post(f"{API}/{played.id}/rematch").json()
        assert (repeated["id"], repeated["you"]) == (offer["id"], side)
    assert escrow_of(Match.objects.get(pk=offer["id"])) == 200


@pytest.mark.django_db
@pytest.mark.parametrize("visibility", ["open", "invitation"])
def test_its_terms_are_those_of_the_match_before(visibility):
    table = Table(stake=7, visibility=visibility)
    table.resign("a")
    offer = again(table, "a")
    assert (offer.stake, offer.visibility, offer.ruleset) == (7, visibility, table.match.ruleset)
    assert offer.secret_hash != table.match.secret_hash


@pytest.mark.django_db
@pytest.mark.parametrize("visibility", ["open", "invitation"])
def test_nobody_else_can_join_it_by_any_way(client_of, visibility):
    table = Table(visibility=visibility)
    table.resign("b")
    offer = again(table, "a")
    stranger = player()
    client = client_of(stranger)
    problem(client.post(f"{API}/{table.id}/rematch"), 404, "not_found")
    join = partial(lobby.join_match, wallet=stranger, match_id=offer.pk)
    for invitation in ("", offer.invitation):
        refused((NotFound, NotOpen), partial(join, invitation=invitation))
    assert client.get(API).json()["results"] == []
    assert lobby.quick_match(wallet=stranger, stake=100).pk != offer.pk
    assert offer.seats.count() == 1
    assert client.get(f"{API}/{table.id}").json().get("rematch") is None


def test_one_that_is_cancelled_gives_the_stake_back_and_may_be_offered_again(client_of, played):
    offer = again(played, "a")
    client = client_of(played.wallets["a"])
    assert client.post(f"{API}/{offer.pk}/cancel").json()["status"] == "cancelled"
    assert (available(played.wallets["a"]), escrow_of(offer)) == (1_095, 0)
    assert shown(client_of, played, "b") is None
    second = again(played, "b")
    assert (second.pk != offer.pk, second.status) == (True, "open")


def grow_old(offer):
    long_ago = timezone.now() - timedelta(days=1)
    Match.objects.filter(pk=offer.pk).update(created_at=long_ago)


def test_one_that_nobody_accepts_expires_and_gives_the_stake_back(client_of, played):
    offer = again(played, "a")
    grow_old(offer)
    assert tasks.sweep_matches() == 1
    assert (available(played.wallets["a"]), escrow_of(offer)) == (1_095, 0)
    assert shown(client_of, played, "a") is None


@pytest.mark.parametrize("side", ["a", "b"])
def test_one_that_has_expired_is_not_accepted_though_no_sweep_came_by(played, side):
    old = again(played, "a")
    grow_old(old)
    new = again(played, side)
    old.refresh_from_db()
    assert (old.status, old.ended_by, new.status) == ("cancelled", "expired", "open")
    assert new.seats.get().wallet == played.wallets[side]


def test_only_a_match_that_was_played_to_an_end_has_a_rematch(client_of, table):
    refused(NotPlayed, partial(again, table, "a"))
    waiting = lobby.create_match(wallet=table.wallets["a"], stake=1, visibility="open")
    lobby.cancel_match(wallet=table.wallets["a"], match_id=waiting.pk)
    answer = client_of(table.wallets["a"]).post(f"{API}/{waiting.pk}/rematch")
    problem(answer, 409, "match_not_played")
    for _ in range(2):
        table.miss()
    table.pass_deadline()
    # The deadline that ends it is applied first, by the very call.
    answer = client_of(table.wallets["a"]).post(f"{API}/{table.id}/rematch")
    assert answer.json()["status"] == "open"


def test_whoever_may_not_take_a_seat_may_not_by_a_rematch(settings, played):
    offer = partial(again, played, "a")
    settings.MATCH_MAX_LIVE = 1
    waiting = lobby.create_match(wallet=played.wallets["a"], stake=1, visibility="open")
    refused(TooManyMatches, offer)
    lobby.cancel_match(wallet=played.wallets["a"], match_id=waiting.pk)
    settings.MATCH_MAX_STAKE = 99
    refused(StakeOutOfRange, offer)
    settings.MATCH_MAX_STAKE = 100
    wallets = type(played.wallets["a"]).objects
    wallets.filter(pk=played.wallets["a"].pk).update(is_active=False)
    refused(WalletFrozen, offer)
    wallets.filter(pk=played.wallets["a"].pk).update(is_active=True)
    lobby.create_match(wallet=played.wallets["b"], stake=100, visibility="open")
    offered = offer()
    refused(TooManyMatches, partial(again, played, "b"))
    assert (offered.seats.count(), escrow_of(offered)) == (1, 100)


@pytest.mark.django_db
def test_who_can_not_pay_neither_offers_nor_accepts():
    table = Table(credits_=100)
    table.resign("b")
    refused(InsufficientCredits, partial(again, table, "b"))
    offer = again(table, "a")
    refused(InsufficientCredits, partial(again, table, "b"))
    assert (offer.seats.count(), escrow_of(offer)) == (1, 100)


def test_the_call_is_done_once_for_each_key(client_of, played):
    client = client_of(played.wallets["a"])
    send = partial(client.post, f"{API}/{played.id}/rematch", headers={"Idempotency-Key": "k"})
    first = send().json()
    again(played, "b")
    assert send().json() == first
    assert first["status"] == "open"


def test_a_rematch_has_a_rematch_of_its_own(played):
    for side in "ab":
        second = again(played, side)
    battle.resign(wallet=played.wallets["a"], match_id=second.pk)
    third = lobby.rematch(wallet=played.wallets["a"], match_id=second.pk)
    assert (third.rematch_of_id, third.status) == (second.pk, "open")
    assert again(played, "a").pk == second.pk


@pytest.mark.django_db(transaction=True)
def test_both_at_the_same_instant_make_one_match():
    for _ in range(15):
        table = Table()
        table.resign("b")
        results = at_once(*(partial(again, table, side) for side in "abab"))
        assert count_of(results, Match) == 4, results
        assert {result.pk for result in results} == {Match.objects.get(rematch_of=table.id).pk}
        match = Match.objects.get(rematch_of=table.id)
        assert (match.status, match.seats.count(), escrow_of(match)) == ("running", 2, 200)
    assert sum_over_all_accounts() == 0


@pytest.mark.django_db(transaction=True)
def test_accepting_against_cancelling_and_expiring_loses_no_stake():
    for round_ in range(10):
        table = Table()
        table.resign("b")
        offer = again(table, "a")
        if round_ % 2:
            grow_old(offer)
        results = at_once(
            partial(again, table, "b"),
            partial(lobby.cancel_match, wallet=table.wallets["a"], match_id=offer.pk),
            partial(lobby.expire_match, match_id=offer.pk),
            partial(lobby.join_match, wallet=player(), match_id=offer.pk),
        )
        assert not [r for r in results if isinstance(r, Exception) and not isinstance(r, NotOpen)]
        made = Match.objects.filter(rematch_of=table.id)
        assert made.exclude(status="cancelled").count() == 1
        for match in made:
            seats = {"open": 1, "running": 2, "cancelled": 0}[match.status]
            assert escrow_of(match) == 100 * seats
    assert sum_over_all_accounts() == 0
