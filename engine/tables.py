"""The tables of the rules, as data (rules.md, sections 3 and 4)."""

from functools import cache
from typing import NamedTuple, TypeGuard

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


class Meeting(NamedTuple):
    """What comes of two choices: who wins, and what that does to whom.

    An ape needs what it plays and offers. What it costs is less where something is given back.
    """

    outcome: Outcome
    effect: Effect
    need_a: Cost
    need_b: Cost
    cost_a: Cost
    cost_b: Cost


Meetings = dict[tuple[Phase, Choice | None, Choice | None], Meeting]


@cache
def meetings(
    sun_wild_steals: Steals,
    earth_wild_steals: Steals,
    alpha_gives_wild: bool,
    tie_keeps_power_moves: bool,
    tribute_returned_on_win: bool,
) -> Meetings:
    """Return what comes of any two choices (`None`: missed) in any phase, under these rulings."""
    readings: dict[Phase, Steals] = {"sun": sun_wild_steals, "earth": earth_wild_steals}

    def effect(phase: Phase, won: Choice, lost: Choice | None) -> Effect:
        if lost and won.move == "wild":
            done = WILD_BEATS_ALPHA[phase, readings.get(phase)]
        elif lost and won.move == "alpha":
            done = ALPHA_BEATS_CORE[phase]._replace(loser_wilds=int(alpha_gives_wild))
        else:
            done = _core_effect(phase, lost)
        return done._replace(potions=done.potions + 1) if lost and won.tribute else done

    def cost_of_winning(won: Choice, lost: Choice | None) -> Cost:
        if lost is None:  # against an absent ape all comes back, as if nothing had been played
            return COST[None]
        return MOVE_COST[won.move] if tribute_returned_on_win else COST[won]

    def cost_of_tying(tied: Choice | None) -> Cost:
        if tied is None or not tie_keeps_power_moves:
            return COST[tied]
        return TRIBUTE_COST[tied.tribute]

    def meeting(phase: Phase, a: Choice | None, b: Choice | None) -> Meeting:
        needs = COST[a], COST[b]
        if _beats(a, b):
            return Meeting("a", effect(phase, a, b), *needs, cost_of_winning(a, b), COST[b])
        if _beats(b, a):
            return Meeting("b", effect(phase, b, a), *needs, COST[a], cost_of_winning(b, a))
        return Meeting("tie", Effect(), *needs, cost_of_tying(a), cost_of_tying(b))

    bare_cores = [Choice(move) for move in CORE_MOVES]
    phases: tuple[Phase, ...] = ("opening", *INFLUENCES)
    return {
        (phase, a, b): meeting(phase, a, b)
        for phase in phases
        for choices in [bare_cores if phase == "opening" else CHOICES]
        for a in (*choices, None)
        for b in (*choices, None)
    }


def _core_effect(phase: Phase, lost: Choice | None) -> Effect:
    core = CORE_BEATS_CORE[phase]
    return core if lost and lost.move in CORE_MOVES else core._replace(loser_wilds=0)


def _beats(one: Choice | None, other: Choice | None) -> TypeGuard[Choice]:
    return one is not None and (other is None or other.move in BEATS[one.move])
