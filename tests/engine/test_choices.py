"""What an ape may do, and what is refused: rules.md, sections 2, 3 and 5."""

import pytest

from engine import GOD_V1, Ape, Choice, IllegalEvent, drink, legal_choices, resign, result, start
from tests.engine.helpers import in_round, play

CORE = (Choice("rock"), Choice("paper"), Choice("scissors"))


def refused(call, *arguments):
    with pytest.raises(IllegalEvent) as caught:
        call(*arguments)
    return caught.value.code, caught.value.reason


def test_the_opening_is_for_bare_core_moves():
    state = start(GOD_V1)._replace(a=Ape(alphas=3, wilds=3))
    assert legal_choices(state, "a", GOD_V1) == CORE
    for choice in (Choice("wild"), Choice("alpha"), Choice("rock", "wilds")):
        assert refused(play, state, choice, "rock")[0] == "core_only"


@pytest.mark.parametrize(
    ("alphas", "wilds", "more"),
    [
        (0, 0, set()),
        (0, 1, {("wild", None)}),
        (1, 0, {("alpha", None)}),
        (0, 2, {("wild", None), *((move, "wilds") for move in ("rock", "paper", "scissors"))}),
        (3, 0, {("alpha", None), *((move, "alphas") for move in ("rock", "paper", "scissors"))}),
    ],
)
def test_legal_choices_are_those_the_hands_cover(alphas, wilds, more):
    state = in_round(b=Ape(alphas=alphas, wilds=wilds))
    assert set(legal_choices(state, "b", GOD_V1)) == {*CORE, *more}


def test_an_ape_with_plenty_may_choose_all_15():
    assert len(set(legal_choices(in_round(a=Ape(9, 9, 9)), "a", GOD_V1))) == 15
    assert len(set(legal_choices(in_round(a=Ape(9, 4, 3)), "a", GOD_V1))) == 15
    assert len(set(legal_choices(in_round(a=Ape(9, 3, 3)), "a", GOD_V1))) == 14
    assert len(set(legal_choices(in_round(a=Ape(9, 4, 2)), "a", GOD_V1))) == 14


@pytest.mark.parametrize(
    ("choice", "ape", "reason"),
    [
        (Choice("wild"), Ape(), "wild: ape a holds 0 wilds"),
        (Choice("alpha"), Ape(), "alpha: ape a holds 0 alphas"),
        (Choice("rock", "wilds"), Ape(wilds=1), "rock with tribute wilds: ape a holds 1 wilds"),
        (Choice("wild", "wilds"), Ape(wilds=2), "wild with tribute wilds: ape a holds 2 wilds"),
        (Choice("alpha", "alphas"), Ape(0, 3), "alpha with tribute alphas: ape a holds 3 alphas"),
    ],
)
def test_power_move_and_tribute_must_both_be_covered(choice, ape, reason):
    assert refused(play, in_round(a=ape), choice, "rock") == ("not_held", reason)
    assert refused(play, in_round(b=ape), "rock", choice) == (
        "not_held",
        reason.replace("ape a", "ape b"),
    )


@pytest.mark.parametrize("choice", [Choice("lizard"), Choice("rock", "potions")])
def test_an_unknown_move_or_tribute_is_refused(choice):
    assert refused(play, in_round(), "rock", choice)[0] == "unknown_choice"


def test_a_refused_event_leaves_the_state_as_it_was():
    state = in_round()
    before = state.to_json()
    refused(play, state, "wild", "rock")
    assert state.to_json() == before


@pytest.mark.parametrize(("health", "healed"), [(1, 3), (8, 10), (9, 10)])
def test_a_potion_heals_2_points_and_is_no_movement(health, healed):
    state = in_round(b=Ape(health, 1, 1, 2, 1, 1, 1), outcome="a")
    after = drink(state, "b", GOD_V1)
    assert after == state._replace(b=Ape(healed, 1, 1, 1, 1, 1, 1), outcome=None)
    swapped = drink(state._replace(a=state.b, b=state.a), "a", GOD_V1)
    assert (swapped.a, swapped.b) == (after.b, after.a)


def test_any_number_of_potions_may_be_drunk_between_movements():
    state = in_round(a=Ape(3, potions=3))
    for _ in range(3):
        state = drink(state, "a", GOD_V1)
    assert state.a == Ape(9)


def test_a_potion_is_refused_in_the_opening_at_full_health_and_with_none_held():
    in_opening = start(GOD_V1)._replace(a=Ape(5, potions=1))
    assert refused(drink, in_opening, "a", GOD_V1)[0] == "potion_in_opening"
    assert refused(drink, in_round(a=Ape(10, potions=1)), "a", GOD_V1)[0] == "full_health"
    assert refused(drink, in_round(a=Ape(5)), "a", GOD_V1)[0] == "no_potion"


@pytest.mark.parametrize(("ape", "winner"), [("a", "b"), ("b", "a")])
@pytest.mark.parametrize("state", [start(GOD_V1), in_round(outcome="tie")])
def test_resigning_loses_the_match_at_once(state, ape, winner):
    after = resign(state, ape)
    assert after == state._replace(status="won", winner=winner, outcome=None)
    assert result(after) == ("won", winner)


@pytest.mark.parametrize("status", ["won", "draw", "abandoned"])
def test_nothing_may_follow_the_end(status):
    over = in_round(a=Ape(5, potions=1), status=status)
    assert legal_choices(over, "a", GOD_V1) == ()
    assert refused(play, over, "rock", "rock")[0] == "match_over"
    assert refused(play, over, None, None)[0] == "match_over"
    assert refused(drink, over, "a", GOD_V1)[0] == "match_over"
    assert refused(resign, over, "a")[0] == "match_over"
