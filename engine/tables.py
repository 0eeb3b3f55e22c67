"""The tables of the rules, as data (rules.md, sections 3 and 4)."""

from functools import cache
from typing import NamedTuple

from engine.ruleset import Steals
from engine.state import (
    CORE_MOVES,
    INFLUENCES,
    MOVES,
    TRIBUTES,
    Choice,
    Move,
    Outcome,
    Phase,
    Tribute,
)

Cost = tuple[int, int]
"""Alphas and wilds, in this order."""

MOVE_COST: dict[Move, Cost] = {
    "rock": (0, 0),
    "paper": (0, 0),
    "scissors": (0, 0),
    "wild": (0, 1),
    "alpha": (1, 0),
}

TRIBUTE_COST: dict[Tribute | None, Cost] = {None: (0, 0), "wilds": (0, 2), "alphas": (3, 0)}

CHOICES = tuple([Choice(move, tribute) for move in MOVES for tribute in (None, *TRIBUTES)])

COST: dict[Choice | None, Cost] = {None: (0, 0)} | {
    choice: (
        MOVE_COST[choice.move][0] + TRIBUTE_COST[choice.tribute][0],
        MOVE_COST[choice.move][1] + TRIBUTE_COST[choice.tribute][1],
    )
    for choice in CHOICES
}
"""What a choice takes out of an ape's hands; a missed movement (`None`) takes nothing."""

BEATS: dict[Move, tuple[Move, ...]] = {
    "rock": ("scissors", "wild"),
    "paper": ("rock", "wild"),
    "scissors": ("paper", "wild"),
    "wild": ("alpha",),
    "alpha": CORE_MOVES,
}


class Effect(NamedTuple):
    """What a win does once tributes and played power moves are set aside.

    A played power move is gone unless the effect says otherwise, so "kept" and "passes to the
    winner" are gains here. No two steps of one row touch the same count, but for the loser's new
    wild, which comes last: so the order of the fields is free.
    """

    damage: int = 0  # the loser's health
    heal: int = 0  # the winner's health
    drain: int = 0  # health that moves from the loser to the winner
    alphas: int = 0  # gained by the winner
    wilds: int = 0
    potions: int = 0
    steal_alpha: int = 0  # held by the loser, to the winner
    destroy_alpha: int = 0  # held by the loser
    destroy_wild: int = 0
    loser_wilds: int = 0  # gained by the loser


CORE_BEATS_CORE: dict[Phase, Effect] = {
    "opening": Effect(alphas=1, loser_wilds=1),
    "sun": Effect(damage=2, steal_alpha=1, loser_wilds=1),
    "water": Effect(damage=3, heal=1, loser_wilds=1),
    "moon": Effect(damage=2, alphas=1, loser_wilds=1),
    "earth": Effect(damage=2, destroy_alpha=1, destroy_wild=1, loser_wilds=1),
}

ALPHA_BEATS_CORE: dict[Phase, Effect] = {
    "sun": Effect(damage=3),
    "water": Effect(heal=3),
    "moon": Effect(damage=3, alphas=1, destroy_wild=1),
    "earth": Effect(damage=3, destroy_wild=1),
}

WILD_BEATS_ALPHA: dict[tuple[Phase, Steals | None], Effect] = {
    ("sun", "held"): Effect(wilds=1, steal_alpha=1),
    ("sun", "played"): Effect(wilds=1, alphas=1),
    ("water", None): Effect(drain=3),
    ("moon", None): Effect(damage=3, wilds=1),
    ("earth", "held"): Effect(steal_alpha=1, potions=1),
    ("earth", "played"): Effect(alphas=1, potions=1),
}

Outcomes = dict[tuple[Phase, Move | None, Move | None], tuple[Outcome, Effect]]


@cache
def outcomes(
    sun_wild_steals: Steals, earth_wild_steals: Steals, alpha_gives_wild: bool
) -> Outcomes:
    """Return, for a phase and the moves of a and b (`None`: missed), who wins and what it does."""
    readings: dict[Phase, Steals] = {"sun": sun_wild_steals, "earth": earth_wild_steals}

    def effect(phase: Phase, won: Move | None, lost: Move | None) -> Effect:
        core = CORE_BEATS_CORE[phase]
        if lost is None or lost == "wild":
            return core._replace(loser_wilds=0)
        if won == "alpha":
            return ALPHA_BEATS_CORE[phase]._replace(loser_wilds=int(alpha_gives_wild))
        if won == "wild":
            return WILD_BEATS_ALPHA[phase, readings.get(phase)]
        return core

    table: Outcomes = {}
    phases: tuple[Phase, ...] = ("opening", *INFLUENCES)
    for phase in phases:
        moves = CORE_MOVES if phase == "opening" else MOVES
        for a in (*moves, None):
            for b in (*moves, None):
                if _beats(a, b):
                    table[phase, a, b] = "a", effect(phase, a, b)
                elif _beats(b, a):
                    table[phase, a, b] = "b", effect(phase, b, a)
                else:
                    table[phase, a, b] = "tie", Effect()
    return table


def _beats(one: Move | None, other: Move | None) -> bool:
    return one is not None and (other is None or other in BEATS[one])
