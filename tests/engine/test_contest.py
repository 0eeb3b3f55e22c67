"""Matches between apes: the same from the same seed, fair to both seats, and what they show."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import GOD_V1, Choice, ruleset_with
from engine.apes import APES, Turn
from engine.apes.contest import CHANGES, play_match, play_pair, wilson
from engine.ruleset import RULINGS


def always(move):
    return lambda state, ruleset, rng: Turn(0, Choice(move))


def test_the_same_seed_plays_the_same_matches_and_another_does_not():
    bruiser, drifter = APES["bruiser"].play, APES["drifter"].play
    one, again, other = (play_pair(bruiser, drifter, 4, seed) for seed in ("x", "x", "y"))
    assert one == again != other


def test_a_pair_changes_seats_so_that_the_score_is_the_ape_s_and_not_the_seat_s():
    paper, rock = always("paper"), always("rock")
    score, records = play_pair(paper, rock, 6, "x")
    assert (score.won, score.lost, score.drawn, score.played) == (6, 0, 0, 6)
    assert [record.winner for record in records] == list("ababab")
    assert play_pair(rock, paper, 6, "x")[0].lost == 6


@pytest.mark.parametrize("ape", APES)
@pytest.mark.parametrize("seat", [0, 1])
def test_an_ape_plays_the_same_whatever_the_other_is_about_to_play(ape, seat):
    """With the same chance, up to the first movement after which they can tell."""

    def first_turn_against(move):
        turns = []

        def watched(state, ruleset, rng):
            turns.append(APES[ape].play(state, ruleset, rng))
            return turns[-1]

        apes = [watched, always(move)] if seat == 0 else [always(move), watched]
        play_match(*apes, Random(5))
        return turns[0]

    assert first_turn_against("rock") == first_turn_against("paper")


def test_two_who_always_tie_draw_at_the_last_movement():
    score, (record,) = play_pair(always("rock"), always("rock"), 1, "x")
    assert (score.drawn, record.status, record.movements) == (1, "draw", 400)
    assert record.happened["max_movements"] == 1
    # Nobody is hurt: the first round is level after three cycles, and goes on for ever.
    assert (record.happened["sudden death"], record.happened["cycles_per_round"]) == (1, 1)


def test_every_ruling_has_another_reading_that_is_counted():
    assert tuple(CHANGES) == RULINGS
    for name, value in CHANGES.items():
        assert getattr(GOD_V1, name) != value


def test_a_ruling_counts_where_its_other_reading_would_have_ended_a_movement_otherwise():
    def alpha_when_held(state, ruleset, rng):
        return Turn(0, Choice("alpha" if state.round and state.a.alphas else "paper"))

    happened = play_match(alpha_when_held, always("rock"), Random(1)).happened
    # Three alphas out of the opening, each of which a rock loses to; none meets a power move.
    assert happened["core_loser_to_alpha_gains_wild"] >= 3
    assert happened["tie_keeps_power_moves"] == happened["earth_wild_steals"] == 0


def test_under_other_rulings_none_is_counted():
    other = ruleset_with(GOD_V1, {"winner_refills": False})
    happened = play_match(always("paper"), always("rock"), Random(1), other).happened
    assert not set(RULINGS) & set(+happened)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    # R: prop.test(x, n, correct = FALSE)$conf.int
    [(50, 100, 0.4038, 0.5962), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (0, 0, 0.0, 1.0)],
)
def test_intervals_are_wilson_s(successes, trials, low, high):
    assert wilson(successes, trials) == pytest.approx((low, high), abs=1e-4)


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_holds_the_share_itself(counted):
    low, high = wilson(*counted)
    assert 0 <= low <= counted[0] / counted[1] + 1e-12
    assert counted[0] / counted[1] - 1e-12 <= high <= 1
