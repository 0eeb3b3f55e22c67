"""The sage: its table is what the solver solves, it plays the equilibrium, and it wins."""

import subprocess
import sys
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import GOD_V1, Ape, Choice, resolve
from engine.apes import APES, solve, table
from engine.apes.coarse import (
    CELLS,
    COUNTS,
    SCORES,
    SEATS,
    cell_of,
    kinds,
    meetings,
    mirrored,
    state_at,
)
from engine.apes.contest import play_pair, wilson
from engine.apes.sage import mix_of
from engine.apes.stage import equilibrium
from tests.engine.helpers import first_left, in_round

ROUNDING = {score: table.shipped()[score][1] / 2 for score in SCORES}
ROCK = Choice("rock")


def with_rounds(state, a, b):
    return state._replace(a=state.a._replace(rounds=a), b=state.b._replace(rounds=b))


few = settings(deadline=None, max_examples=30)


# --- One movement as a game -------------------------------------------------------------------

matrices = st.integers(1, 6).flatmap(
    lambda columns: st.lists(
        st.lists(st.floats(0, 1, width=16), min_size=columns, max_size=columns),
        min_size=1,
        max_size=6,
    )
)


@given(matrices)
@few
def test_nobody_gains_by_leaving_the_equilibrium(matrix):
    mix, value = equilibrium(matrix)
    assert sum(mix) == pytest.approx(1)
    assert min(mix) >= 0
    columns = list(zip(*matrix, strict=True))
    assert min(sum(map(float.__mul__, mix, column)) for column in columns) >= value - 1e-6
    # The other player's side of it: the same game seen from across the table.
    turned = [[1 - payoff for payoff in column] for column in columns]
    assert equilibrium(turned)[1] == pytest.approx(1 - value, abs=1e-6)


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 5))
@few
def test_the_solver_solves_many_at_once_as_one_is_solved_alone(seed, rows, columns):
    many = np.random.default_rng(seed).random((20, rows, columns))
    played = solve.equilibria(many)
    for matrix, mix_a, mix_b in zip(many, *played, strict=True):
        mix, value = equilibrium(matrix.tolist())
        assert mix == pytest.approx(mix_a.tolist(), abs=1e-9)
        assert mix_a @ matrix @ mix_b == pytest.approx(value, abs=1e-9)


# --- Cells ------------------------------------------------------------------------------------


def test_every_cell_is_the_cell_of_its_plainest_state():
    for cell in range(0, CELLS, 7):
        assert cell_of(state_at(cell)) == cell


def test_potions_count_as_health_and_counts_are_capped():
    plain = in_round("sun", a=Ape(health=8, alphas=COUNTS - 1), b=Ape(wilds=COUNTS - 1))
    rich = in_round("sun", a=Ape(health=6, alphas=9, potions=1), b=Ape(wilds=9, potions=3))
    assert cell_of(plain) == cell_of(rich)


# --- The table --------------------------------------------------------------------------------


def test_the_table_is_small():
    assert len(table.path().read_bytes()) < 300_000


def test_packing_rounds_to_the_nearest_step():
    layers = {score: [cell % 1009 / 1010 for cell in range(CELLS)] for score in SCORES}
    for score, (low, step, cells) in table.unpack(table.pack(layers)).items():
        for cell in range(0, CELLS, 97):
            assert low + step * cells[cell] == pytest.approx(layers[score][cell], abs=step / 2)


@given(st.integers(0, CELLS - 1), st.integers(0, 2), st.integers(0, 2))
@few
def test_what_one_ape_may_hope_for_is_what_the_other_has_to_fear(cell, a, b):
    state = with_rounds(state_at(cell), a, b)
    tolerance = 2.5 * ROUNDING[max(a, b), min(a, b)] + 2e-3
    assert table.value(state) + table.value(mirrored(state)) == pytest.approx(1, abs=tolerance)


@pytest.mark.parametrize("score", SCORES)
def test_the_values_of_sampled_cells_follow_from_those_they_lead_to(score):
    """The solver's equation, written down again: an influence stays four times in five."""

    def worth(after):
        if after.status == "won":
            return float(after.winner == "a")
        by_phase = [table.value(after._replace(phase=p)) for p in solve.INFLUENCES]
        now = table.value(after)
        if after.round != state.round:
            return sum(by_phase) / 4
        return 0.8 * now + 0.2 * (sum(by_phase) - now) / 3

    def meet(a, b):
        met = meetings(a, b)
        after = [resolve(state, a, each, draw=first_left, ruleset=GOD_V1) for each in met]
        return sum(map(worth, after)) / len(met)

    rng = Random(str(score))
    for cell in rng.sample(range(CELLS), 100):
        state = with_rounds(state_at(cell), *score)
        own, theirs = (kinds(state, seat, GOD_V1) for seat in SEATS)
        _, value = equilibrium([[meet(a, b) for b in theirs] for a in own])
        assert table.value(state) == pytest.approx(value, abs=3 * ROUNDING[score] + 2e-3)


# --- How it plays -----------------------------------------------------------------------------


def test_it_plays_the_core_moves_equally_often():
    state = in_round("sun")
    moves = [APES["sage"].play(state, GOD_V1, Random(n)).choice.move for n in range(600)]
    for move in ("rock", "paper", "scissors"):
        assert 160 < moves.count(move) < 240


def test_it_takes_a_win_that_nothing_can_prevent():
    # Alpha is safe: the other ape has no wild, and under Sun it takes the last three points.
    state = in_round("sun", a=Ape(alphas=1, rounds=2), b=Ape(health=3, rounds=2))
    mix = dict(mix_of(state, GOD_V1))
    assert mix[Choice("alpha")] == pytest.approx(1)


def test_it_mixes_where_any_habit_could_be_punished():
    alike = Ape(alphas=1, wilds=1, health=6)
    mix = dict(mix_of(in_round("moon", a=alike, b=alike), GOD_V1))
    assert min(mix[ROCK], mix[Choice("wild")], mix[Choice("alpha")]) > 0.1


def test_it_keeps_its_alphas_under_water_where_they_hurt_nobody():
    alike = Ape(alphas=1, wilds=1, health=6)
    assert dict(mix_of(in_round("water", a=alike, b=alike), GOD_V1))[ROCK] == pytest.approx(1)


def test_it_drinks_before_healths_are_compared():
    last = {"in_phase": 5, "cycle": 3, "used": ("sun", "water", "moon", "earth")}
    hurt = {"a": Ape(health=6, potions=3), "b": Ape(health=7)}
    assert APES["sage"].play(in_round("earth", **last, **hurt), GOD_V1, Random(1)).potions == 2
    assert APES["sage"].play(in_round("earth", **hurt), GOD_V1, Random(1)).potions == 0


@pytest.mark.parametrize(
    ("other", "matches", "at_least"), [("drifter", 40, 0.65), ("bruiser", 120, 0.5)]
)
def test_it_beats_them_clearly(other, matches, at_least):
    score, _ = play_pair(APES["sage"].play, APES[other].play, matches, "counted")
    low, _ = wilson(score.won, score.played)
    assert low > at_least


def test_whoever_only_plays_needs_no_numpy():
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "import random, engine, engine.apes as apes\n"
        "from engine.apes.contest import play_match\n"
        "sage = apes.APES['sage'].play\n"
        "print(play_match(sage, sage, random.Random(1)).status)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "won\n", done.stderr
