"""A frozen player can't play, so nobody is let into the matches that such a player has open."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from matches import lobby, tasks
from matches.errors import NotOpen
from matches.models import Match
from tests.matches.helpers import (
    Table,
    answer_behind,
    at_once,
    available,
    count_of,
    escrow_of,
    player,
)
from tests.matches.test_races import ROUNDS
from wallets import db
from wallets.models import Wallet

API = "/api/v1/matches"


def freeze(wallet, is_active=False):
    """What `wallets.accounts.freeze_wallet` does to the row."""
    Wallet.objects.filter(pk=wallet.pk).update(is_active=is_active)


def an_open_match():
    maker, joiner = player(), player()
    match = lobby.create_match(wallet=maker, stake=10, visibility="open")
    return match, maker, joiner, partial(lobby.join_match, wallet=joiner, match_id=match.pk)


def an_invitation():
    maker, joiner = player(), player()
    match = lobby.create_match(wallet=maker, stake=10, visibility="invitation")
    join = partial(lobby.join_match, match_id=match.pk, invitation=match.invitation)
    return match, maker, joiner, partial(join, wallet=joiner)


def a_rematch():
    table = Table(stake=10, credits_=1_000)
    table.resign("b")
    maker, joiner = table.wallets["a"], table.wallets["b"]
    offer = lobby.rematch(wallet=maker, match_id=table.id)
    return offer, maker, joiner, partial(lobby.rematch, wallet=joiner, match_id=table.id)


WAYS = pytest.mark.parametrize("way", [an_open_match, an_invitation, a_rematch])


@pytest.mark.django_db
@WAYS
def test_nobody_joins_a_match_of_a_frozen_player_by_any_way(way):
    match, maker, joiner, join = way()
    before = available(joiner)
    freeze(maker)
    with pytest.raises(NotOpen), transaction.atomic():
        join()
    assert (available(joiner), escrow_of(match)) == (before, 10)
    freeze(maker, is_active=True)
    assert (join().pk, escrow_of(match)) == (match.pk, 20)


@pytest.mark.django_db
@WAYS
def test_it_expires_and_gives_the_frozen_player_the_stake_back(way):
    match, maker, _, _ = way()
    before = available(maker)
    freeze(maker)
    a_day_ago = timezone.now() - timedelta(days=1)
    Match.objects.filter(pk=match.pk).update(created_at=a_day_ago)
    assert tasks.sweep_matches() == 1
    match.refresh_from_db()
    assert (match.status, match.ended_by) == ("cancelled", "expired")
    assert (available(maker), escrow_of(match)) == (before + 10, 0)


def test_it_is_not_in_the_lobby_nor_found_by_quick_match(db, client_of):
    match, maker, joiner, _ = an_open_match()
    freeze(maker)
    assert client_of(joiner).get(API).json()["results"] == []
    made = lobby.quick_match(wallet=joiner, stake=10)
    assert (made.pk != match.pk, made.status) == (True, "open")
    freeze(maker, is_active=True)
    assert client_of(player()).get(API).json()["results"][-1]["id"] == str(match.pk)
    assert lobby.quick_match(wallet=player(), stake=10).pk == match.pk


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", [an_open_match, an_invitation, a_rematch, "quick match"])
def test_who_joins_while_the_maker_is_being_frozen_comes_after_it(way):
    match, maker, joiner, join = (an_open_match if way == "quick match" else way)()
    if way == "quick match":
        join = partial(lobby.quick_match, wallet=joiner, stake=10)
    assert isinstance(answer_behind(partial(freeze, maker), join), NotOpen)
    assert escrow_of(match) == 10


@pytest.mark.django_db(transaction=True)
def test_two_who_join_each_others_matches_at_once_do_not_deadlock(monkeypatch):
    monkeypatch.setattr(db, "ATTEMPTS", 1)  # or a deadlock would be tried again, and not be seen
    x, y = player(), player()
    for _ in range(ROUNDS):
        made = {w: lobby.create_match(wallet=w, stake=10, visibility="open") for w in (x, y)}
        results = at_once(
            partial(lobby.join_match, wallet=x, match_id=made[y].pk),
            partial(lobby.join_match, wallet=y, match_id=made[x].pk),
        )
        assert count_of(results, Match) == 2, results
