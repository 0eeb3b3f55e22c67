"""The house's apes: strategies for the game, for practice and for tournaments.

A strategy is a function of what its player sees and of chance that is passed in: it can't know what
the other ape has locked in, for it is never told.
"""

from collections.abc import Callable, Mapping
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from engine.apes import simple
from engine.apes.sage import sage
from engine.apes.turn import Turn, seen_by
from engine.ruleset import Ruleset
from engine.state import State

__all__ = ["APES", "HouseApe", "Strategy", "Turn", "seen_by"]

Strategy = Callable[[State, Ruleset, Random], Turn]
"""Plays for ape `a` of a state made by `seen_by`, in a match that is running."""


class HouseApe(NamedTuple):
    """A strategy with a name, and a sentence for players who choose whom to meet."""

    name: str
    description: str
    play: Strategy


APES: Mapping[str, HouseApe] = MappingProxyType(
    {
        ape.name: ape
        for ape in (
            HouseApe("drifter", "Plays anything it may, at random.", simple.drifter),
            HouseApe("bruiser", "Throws an alpha whenever it holds one.", simple.bruiser),
            HouseApe("boxer", "Counts your alphas and wilds, and counters them.", simple.boxer),
            HouseApe("sage", "Plays the solved game, and has no habit to read.", sage),
        )
    }
)
