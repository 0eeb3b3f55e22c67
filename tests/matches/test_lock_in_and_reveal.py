"""Choices locked in as commitments, and revealed once both are in."""

import secrets

import pytest

from engine import Choice
from matches import battle, chance
from matches.errors import IllegalChoice, StaleMovement, TooEarly, TooLate, WrongReveal
from matches.models import LockIn, Match
from tests.matches.helpers import PAPER, ROCK, SCISSORS, player
from wallets.errors import NotFound


@pytest.fixture
def revealing(table):
    """Both are in: paper against rock."""
    table.lock_in("a", PAPER)
    table.lock_in("b", ROCK)
    return table


def test_both_lock_in_both_reveal_and_the_movement_ends(revealing):
    revealing.reveal("b", ROCK)
    assert revealing.state.movement == 1
    revealing.reveal("a", PAPER)
    assert (revealing.state.movement, revealing.state.outcome) == (2, "a")
    assert revealing.now().stage == Match.Stage.LOCK


def test_a_commitment_may_be_replaced_until_both_are_in(table):
    table.lock_in("a", ROCK)
    table.lock_in("a", PAPER)
    table.lock_in("b", ROCK)
    table.reveal("b", ROCK)
    table.reveal("a", PAPER)
    assert table.state.outcome == "a"


@pytest.mark.parametrize("side", ["a", "b"])
def test_a_commitment_is_not_replaced_once_both_are_in(revealing, side):
    with pytest.raises(TooLate):
        revealing.lock_in(side, SCISSORS)
    with pytest.raises(TooLate):
        revealing.play(side, SCISSORS)


def test_the_same_commitment_twice_is_one(table):
    commitment = table.lock_in("a", ROCK)
    table.act(battle.lock_in, "a", movement=1, commitment=commitment)
    assert [event["type"] for event in table.events()] == ["start", "locked"]


def test_the_same_commitment_again_after_both_are_in_changes_nothing(table):
    commitment = table.lock_in("a", PAPER)
    table.lock_in("b", ROCK)
    before = table.events()
    table.act(battle.lock_in, "a", movement=1, commitment=commitment)
    assert table.events() == before


def test_the_same_reveal_twice_is_one(revealing):
    revealing.reveal("a", PAPER)
    revealing.reveal("a", PAPER)
    assert revealing.state.movement == 1
    revealing.reveal("b", ROCK)
    before = revealing.events()
    revealing.reveal("b", ROCK, movement=1)
    revealing.reveal("a", PAPER, movement=1)
    assert revealing.events() == before


def test_the_reveal_that_ended_the_match_may_be_repeated(table):
    table.almost_won_by("a")
    table.lock_in("a", PAPER)
    table.lock_in("b", ROCK)
    table.reveal("a", PAPER)
    table.reveal("b", ROCK)
    assert table.now().status == "won"
    table.reveal("b", ROCK, movement=5)


@pytest.mark.parametrize(
    ("choice", "salt"),
    [(SCISSORS, None), (Choice("paper", "wilds"), None), (PAPER, "00" * 32)],
)
def test_a_wrong_reveal_is_refused_and_may_be_tried_again(revealing, choice, salt):
    with pytest.raises(WrongReveal):
        revealing.reveal("a", choice, salt=salt)
    assert not LockIn.objects.filter(revealed=True).exists()
    revealing.reveal("a", PAPER)
    revealing.reveal("b", ROCK)
    assert revealing.state.outcome == "a"


def test_nobody_reveals_before_both_are_in(table):
    with pytest.raises(TooEarly):
        table.reveal("a", PAPER, salt="00" * 32)
    table.lock_in("a", PAPER)
    with pytest.raises(TooEarly):
        table.reveal("a", PAPER)
    assert not LockIn.objects.filter(revealed=True).exists()


def test_a_reveal_for_another_movement_is_refused_with_the_running_one(revealing):
    with pytest.raises(StaleMovement) as refused:
        revealing.reveal("a", PAPER, movement=2, salt="00" * 32)
    assert refused.value.extra == {"movement": 1}


def test_what_one_did_not_reveal_in_time_is_not_taken_in_the_next_movement(revealing):
    revealing.reveal("b", ROCK)
    revealing.miss()
    with pytest.raises(StaleMovement):
        revealing.reveal("a", PAPER, movement=1)


def test_the_others_commitment_copied_can_not_be_revealed(table):
    copied = table.lock_in("a", PAPER)
    table.act(battle.lock_in, "b", movement=1, commitment=copied)
    with pytest.raises(WrongReveal):
        table.reveal("b", PAPER, salt=table.salts["a", 1])


def test_a_commitment_of_another_match_or_movement_can_not_be_revealed(table):
    for match_id, movement in ((secrets.token_hex(16), 1), (str(table.id), 2)):
        commitment = chance.commitment(
            match_id=match_id, movement=movement, side="a", choice=PAPER, salt="00" * 32
        )
        table.act(battle.lock_in, "a", movement=1, commitment=commitment)
    table.lock_in("b", ROCK)
    with pytest.raises(WrongReveal):
        table.reveal("a", PAPER, salt="00" * 32)


def test_a_choice_that_is_not_covered_can_be_locked_in_but_never_revealed(table):
    table.lock_in("a", Choice("alpha"))
    table.lock_in("b", ROCK)
    with pytest.raises(IllegalChoice):
        table.reveal("a", Choice("alpha"))
    table.reveal("b", ROCK)
    table.miss()
    assert (table.state.outcome, table.state.a.misses) == ("b", 1)


def test_a_stranger_can_neither_lock_in_nor_reveal(revealing):
    revealing.wallets["a"] = player()
    with pytest.raises(NotFound):
        revealing.lock_in("a", PAPER)
    with pytest.raises(NotFound):
        revealing.reveal("a", PAPER)
