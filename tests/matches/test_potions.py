"""Potions: at any time in a round, no movement, seen by both at once."""

import pytest

from engine import Ape
from matches.errors import IllegalChoice, NotRunning
from tests.matches.helpers import PAPER, ROCK, player
from wallets.errors import NotFound


@pytest.fixture
def thirsty(table):
    """Both apes hold two potions and could use them."""
    table.put(a=Ape(health=5, potions=2), b=Ape(health=9, potions=2))
    return table


def test_a_potion_heals_and_is_gone_and_no_movement_passes(thirsty):
    thirsty.drink("a")
    state = thirsty.state
    assert (state.a.health, state.a.potions, state.movement) == (7, 1, 5)
    assert thirsty.events()[-1] == {"type": "potion", "ape": "a"}


def test_a_potion_never_heals_above_full_health_where_the_next_is_refused_and_kept(thirsty):
    thirsty.drink("b")
    with pytest.raises(IllegalChoice):
        thirsty.drink("b")
    assert (thirsty.state.b.health, thirsty.state.b.potions) == (10, 1)


def test_potions_may_be_drunk_in_every_stage_and_the_clock_does_not_care(thirsty):
    thirsty.lock_in("a", PAPER)
    thirsty.drink("a")
    thirsty.lock_in("b", ROCK)
    deadline = thirsty.now().deadline
    thirsty.drink("a")
    assert thirsty.now().deadline == deadline
    thirsty.reveal("a", PAPER)
    thirsty.reveal("b", ROCK)
    assert (thirsty.state.outcome, thirsty.state.a.health) == ("a", 9)


@pytest.mark.parametrize("fields", [{"a": Ape(health=5)}, {"a": Ape(potions=1)}])
def test_without_a_potion_or_a_wound_it_is_refused(table, fields):
    table.put(**fields)
    with pytest.raises(IllegalChoice):
        table.drink("a")
    assert [event["type"] for event in table.events()] == ["start"]


def test_there_are_no_potions_in_the_opening(table):
    table.put(phase="opening", round=0, cycle=0, movement=2, used=(), a=Ape(health=5, potions=1))
    with pytest.raises(IllegalChoice):
        table.drink("a")


def test_a_stranger_drinks_nobodys_potion(thirsty):
    thirsty.wallets["a"] = player()
    with pytest.raises(NotFound):
        thirsty.drink("a")


def test_after_the_end_no_potion_is_drunk(thirsty):
    thirsty.resign("b")
    with pytest.raises(NotRunning):
        thirsty.drink("a")
