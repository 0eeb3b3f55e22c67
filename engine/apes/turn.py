"""What a strategy is shown, and what it answers."""

from typing import NamedTuple

from engine.play import POTION_HEALTH, drink
from engine.ruleset import Ruleset
from engine.state import FULL_HEALTH, Choice, Seat, State

HARDEST_BLOW = 3
"""No movement costs more health than this (rules.md, section 4)."""

HURT = FULL_HEALTH - POTION_HEALTH
"""The highest health at which no point of a potion is wasted."""


class Turn(NamedTuple):
    """What an ape does before and in a movement: drinks so many potions, then plays its choice."""

    potions: int
    choice: Choice


def seen_by(state: State, seat: Seat) -> State:
    """Return a running match as the player at `seat` sees it: that ape is `a`, the other is `b`.

    Built field by field out of what both players are shown (rules.md, section 1).
    """
    own, other = (state.a, state.b) if seat == "a" else (state.b, state.a)
    return State(
        round=state.round,
        phase=state.phase,
        movement=state.movement,
        in_phase=state.in_phase,
        cycle=state.cycle,
        sudden_death=state.sudden_death,
        used=state.used,
        a=own,
        b=other,
    )


def potions_at(health: int, state: State) -> int:
    """Return how many potions it takes ape `a` to get above this health, as far as it has them."""
    if state.phase == "opening":
        return 0
    missing = health + 1 - state.a.health
    return max(0, min(state.a.potions, -(-missing // POTION_HEALTH)))


def after_potions(state: State, potions: int, ruleset: Ruleset) -> State:
    """Return the state once ape `a` has drunk so many potions."""
    for _ in range(potions):
        state = drink(state, "a", ruleset)
    return state
