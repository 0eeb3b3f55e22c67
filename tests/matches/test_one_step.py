"""Choices locked in in one step: the server makes the salt and reveals it with the other's."""

import pytest

from engine import Choice
from matches.errors import IllegalChoice, NotRunning, StaleMovement, TooLate
from matches.models import LockIn
from tests.matches.helpers import PAPER, ROCK, SCISSORS, Table
from wallets.errors import NotFound


def test_the_movement_ends_when_both_have_played(table):
    table.play("a", PAPER)
    assert table.state.movement == 1
    table.play("b", ROCK)
    state = table.state
    assert (state.movement, state.outcome, state.a.alphas, state.b.wilds) == (2, "a", 1, 1)


def test_a_choice_may_be_replaced_until_both_are_in(table):
    table.play("a", ROCK)
    table.play("a", PAPER)
    table.play("b", ROCK)
    assert table.state.outcome == "a"


def test_the_same_choice_twice_is_one(table):
    table.play("a", ROCK)
    table.play("a", ROCK)
    assert [event["type"] for event in table.events()] == ["start", "locked"]


def test_a_repeat_after_the_movement_changes_nothing(table):
    table.movement(PAPER, ROCK)
    before = table.events()
    table.play("b", ROCK, movement=1)
    assert table.events() == before


def test_a_repeat_of_the_choice_that_ended_the_match_changes_nothing(table):
    table.almost_won_by("a")
    table.movement(PAPER, ROCK)
    before = table.events()
    table.play("b", ROCK, movement=5)
    assert table.events() == before
    assert table.now().status == "won"


def test_another_choice_for_a_movement_that_is_over_is_refused_with_the_running_one(table):
    table.movement(PAPER, ROCK)
    with pytest.raises(StaleMovement) as refused:
        table.play("b", SCISSORS, movement=1)
    assert refused.value.extra == {"movement": 2}


@pytest.mark.parametrize("movement", [2, 400, 2**31, 10**30])
def test_a_movement_that_is_yet_to_come_is_refused(table, movement):
    with pytest.raises(StaleMovement):
        table.play("a", ROCK, movement=movement)


@pytest.mark.parametrize("choice", [Choice("alpha"), Choice("wild"), Choice("rock", "wilds")])
def test_what_an_ape_does_not_hold_is_refused_at_once(table, choice):
    with pytest.raises(IllegalChoice):
        table.play("a", choice)
    assert not LockIn.objects.exists()


def test_a_player_may_change_from_one_step_to_a_commitment_and_back(table):
    table.play("a", ROCK)
    table.lock_in("a", ROCK)
    table.play("a", PAPER)
    table.lock_in("a", SCISSORS)
    table.play("b", ROCK)
    assert table.now().stage == "reveal"
    table.reveal("a", SCISSORS)
    assert table.state.outcome == "b"


def test_one_may_play_in_one_step_against_a_commitment(table):
    table.lock_in("a", PAPER)
    table.play("b", ROCK)
    with pytest.raises(TooLate):
        table.play("b", SCISSORS)
    table.reveal("a", PAPER)
    assert table.state.outcome == "a"


def test_a_stranger_finds_no_match_to_play_in(table):
    stranger = Table()
    table.wallets["a"] = stranger.wallets["a"]
    with pytest.raises(NotFound):
        table.play("a", ROCK)


def test_nothing_is_played_before_the_start_or_after_the_end(table):
    table.resign("a")
    with pytest.raises(NotRunning):
        table.play("b", ROCK, movement=1)
