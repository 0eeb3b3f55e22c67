"""The coarsened game that `sage` is solved from: few enough cells to visit them all.

A cell is what counts most of a round in progress, seen by ape `a`: the influence, whose streak
runs, both apes' health, alphas and wilds, each capped. A potion in hand counts as the health that
it will give. Not in a cell: how long the influence, the cycle and the match still last.
"""

from math import prod

from engine.play import POTION_HEALTH, legal_choices
from engine.ruleset import Ruleset
from engine.state import INFLUENCES, Ape, Choice, Seat, State

HEALTHS = 10
"""Health, potions included, counts from 1 to this."""
COUNTS = 3
"""Alphas, and wilds, count from 0 to one less than this."""
STREAKS = ((0, 0), (1, 0), (2, 0), (0, 1), (0, 2))
"""The streaks that two apes can have at once: a win of one ends the other's."""
SHAPE = (len(INFLUENCES), len(STREAKS), HEALTHS, HEALTHS, COUNTS, COUNTS, COUNTS, COUNTS)
CELLS = prod(SHAPE)
CELLS_OF_PHASE = CELLS // len(INFLUENCES)

SCORES = ((2, 2), (2, 1), (1, 1), (2, 0), (1, 0), (0, 0))
"""Rounds won by `a` and `b` when a round begins; the other scores are these, mirrored. Each comes
after those that it leads to."""

SEATS: tuple[Seat, Seat] = ("a", "b")


def kinds(state: State, seat: Seat, ruleset: Ruleset) -> list[Choice]:
    """Return the legal choices that differ: the rules treat rock, paper and scissors alike.

    An equilibrium plays each of the three as often, and rock stands for any of them.
    """
    legal = legal_choices(state, seat, ruleset)
    return [choice for choice in legal if choice.move not in ("paper", "scissors")]


def meetings(a: Choice, b: Choice) -> tuple[Choice, ...]:
    """Return what `b` plays when these kinds meet, each equally likely, against `a` as it is."""
    if a.move == b.move == "rock":
        return b, b._replace(move="scissors"), b._replace(move="paper")
    return (b,)


def cell_of(state: State) -> int:
    """Return the cell of a state in a round."""
    a, b = state.a, state.b
    cell = INFLUENCES.index(state.phase)
    cell = cell * len(STREAKS) + STREAKS.index((a.streak, b.streak))
    cell = cell * HEALTHS + min(a.health + POTION_HEALTH * a.potions, HEALTHS) - 1
    cell = cell * HEALTHS + min(b.health + POTION_HEALTH * b.potions, HEALTHS) - 1
    for count in (a.alphas, b.alphas, a.wilds, b.wilds):
        cell = cell * COUNTS + min(count, COUNTS - 1)
    return cell


def state_at(cell: int) -> State:
    """Return the plainest state of a cell, in the middle of an influence."""
    parts = []
    for size in reversed(SHAPE):
        cell, part = divmod(cell, size)
        parts.append(part)
    wilds_b, wilds_a, alphas_b, alphas_a, health_b, health_a, streak, phase = parts
    streak_a, streak_b = STREAKS[streak]
    return State(
        round=1,
        phase=INFLUENCES[phase],
        movement=5,
        in_phase=2,
        cycle=1,
        a=Ape(health_a + 1, alphas_a, wilds_a, streak=streak_a),
        b=Ape(health_b + 1, alphas_b, wilds_b, streak=streak_b),
        used=(INFLUENCES[phase],),
    )


def mirrored(state: State) -> State:
    """Return the state with the apes in each other's place."""
    return state._replace(a=state.b, b=state.a)
