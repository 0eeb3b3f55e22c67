"""Strategies that a rule of thumb describes."""

from random import Random

from engine.apes.turn import HARDEST_BLOW, HURT, Turn, potions_at
from engine.play import legal_choices
from engine.ruleset import Ruleset
from engine.state import CORE_MOVES, Choice, State

SPARE_WILDS = 4
"""From here on, two wilds are better spent on a chance of a potion."""


def drifter(state: State, ruleset: Ruleset, rng: Random) -> Turn:
    """Any legal choice with the same chance, and half of the time a potion if it is hurt."""
    potions = potions_at(HURT, state)
    return Turn(min(potions, rng.randrange(2)), rng.choice(legal_choices(state, "a", ruleset)))


def bruiser(state: State, ruleset: Ruleset, rng: Random) -> Turn:
    """The hardest blow it has: an alpha if it holds one. It drinks as soon as it is hurt."""
    potions = potions_at(HURT, state)
    if state.a.alphas and state.phase != "opening":
        return Turn(potions, Choice("alpha"))
    return Turn(potions, Choice(rng.choice(CORE_MOVES)))


def boxer(state: State, ruleset: Ruleset, rng: Random) -> Turn:
    """What the other ape's counts invite: an alpha where no wild can meet it, a wild for an alpha.

    It keeps its potions until the next blow could end the round.
    """
    own, other = state.a, state.b
    potions = potions_at(HARDEST_BLOW, state)
    if state.phase != "opening":
        if own.alphas and not other.wilds:
            return Turn(potions, Choice("alpha"))
        if own.wilds and other.alphas and rng.random() < 0.5:
            return Turn(potions, Choice("wild"))
        if own.wilds >= SPARE_WILDS:
            return Turn(potions, Choice(rng.choice(CORE_MOVES), "wilds"))
    return Turn(potions, Choice(rng.choice(CORE_MOVES)))
