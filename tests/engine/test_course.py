"""The course of a match: rules.md, sections 2 and 5."""

import pytest

from engine import GOD_V1, Ape, Choice, IllegalEvent, result, ruleset_with, start
from tests.engine.helpers import at_cycle_end, first_left, in_round, mirrored, no_draw, play


def with_rulings(**rulings):
    return ruleset_with(GOD_V1, rulings)


# The opening


def test_a_match_starts_in_the_opening_with_full_health_and_empty_hands():
    state = start(GOD_V1)
    assert (state.status, state.winner, state.outcome) == ("running", None, None)
    assert (state.phase, state.movement, state.in_phase) == ("opening", 1, 1)
    assert (state.round, state.cycle, state.sudden_death) == (0, 0, False)
    assert state.a == state.b == Ape(10, 0, 0, 0, 0, 0, 0)


def test_the_opening_gives_the_winner_an_alpha_and_the_loser_a_wild_without_damage():
    state = play(start(GOD_V1), "rock", "scissors")
    assert state.outcome == "a"
    assert (state.a, state.b) == (Ape(alphas=1, streak=1), Ape(wilds=1))
    assert (state.phase, state.movement, state.in_phase) == ("opening", 2, 2)


def test_a_tie_in_the_opening_gives_nothing():
    state = play(start(GOD_V1), "rock", "rock")
    assert (state.outcome, state.a, state.b) == ("tie", Ape(), Ape())


def test_the_third_movement_of_the_opening_starts_round_1_under_a_drawn_influence():
    asked = []

    def draw(left):
        asked.append(left)
        return "moon"

    state = start(GOD_V1)
    for _ in range(3):
        assert asked == []
        state = play(state, "paper", "rock", draw)
    assert asked == [("sun", "water", "moon", "earth")]
    assert (state.round, state.cycle, state.phase) == (1, 1, "moon")
    assert (state.movement, state.in_phase, state.used) == (4, 1, ("moon",))
    assert state.a == Ape(alphas=3, potions=1), "three wins in a row earn a potion here too"


# Influences and cycles


def test_an_influence_lasts_5_movements_and_each_comes_once_in_a_cycle():
    state = start(GOD_V1)
    asked = []

    def draw_last(left):
        asked.append(left)
        return left[-1]

    seen = []
    for _ in range(3 + 20):
        state = play(state, "rock", "rock", draw_last)
        seen.append((state.phase, state.in_phase, state.cycle))
    in_order = [(phase, n, 1) for phase in ("earth", "moon", "water", "sun") for n in range(1, 6)]
    assert seen[2:22] == in_order
    assert seen[22] == ("earth", 1, 2)
    assert asked == [
        ("sun", "water", "moon", "earth"),
        ("sun", "water", "moon"),
        ("sun", "water"),
        ("sun",),
        ("sun", "water", "moon", "earth"),
    ]
    assert state.used == ("earth",)


def test_the_length_of_an_influence_is_a_ruling_and_does_not_touch_the_opening():
    ruleset = with_rulings(movements_per_phase=1)
    state = start(ruleset)
    phases = []
    for _ in range(6):
        state = play(state, "rock", "rock", first_left, ruleset)
        phases.append((state.phase, state.in_phase))
    assert phases[:2] == [("opening", 2), ("opening", 3)]
    assert phases[2:] == [("sun", 1), ("water", 1), ("moon", 1), ("earth", 1)]


@pytest.mark.parametrize("answer", ["sun", "fire", None])
def test_a_draw_that_is_not_left_in_the_cycle_is_refused(answer):
    state = in_round("sun", in_phase=5)
    with pytest.raises(IllegalEvent) as caught:
        play(state, "rock", "rock", lambda left: answer)
    assert caught.value.code == "bad_draw"


# Rounds


def test_a_round_ends_at_once_when_health_is_0_and_the_next_starts_a_fresh_cycle():
    asked = []

    def draw(left):
        asked.append(left)
        return "sun"

    state = in_round(
        "sun",
        in_phase=2,
        cycle=2,
        used=("moon", "sun"),
        a=Ape(4, 1, 2, 1, 1, 1),
        b=Ape(1, 2, 3, 4, 2, 2),
    )
    after = play(state, "rock", "scissors", draw)
    assert asked == [("sun", "water", "moon", "earth")]
    assert (after.round, after.cycle, after.phase, after.in_phase) == (2, 1, "sun", 1)
    assert after.used == ("sun",)
    assert after.a == Ape(10, 2, 2, 1, 2, 2), "power moves, potions and the streak carry over"
    assert after.b == Ape(10, 1, 4, 4, 0, 2)
    assert after.movement == state.movement + 1


def test_a_round_that_ends_with_an_influence_draws_only_once():
    asked = []

    def draw(left):
        asked.append(left)
        return left[0]

    play(in_round("sun", in_phase=5, b=Ape(1)), "rock", "scissors", draw)
    assert len(asked) == 1


@pytest.mark.parametrize(("refills", "health"), [(True, 10), (False, 4)])
def test_the_winner_of_a_round_refills_if_the_ruling_says_so(refills, health):
    ruleset = with_rulings(winner_refills=refills)
    state = in_round("sun", a=Ape(4), b=Ape(1))
    after = play(state, "rock", "scissors", first_left, ruleset)
    assert (after.a.health, after.b.health) == (health, 10)
    swapped = play(mirrored(state), "scissors", "rock", first_left, ruleset)
    assert mirrored(swapped) == after


def test_the_third_round_won_wins_the_match_and_leaves_all_where_it_was():
    state = in_round("sun", in_phase=5, a=Ape(4, rounds=2), b=Ape(1, rounds=2))
    after = play(state, "rock", "scissors", no_draw)
    assert result(after) == ("won", "a")
    assert after.a == Ape(4, streak=1, rounds=3)
    assert after.b == Ape(0, wilds=1, rounds=2)
    unmoved = ("phase", "movement", "in_phase", "round", "cycle", "sudden_death", "used")
    assert all(getattr(after, name) == getattr(state, name) for name in unmoved)
    swapped = play(mirrored(state), "scissors", "rock", no_draw)
    assert mirrored(swapped) == after


# The end of the last cycle, and sudden death


def test_after_3_cycles_the_ape_with_more_health_wins_the_round():
    state = at_cycle_end(a=Ape(6), b=Ape(5))
    after = play(state, "rock", "rock", first_left)
    assert (after.a.rounds, after.b.rounds, after.round) == (1, 0, 2)
    assert (after.cycle, after.used, after.a.health, after.b.health) == (1, ("sun",), 10, 10)
    swapped = play(mirrored(state), "rock", "rock", first_left)
    assert mirrored(swapped) == after


def test_the_last_movement_of_the_last_cycle_counts_before_health_is_compared():
    after = play(at_cycle_end(a=Ape(6), b=Ape(7)), "rock", "scissors", first_left)
    assert (after.a.rounds, after.b.rounds) == (1, 0)


@pytest.mark.parametrize("cycle", [1, 2])
def test_an_earlier_cycle_ends_without_a_winner(cycle):
    after = play(at_cycle_end(cycle=cycle, a=Ape(6)), "rock", "rock", first_left)
    assert (after.round, after.cycle, after.b.rounds) == (1, cycle + 1, 0)
    assert not after.sudden_death


def test_the_number_of_cycles_is_a_ruling():
    state = at_cycle_end(cycle=1, a=Ape(6), b=Ape(5))
    after = play(state, "rock", "rock", first_left, with_rulings(cycles_per_round=1))
    assert (after.a.rounds, after.round) == (1, 2)


def test_level_health_after_the_last_cycle_is_sudden_death_and_cycles_go_on_counting():
    after = play(at_cycle_end(a=Ape(5), b=Ape(5)), "rock", "rock", first_left)
    assert after.sudden_death
    assert (after.round, after.cycle, after.phase, after.in_phase) == (1, 4, "sun", 1)


@pytest.mark.parametrize("nothing_decided", [("rock", "rock"), (None, None)])
def test_a_tie_or_a_void_movement_does_not_end_sudden_death(nothing_decided):
    state = in_round("sun", cycle=4, sudden_death=True, a=Ape(5), b=Ape(7))
    after = play(state, *nothing_decided)
    assert after.sudden_death
    assert (after.round, after.in_phase) == (1, 3)


@pytest.mark.parametrize(
    ("phase", "a", "b"),
    [("sun", "rock", "paper"), ("water", "rock", "alpha"), ("sun", None, "rock")],
)
def test_the_next_decided_movement_ends_sudden_death_whatever_its_damage(phase, a, b):
    state = in_round(phase, cycle=4, sudden_death=True, a=Ape(9), b=Ape(4, alphas=1))
    after = play(state, a, b, first_left)
    assert (after.a.rounds, after.b.rounds, after.round) == (0, 1, 2)
    assert (after.sudden_death, after.cycle) == (False, 1)


def test_sudden_death_outlasts_a_cycle_without_comparing_health_again():
    state = at_cycle_end(cycle=4, sudden_death=True, a=Ape(9), b=Ape(4))
    after = play(state, "rock", "rock", first_left)
    assert after.sudden_death
    assert (after.round, after.cycle, after.a.rounds) == (1, 5, 0)


# The movement limit


@pytest.mark.parametrize("limit", [1, 2, 3, 30])
def test_the_movement_limit_makes_a_draw_and_counts_the_opening(limit):
    ruleset = with_rulings(max_movements=limit)
    state = start(ruleset)
    for _ in range(limit):
        assert state.status == "running"
        state = play(state, "rock", "rock", first_left, ruleset)
    assert result(state) == ("draw", None)
    assert state.movement == limit


def test_a_match_is_drawn_after_400_movements():
    assert play(in_round(movement=399), "rock", "rock").status == "running"
    assert play(in_round(movement=400), "rock", "rock").status == "draw"


def test_a_round_won_on_the_last_movement_counts_but_nobody_refills():
    after = play(in_round(movement=400, a=Ape(4), b=Ape(1)), "rock", "scissors")
    assert result(after) == ("draw", None)
    assert after.a == Ape(4, streak=1, rounds=1)
    assert after.b == Ape(0, wilds=1)
    assert after.round == 1


def test_the_third_round_won_on_the_last_movement_wins_the_match():
    after = play(in_round(movement=400, a=Ape(4, rounds=2), b=Ape(1)), "rock", "scissors")
    assert result(after) == ("won", "a")


def test_level_health_on_the_last_movement_is_a_draw_without_sudden_death():
    after = play(at_cycle_end(movement=400, a=Ape(5), b=Ape(5)), "rock", "rock")
    assert (after.status, after.sudden_death) == ("draw", False)


# Missed movements


@pytest.mark.parametrize(
    ("phase", "winner", "loser"),
    [
        ("sun", Ape(5, 4, 3, 1, 1), Ape(4, 1, 2, 0, 0, 0, 1)),
        ("water", Ape(6, 3, 3, 1, 1), Ape(3, 2, 2, 0, 0, 0, 1)),
        ("moon", Ape(5, 4, 3, 1, 1), Ape(4, 2, 2, 0, 0, 0, 1)),
        ("earth", Ape(5, 3, 3, 1, 1), Ape(4, 1, 1, 0, 0, 0, 1)),
    ],
)
@pytest.mark.parametrize("move", ["rock", "wild", Choice("rock", "wilds"), Choice("wild", "wilds")])
def test_an_absent_ape_forfeits_with_the_steps_of_core_beats_core(phase, winner, loser, move):
    state = in_round(phase, a=Ape(5, 3, 3, 1, misses=2), b=Ape(6, 2, 2, streak=2))
    after = play(state, move, None)
    assert (after.outcome, after.a, after.b) == ("a", winner, loser)
    swapped = play(mirrored(state), None, move)
    assert mirrored(swapped) == after


def test_an_absent_ape_in_the_opening_gives_the_other_an_alpha_and_gains_no_wild():
    after = play(start(GOD_V1), None, "rock")
    assert (after.outcome, after.a, after.b) == ("b", Ape(misses=1), Ape(alphas=1, streak=1))


def test_the_choice_of_the_present_ape_must_be_legal():
    with pytest.raises(IllegalEvent) as caught:
        play(in_round(), "wild", None)
    assert caught.value.code == "not_held"


def test_a_movement_both_miss_is_void():
    after = play(in_round(a=Ape(5, 1, 1, 1, 2), b=Ape(6, 2, 2, 2, 1)), None, None)
    assert (after.outcome, after.status) == ("tie", "running")
    assert (after.a, after.b) == (Ape(5, 1, 1, 1, misses=1), Ape(6, 2, 2, 2, misses=1))


def test_only_misses_in_a_row_count():
    state = in_round(movement=4, in_phase=1)
    for a in (None, None, "rock", None, None):
        state = play(state, a, "rock", first_left)
    assert (state.status, state.a.misses) == ("running", 2)


def test_the_third_miss_in_a_row_loses_the_match_even_in_the_opening():
    state = start(GOD_V1)
    for _ in range(3):
        state = play(state, None, "rock")
    assert result(state) == ("won", "b")
    assert (state.phase, state.movement, state.in_phase, state.round) == ("opening", 3, 3, 0)
    assert state.b == Ape(alphas=3, potions=1), "the third movement's steps are applied"


def test_a_round_ended_by_the_third_miss_is_not_counted():
    state = in_round("sun", a=Ape(5, rounds=2), b=Ape(2, misses=2))
    after = play(state, "rock", None)
    assert result(after) == ("won", "a")
    assert (after.a.rounds, after.b.health) == (2, 0)


def test_the_third_miss_goes_before_the_movement_limit():
    after = play(in_round(movement=400, b=Ape(misses=2)), "rock", None)
    assert result(after) == ("won", "a")


def test_both_missing_the_third_in_the_same_movement_abandons_the_match():
    after = play(in_round(a=Ape(misses=2), b=Ape(misses=2)), None, None)
    assert result(after) == ("abandoned", None)


def test_the_ape_that_misses_its_third_loses_even_if_the_other_missed_too():
    after = play(in_round(a=Ape(misses=2), b=Ape(misses=1)), None, None)
    assert result(after) == ("won", "b")
    assert after.outcome == "tie"


# Streaks and tributes


def test_three_wins_in_a_row_earn_a_potion_and_the_streak_starts_again():
    after = play(in_round(a=Ape(5, potions=1, streak=2), b=Ape(6, streak=2)), "rock", "scissors")
    assert (after.a.streak, after.a.potions) == (0, 2)
    assert (after.b.streak, after.b.potions) == (0, 0)


def test_a_forfeited_movement_counts_for_the_streak():
    after = play(in_round(a=Ape(5, streak=2), b=Ape(6)), "rock", None)
    assert (after.a.streak, after.a.potions) == (0, 1)


def test_a_tie_ends_both_streaks():
    after = play(in_round(a=Ape(streak=2), b=Ape(streak=1)), "rock", "rock")
    assert (after.a.streak, after.b.streak) == (0, 0)


@pytest.mark.parametrize(
    ("returned", "tribute", "alphas", "wilds"),
    [
        (False, "wilds", 3, 0),
        (False, "alphas", 0, 2),
        (True, "wilds", 3, 2),
        (True, "alphas", 3, 2),
    ],
)
def test_a_winning_tribute_earns_a_potion_and_is_spent_unless_the_ruling_returns_it(
    returned, tribute, alphas, wilds
):
    state = in_round("water", a=Ape(5, alphas=3, wilds=2), b=Ape(6))
    ruleset = with_rulings(tribute_returned_on_win=returned)
    after = play(state, Choice("rock", tribute), "scissors", ruleset=ruleset)
    assert after.a == Ape(6, alphas, wilds, potions=1, streak=1)


def test_the_power_move_played_beside_a_returned_tribute_is_still_spent():
    ruleset = with_rulings(tribute_returned_on_win=True)
    state = in_round("sun", a=Ape(5, alphas=4), b=Ape(6))
    after = play(state, Choice("alpha", "alphas"), "rock", ruleset=ruleset)
    assert (after.a.alphas, after.a.potions) == (3, 1)


@pytest.mark.parametrize("other", ["rock", "paper"])
def test_a_tribute_is_lost_with_a_tie_or_a_loss(other):
    state = in_round("water", a=Ape(8, alphas=3, wilds=2), b=Ape(6))
    for tribute, left in (("wilds", (3, 0)), ("alphas", (0, 2))):
        after = play(state, Choice("rock", tribute), other)
        lost_a_core_move = int(other == "paper")
        assert (after.a.alphas, after.a.wilds) == (left[0], left[1] + lost_a_core_move)
        assert after.a.potions == 0


def test_what_is_offered_can_be_neither_stolen_nor_destroyed():
    after = play(in_round("sun", a=Ape(8, alphas=3), b=Ape(6)), Choice("rock", "alphas"), "paper")
    assert (after.a.alphas, after.b.alphas) == (0, 0)
    after = play(
        in_round("earth", a=Ape(8, alphas=1, wilds=2), b=Ape(6)), Choice("rock", "wilds"), "paper"
    )
    assert (after.a.alphas, after.a.wilds) == (0, 1)


def test_a_tribute_a_streak_and_an_influence_can_each_earn_a_potion_at_once():
    state = in_round("earth", a=Ape(5, wilds=3, streak=2), b=Ape(6, alphas=1))
    after = play(state, Choice("wild", "wilds"), "alpha")
    assert after.a == Ape(5, alphas=1, wilds=0, potions=3, streak=0)
