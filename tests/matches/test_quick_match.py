"""Quick match: whoever wants to play for the same stake; and the lobby's filters and limits."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from matches import lobby, tasks
from matches.errors import NotOpen, StakeOutOfRange, TooManyMatches
from matches.models import Match, Seat
from matches.selectors import credits_in_play
from tests.matches.helpers import (
    at_once,
    available,
    count_of,
    escrow_of,
    player,
    sum_over_all_accounts,
)
from tests.matches.test_api_errors import problem
from wallets.errors import InsufficientCredits, WalletFrozen

API = "/api/v1/matches"


@pytest.fixture
def maker(db):
    return player()


def refused(error, action, **arguments):
    with pytest.raises(error), transaction.atomic():
        action(**arguments)


def grow_old(match, seconds=24 * 3600):
    age = timedelta(seconds=seconds)
    Match.objects.filter(pk=match.pk).update(created_at=timezone.now() - age)


# Quick match


def test_the_first_waits_and_the_second_joins_it(maker):
    waiting = lobby.quick_match(wallet=maker, stake=10)
    assert (waiting.status, waiting.visibility) == ("open", "open")
    joined = lobby.quick_match(wallet=player(), stake=10)
    assert (joined.pk, joined.status, escrow_of(joined)) == (waiting.pk, "running", 20)


def test_the_one_that_has_waited_longest_is_joined(maker):
    made = [lobby.create_match(wallet=maker, stake=10, visibility="open") for _ in range(3)]
    joiner = player()
    assert [lobby.quick_match(wallet=joiner, stake=10).pk for _ in made] == [m.pk for m in made]


def test_no_match_is_joined_but_an_open_one_of_this_stake_that_is_not_ones_own(maker):
    lobby.create_match(wallet=maker, stake=11, visibility="open")
    lobby.create_match(wallet=maker, stake=10, visibility="invitation")
    lobby.cancel_match(
        wallet=maker,
        match_id=lobby.create_match(wallet=maker, stake=10, visibility="open").pk,
    )
    grow_old(lobby.create_match(wallet=maker, stake=10, visibility="open"))
    joiner = player()
    mine = lobby.quick_match(wallet=joiner, stake=10)
    again = lobby.quick_match(wallet=joiner, stake=10)
    assert {mine.status, again.status} == {"open"}
    assert mine.pk != again.pk


def test_who_can_not_pay_joins_nothing_and_makes_nothing(maker):
    lobby.create_match(wallet=maker, stake=10, visibility="open")
    poor = player(9)
    refused(InsufficientCredits, lobby.quick_match, wallet=poor, stake=10)
    refused(InsufficientCredits, lobby.quick_match, wallet=poor, stake=11)
    refused(StakeOutOfRange, lobby.quick_match, wallet=poor, stake=10**9)
    assert (Match.objects.count(), Seat.objects.count()) == (1, 1)


def test_the_call_is_done_once_for_each_key(client_of, maker):
    client = client_of(maker)
    send = partial(client.post, f"{API}/quick", {"stake": 10}, headers={"Idempotency-Key": "k"})
    first, second = send(), send()
    assert (first.status_code, first.json()) == (200, second.json())
    assert (first.json()["you"], Match.objects.count(), available(maker)) == ("a", 1, 990)
    joined = client_of(player()).post(f"{API}/quick", {"stake": 10}).json()
    assert (joined["id"], joined["you"], joined["status"]) == (first.json()["id"], "b", "running")
    problem(client.post(f"{API}/quick", {"stake": 0}), 400, "invalid")
    problem(client.post(f"{API}/quick", {}), 400, "invalid")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("count", [2, 7, 8])
def test_players_at_once_pair_up_and_at_most_one_waits(count):
    for stake in (10, 20):
        players = [player() for _ in range(count)]
        results = at_once(*(partial(lobby.quick_match, wallet=p, stake=stake) for p in players))
        assert count_of(results, Match) == count, results
        made = Match.objects.filter(stake=stake)
        assert made.filter(status="running").count() == count // 2
        assert made.filter(status="open").count() == count % 2
        assert Seat.objects.filter(match__stake=stake).count() == count
        assert {available(p) for p in players} == {1_000 - stake}
    assert sum_over_all_accounts() == 0


@pytest.mark.django_db(transaction=True)
def test_quick_matches_against_joins_and_cancels_of_the_same_matches():
    makers = [player() for _ in range(3)]
    made = [lobby.create_match(wallet=m, stake=10, visibility="open") for m in makers]
    rivals = [player() for _ in range(6)]
    results = at_once(
        *(partial(lobby.quick_match, wallet=r, stake=10) for r in rivals[:3]),
        *(
            partial(lobby.join_match, wallet=r, match_id=m.pk)
            for r, m in zip(rivals[3:], made, strict=True)
        ),
        partial(lobby.cancel_match, wallet=makers[0], match_id=made[0].pk),
    )
    assert not [r for r in results if not isinstance(r, Match | NotOpen)]
    assert count_of(results[:3], Match) == 3
    for match in Match.objects.all():
        seats = {"open": 1, "running": 2, "cancelled": 1}[match.status]
        assert match.seats.count() == seats
        assert escrow_of(match) == (0 if match.status == "cancelled" else 10 * seats)
    assert sum_over_all_accounts() == 0


# Filters


def test_the_lobby_can_be_asked_for_stakes_within_limits(client_of, maker):
    for stake in (5, 10, 20):
        lobby.create_match(wallet=maker, stake=stake, visibility="open")
    client = client_of(player())

    def stakes(**query):
        return [card["stake"] for card in client.get(API, query).json()["results"]]

    assert stakes() == [20, 10, 5]
    assert stakes(stake_min=10) == [20, 10]
    assert stakes(stake_max=10) == [10, 5]
    assert stakes(stake_min=6, stake_max=19) == [10]
    assert stakes(stake_min=21) == []
    for query in ({"stake_min": "x"}, {"stake_max": "-1"}, {"stake_min": "9" * 400}):
        problem(client.get(API, query), 400, "invalid")


# Expiry


def test_an_open_match_expires_and_gives_the_stake_back(client_of, maker):
    match, young = (lobby.create_match(wallet=maker, stake=10, visibility="open") for _ in "xy")
    grow_old(match)
    grow_old(young, 24 * 3600 - 60)
    assert [c["id"] for c in client_of(player()).get(API).json()["results"]] == [str(young.pk)]
    refused(NotOpen, lobby.join_match, wallet=player(), match_id=match.pk)
    assert tasks.sweep_matches() == 1
    assert tasks.sweep_matches() == 0
    match.refresh_from_db()
    assert (match.status, match.ended_by) == ("cancelled", "expired")
    assert (available(maker), escrow_of(match), credits_in_play(maker)) == (990, 0, 10)


def test_a_running_match_does_not_expire(maker):
    match = lobby.create_match(wallet=maker, stake=10, visibility="open")
    lobby.join_match(wallet=player(), match_id=match.pk)
    grow_old(match)
    assert tasks.sweep_matches() == 0
    assert not lobby.expire_match(match_id=match.pk)


@pytest.mark.django_db(transaction=True)
def test_expiring_against_cancelling_gives_the_stake_back_once():
    for _ in range(3):
        maker = player()
        match = lobby.create_match(wallet=maker, stake=10, visibility="open")
        grow_old(match)
        at_once(
            *[partial(lobby.expire_match, match_id=match.pk)] * 2,
            partial(lobby.cancel_match, wallet=maker, match_id=match.pk),
        )
        assert (available(maker), escrow_of(match)) == (1_000, 0)


# Limits and frozen wallets


def sit(wallet, other):
    """Each way to a seat."""
    opened = lobby.create_match(wallet=other, stake=10, visibility="open")
    return (
        partial(lobby.create_match, wallet=wallet, stake=10, visibility="open"),
        partial(lobby.join_match, wallet=wallet, match_id=opened.pk),
        partial(lobby.quick_match, wallet=wallet, stake=10),
        partial(lobby.quick_match, wallet=wallet, stake=11),
    )


def test_a_player_may_be_in_so_many_live_matches_at_once(client_of, settings, maker):
    settings.MATCH_MAX_LIVE = 2
    mine = [lobby.create_match(wallet=maker, stake=1, visibility="open") for _ in range(2)]
    settings.MATCH_MAX_LIVE = 3
    others = sit(maker, player())
    settings.MATCH_MAX_LIVE = 2
    for action in others:
        refused(TooManyMatches, action)
    body = problem(client_of(maker).post(API, {"stake": 1}), 409, "too_many_matches")
    assert body["maximum"] == 2
    lobby.cancel_match(wallet=maker, match_id=mine[0].pk)
    assert others[1]().status == "running"
    refused(TooManyMatches, others[0])


@pytest.mark.django_db(transaction=True)
def test_the_limit_holds_at_once(settings):
    settings.MATCH_MAX_LIVE = 3
    maker = player()
    results = at_once(
        *[partial(lobby.create_match, wallet=maker, stake=1, visibility="open")] * 5,
        partial(lobby.quick_match, wallet=maker, stake=1),
    )
    assert (count_of(results, Match), count_of(results, TooManyMatches)) == (3, 3)


def test_a_frozen_wallet_takes_no_seat_by_any_way(maker):
    others = sit(maker, player())
    type(maker).objects.filter(pk=maker.pk).update(is_active=False)
    for action in others:
        refused(WalletFrozen, action)  # though what the caller holds of it is older
    assert available(maker) == 1_000
