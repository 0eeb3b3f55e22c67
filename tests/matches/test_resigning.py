"""Resigning: the match is lost at once."""

import pytest
from django.db import transaction

from matches import battle, lobby
from matches.errors import NotRunning
from tests.matches.helpers import PAPER, ROCK, available, player
from wallets.errors import NotFound


@pytest.mark.parametrize(("loser", "winner"), ["ab", "ba"])
def test_who_resigns_loses_at_once_and_the_other_is_paid(table, loser, winner):
    table.resign(loser)
    match = table.now()
    assert (match.status, match.winner, match.ended_by) == ("won", winner, "resigned")
    assert (match.deadline, match.stage) == (None, "")
    assert available(table.wallets[winner]) == 900 + 195
    assert available(table.wallets[loser]) == 900


def test_resigning_again_changes_nothing(table):
    table.resign("a")
    before = table.events()
    table.resign("a")
    assert table.events() == before


def test_the_winner_can_not_resign_afterwards(table):
    table.resign("a")
    with pytest.raises(NotRunning):
        table.resign("b")
    assert table.now().winner == "b"


def test_a_match_lost_in_another_way_can_not_be_resigned(table):
    table.almost_won_by("a")
    table.movement(PAPER, ROCK)
    with pytest.raises(NotRunning):
        table.resign("b")


def test_one_may_resign_when_all_but_the_last_reveal_is_in_and_no_choice_is_told(table):
    table.lock_in("a", PAPER)
    table.lock_in("b", ROCK)
    table.reveal("a", PAPER)
    table.resign("b")
    types = [event["type"] for event in table.events()]
    assert types == ["start", "locked", "locked", "resign"]
    with pytest.raises(NotRunning):
        table.reveal("b", ROCK, movement=1)


def test_a_match_that_has_not_started_can_not_be_resigned_and_not_by_a_stranger(db):
    maker, stranger = player(), player()
    match = lobby.create_match(wallet=maker, stake=5, visibility="open")
    for wallet, error in ((maker, NotRunning), (stranger, NotFound)):
        with pytest.raises(error), transaction.atomic():
            battle.resign(wallet=wallet, match_id=match.pk)
