"""The rulings an operator can see and another ruleset can change (rules.md, all sections)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal

Steals = Literal["held", "played"]

COUNT_LIMIT = 1_000_000
"""The highest value of a counting ruling: above any sane match, below any trouble."""

_COUNTS = ("movements_per_phase", "cycles_per_round", "max_movements")
_FLAGS = (
    "winner_refills",
    "tie_keeps_power_moves",
    "core_loser_to_alpha_gains_wild",
    "tribute_returned_on_win",
)
_STEALS = ("sun_wild_steals", "earth_wild_steals")


class RulesetError(ValueError):
    """A ruling that does not exist, or a value it cannot have."""


@dataclass(frozen=True, slots=True)
class Ruleset:
    """A name and the value of every named ruling. A bad value raises `RulesetError`."""

    name: str
    movements_per_phase: int = 5
    winner_refills: bool = True
    cycles_per_round: int = 3
    max_movements: int = 400
    tie_keeps_power_moves: bool = True
    sun_wild_steals: Steals = "held"
    earth_wild_steals: Steals = "played"
    core_loser_to_alpha_gains_wild: bool = True
    tribute_returned_on_win: bool = False

    def __post_init__(self) -> None:
        # `type(...) is` because True is an int to isinstance.
        for ruling in _COUNTS:
            value = getattr(self, ruling)
            if type(value) is not int or not 1 <= value <= COUNT_LIMIT:
                raise RulesetError(f"{ruling} must be a whole number from 1 to {COUNT_LIMIT}")
        for ruling in _FLAGS:
            if type(getattr(self, ruling)) is not bool:
                raise RulesetError(f"{ruling} must be true or false")
        for ruling in _STEALS:
            if getattr(self, ruling) not in ("held", "played"):
                raise RulesetError(f'{ruling} must be "held" or "played"')


RULINGS = tuple(field.name for field in fields(Ruleset) if field.name != "name")
"""The names of the rulings, in the order they are declared."""

GOD_V1 = Ruleset("god-v1")

RULESETS: Mapping[str, Ruleset] = MappingProxyType({GOD_V1.name: GOD_V1})
"""Every ruleset a match can be started with, by name."""


def ruleset_with(base: Ruleset, overrides: Mapping[str, Any]) -> Ruleset:
    """Return `base` with some rulings changed (the `rulings` of rules.md, section 7).

    Raises `RulesetError` for a name that is no ruling, or a value of the wrong type or range.
    """
    for name in overrides:
        if name not in RULINGS:
            raise RulesetError(f"unknown ruling {name!a:.40}")
    return replace(base, **overrides)
