"""The rules of GOD mode as a pure library: an immutable state, its legal choices, and what follows.

Nothing here reads a clock, a file or a random number: the caller brings the choices and the draws.
"""

from engine.play import Draw, drink, legal_choices, resign, resolve, result, start
from engine.ruleset import GOD_V1, RULESETS, RULINGS, Ruleset, RulesetError, ruleset_with
from engine.state import (
    INFLUENCES,
    MOVES,
    TRIBUTES,
    Ape,
    Choice,
    IllegalEvent,
    Influence,
    Move,
    Outcome,
    Phase,
    Result,
    Seat,
    State,
    Status,
    Tribute,
)

__all__ = [
    "GOD_V1",
    "INFLUENCES",
    "MOVES",
    "RULESETS",
    "RULINGS",
    "TRIBUTES",
    "Ape",
    "Choice",
    "Draw",
    "IllegalEvent",
    "Influence",
    "Move",
    "Outcome",
    "Phase",
    "Result",
    "Ruleset",
    "RulesetError",
    "Seat",
    "State",
    "Status",
    "Tribute",
    "drink",
    "legal_choices",
    "resign",
    "resolve",
    "result",
    "ruleset_with",
    "start",
]
