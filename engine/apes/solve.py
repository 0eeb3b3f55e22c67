"""Solve the coarsened game: `python -m engine.apes.solve`. Offline; the only module with numpy.

For each score, the last ones first, the rounds' values come out of value iteration (Shapley 1953):
a cell is worth what its movement is worth as a matrix game whose payoffs are the values of the
cells that it leads to. The engine itself says where it leads.
"""

import argparse
import hashlib
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import GOD_V1, INFLUENCES, Choice, State, resolve, start
from engine.apes import table
from engine.apes.coarse import (
    CELLS,
    CELLS_OF_PHASE,
    COUNTS,
    SCORES,
    SEATS,
    SHAPE,
    STREAKS,
    cell_of,
    kinds,
    meetings,
    state_at,
)
from engine.apes.stage import EPSILON
from engine.apes.table import Score
from engine.play import OPENING_MOVEMENTS, ROUNDS_TO_WIN

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Say = Callable[[str], None]
Ends = tuple[Floats, Floats]
"""What a round won and a round lost by `a` are worth, for each way to begin the next."""

PHASES = len(INFLUENCES)
STAYS = 1 - 1 / GOD_V1.movements_per_phase
"""How likely the influence outlasts a movement: a cell doesn't know how long it has been there."""
COUNTED = COUNTS**4
"""Ways to hold alphas and wilds."""
MOVEMENTS_AT_ONCE = 40
"""For so many movements the same mixes are followed before new ones are found."""
SETTLED = 1e-4
"""By less than this, values no longer change."""


class Group(NamedTuple):
    """The cells in which both apes hold the same, hence have the same kinds to choose from.

    `places[cell, i, j]` are the three equally likely places that kind i of `a` and kind j of `b`
    lead to: a cell, or beyond all cells the end of a round. They differ only if both are core.
    """

    cells: Ints
    places: Ints


def explore(say: Say) -> list[Group]:
    """Ask the engine where each pair of kinds leads from each cell."""
    groups = []
    for first in range(COUNTED):
        if first % 9 == 0:
            say(f"exploring: {100 * first // COUNTED}%")
        cells = np.arange(first, CELLS, COUNTED, dtype=np.int32)
        kinds_a, kinds_b = (kinds(state_at(first), seat, GOD_V1) for seat in SEATS)
        places = [
            [[_places(state, a, b) for b in kinds_b] for a in kinds_a]
            for state in map(state_at, cells.tolist())
        ]
        groups.append(Group(cells, np.array(places, np.int32)))
    return groups


def _places(state: State, a: Choice, b: Choice) -> tuple[int, ...]:
    met = meetings(a, b)
    return tuple(_place(state, a, each) for each in met) * (3 // len(met))


def _place(state: State, a: Choice, b: Choice) -> int:
    after = resolve(state, a, b, draw=lambda left: left[0], ruleset=GOD_V1)
    if after.round == state.round:
        return cell_of(after)
    # A round begins under an influence drawn anew: the first one's cells stand for all four.
    lost = after.b.rounds > state.b.rounds
    return CELLS + CELLS_OF_PHASE * lost + cell_of(after) % CELLS_OF_PHASE


def worth(values: Floats, ends: Ends) -> Floats:
    """What each place is worth to `a`, given the cells' values: the influence may change first."""
    by_phase = values.reshape(PHASES, CELLS_OF_PHASE)
    others = by_phase[0] + by_phase[1] + by_phase[2] + by_phase[3] - by_phase
    lasting = STAYS * by_phase + (1 - STAYS) / (PHASES - 1) * others
    return np.concatenate((lasting.ravel(), *ends))


def payoffs(group: Group, worths: Floats) -> Floats:
    """The matrix game that is a movement, for each cell of the group."""
    three = worths[group.places]
    mean: Floats = (three[..., 0] + three[..., 1] + three[..., 2]) / 3
    return mean


class Played(NamedTuple):
    """How often each kind is played by `a` and by `b`, in each cell of a group."""

    mix_a: Floats
    mix_b: Floats


def equilibria(matrices: Floats) -> Played:
    """Solve a matrix game for each cell; `stage.equilibrium`, all cells at once."""
    count, rows, columns = matrices.shape
    width = columns + rows
    tableau = np.zeros((count, rows + 1, width + 1))
    tableau[:, :rows, :columns] = matrices + 1
    tableau[:, :rows, columns:width] = np.eye(rows)
    tableau[:, :rows, width] = 1
    tableau[:, rows, :columns] = -1
    basis = np.tile(np.arange(columns, width), (count, 1))
    active = np.arange(count)
    while True:
        improving = tableau[active, rows, :width] < -EPSILON
        going_on = improving.any(axis=1)
        active, entering = active[going_on], improving[going_on].argmax(axis=1)
        if not len(active):
            break
        lines, each = tableau[active], np.arange(len(active))
        column = lines[each, :, entering]
        ratios = np.full((len(active), rows), np.inf)
        np.divide(
            lines[:, :rows, width], column[:, :rows], ratios, where=column[:, :rows] > EPSILON
        )
        tied = ratios == ratios.min(axis=1, keepdims=True)
        leaving = np.where(tied, basis[active], width).argmin(axis=1)
        chosen = lines[each, leaving] / column[each, leaving, None]
        lines -= column[:, :, None] * chosen[:, None, :]
        lines[each, leaving] = chosen
        tableau[active] = lines
        basis[active, leaving] = entering
    total = tableau[:, rows, width, None]
    mix_b = np.zeros((count, width))
    np.put_along_axis(mix_b, basis, tableau[:, :rows, width], axis=1)
    return Played(
        np.maximum(tableau[:, rows, columns:width], 0) / total, mix_b[:, :columns] / total
    )


class Chain(NamedTuple):
    """Where fixed mixes lead: from cells to places, each with its likelihood."""

    cells: Ints
    places: Ints
    weights: Floats


def chain_of(groups: list[Group], plays: list[Played]) -> Chain:
    """Fix how the kinds are played in each cell."""
    parts = []
    for group, (mix_a, mix_b) in zip(groups, plays, strict=True):
        weights = mix_a[:, :, None, None] * mix_b[:, None, :, None] / 3
        weights = np.broadcast_to(weights, group.places.shape)
        cells = np.broadcast_to(group.cells[:, None, None, None], group.places.shape)
        played = weights > 0
        parts.append((cells[played], group.places[played], weights[played]))
    return Chain(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def follow(chain: Chain, values: Floats, ends: Ends) -> Floats:
    """The values a number of movements earlier, if the mixes are played all the while."""
    for _ in range(MOVEMENTS_AT_ONCE):
        worths = chain.weights * worth(values, ends)[chain.places]
        values = np.bincount(chain.cells, worths, CELLS).astype(np.float64, copy=False)
    return values


def ends_of(score: Score, layers: dict[Score, Floats]) -> Ends:
    """What winning and losing the round is worth at a score, whatever is carried over."""
    a, b = score
    return _round_start(layers, (a + 1, b)), _round_start(layers, (a, b + 1))


def _round_start(layers: dict[Score, Floats], score: Score) -> Floats:
    if ROUNDS_TO_WIN in score:
        return np.full(CELLS_OF_PHASE, float(score[0] == ROUNDS_TO_WIN))
    values = layers[score].reshape(PHASES, CELLS_OF_PHASE)
    mean: Floats = (values[0] + values[1] + values[2] + values[3]) / PHASES
    return mean


def settle(
    values: Floats,
    mixes: Callable[[Floats], list[Played]],
    groups: list[Group],
    ends: Ends,
    say: Say,
) -> Floats:
    """Alternate between what is played, given the values, and what that is worth, until both last.

    Following the same mixes for a while costs less than finding new ones.
    """
    change = 1.0
    while change > SETTLED:
        before, values = values, follow(chain_of(groups, mixes(worth(values, ends))), values, ends)
        change = float(np.abs(values - before).max())
        say(f"  values change by {change:.5f}")
    return values


def solve(groups: list[Group], say: Say) -> dict[Score, Floats]:
    """The values of all cells at all scores, seen by `a`."""

    def mixes(worths: Floats) -> list[Played]:
        return [equilibria(payoffs(group, worths)) for group in groups]

    layers: dict[Score, Floats] = {}
    for score in SCORES:
        say(f"score {score[0]}:{score[1]}")
        ends = ends_of(score, layers)
        # A good guess saves time: the deciding round, on the scale of this one.
        won, lost = (float(end.mean()) for end in ends)
        guess = lost + (won - lost) * layers.get(SCORES[0], np.full(CELLS, 0.5))
        layers[score] = settle(guess, mixes, groups, ends, say)
        layers.setdefault((score[1], score[0]), mirror(layers[score]))
    return layers


def mirror(values: Floats) -> Floats:
    """The values with the apes in each other's place."""
    streaks = [STREAKS.index((b, a)) for a, b in STREAKS]
    return 1 - values.reshape(SHAPE)[:, streaks].transpose(0, 1, 3, 2, 5, 4, 7, 6).ravel()


def shipped() -> dict[Score, Floats]:
    """The values that the table gives, at all scores."""
    layers: dict[Score, Floats] = {}
    for score, (low, step, cells) in table.shipped().items():
        layers[score] = low + step * np.frombuffer(cells, np.uint8).astype(np.float64)
        layers.setdefault((score[1], score[0]), mirror(layers[score]))
    return layers


def best_response(
    groups: list[Group], layers: dict[Score, Floats], say: Say
) -> dict[Score, Floats]:
    """What is left to `a`, who plays as `sage` does by these values, when `b` knows and answers."""
    left: dict[Score, Floats] = {}
    for score in sorted(layers, key=sum, reverse=True):
        say(f"best response at {score[0]}:{score[1]}")
        worths = worth(layers[score], ends_of(score, layers))
        plays = [equilibria(payoffs(group, worths)) for group in groups]

        def answers(worths: Floats, plays: list[Played] = plays) -> list[Played]:
            return [
                Played(played.mix_a, answer(payoffs(group, worths), played.mix_a))
                for group, played in zip(groups, plays, strict=True)
            ]

        left[score] = settle(layers[score], answers, groups, ends_of(score, left), say)
    return left


def answer(matrices: Floats, mix_a: Floats) -> Floats:
    """The worst for `a` that `b` can play: in each cell one kind, all the time."""
    worst = np.einsum("nij,ni->nj", matrices, mix_a).argmin(axis=1)
    always: Floats = np.eye(matrices.shape[2])[worst]
    return always


def after_opening() -> list[State]:
    """All states that three opening movements lead to, each as likely as the others."""
    states = [start(GOD_V1)]
    for _ in range(OPENING_MOVEMENTS):
        states = [
            resolve(state, Choice("rock"), b, draw=lambda left: left[0], ruleset=GOD_V1)
            for state in states
            for b in meetings(Choice("rock"), Choice("rock"))
        ]
    return states


def at_start(layers: dict[Score, Floats]) -> float:
    """What a match is worth to `a` before it begins."""
    starts = _round_start(layers, (0, 0))
    cells = [cell_of(state) % CELLS_OF_PHASE for state in after_opening()]
    return float(starts[cells].mean())


def exploitability(groups: list[Group], layers: dict[Score, Floats], say: Say) -> float:
    """How many matches more than half a best response to `sage` wins, in the coarsened game."""
    return 0.5 - at_start(best_response(groups, layers, say))


def main() -> None:
    """Solve the game, write the table, and print how far from unbeatable it is."""
    parser = argparse.ArgumentParser(prog="python -m engine.apes.solve", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only measure the table that is there")
    options = parser.parse_args()
    groups = explore(_say)
    if not options.check:
        file = table.pack({score: values.tolist() for score, values in solve(groups, _say).items()})
        table.path().write_bytes(file)
        print(f"{table.FILE}: {len(file)} bytes, SHA-256 {hashlib.sha256(file).hexdigest()}")
    print(f"exploitability: {exploitability(groups, shipped(), _say):.4f}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
