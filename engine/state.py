"""What a match is at one moment: plain immutable values that go to JSON and back.

They are named tuples, not dataclasses: a movement makes three of them, and a frozen dataclass
takes several times as long to make.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Seat = Literal["a", "b"]
Move = Literal["rock", "paper", "scissors", "wild", "alpha"]
CoreMove = Literal["rock", "paper", "scissors"]
Tribute = Literal["wilds", "alphas"]
Influence = Literal["sun", "water", "moon", "earth"]
Phase = Literal["opening", "sun", "water", "moon", "earth"]
Outcome = Literal["a", "b", "tie"]
Status = Literal["running", "won", "draw", "abandoned"]

CORE_MOVES: tuple[CoreMove, ...] = ("rock", "paper", "scissors")
MOVES: tuple[Move, ...] = (*CORE_MOVES, "wild", "alpha")
TRIBUTES: tuple[Tribute, ...] = ("wilds", "alphas")
INFLUENCES: tuple[Influence, ...] = ("sun", "water", "moon", "earth")

FULL_HEALTH = 10


class IllegalEvent(Exception):
    """An event the rules refuse. `code` is stable, for programs; `reason` is for people."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Choice(NamedTuple):
    """What an ape plays in one movement (rules.md, section 3)."""

    move: Move
    tribute: Tribute | None = None


class Ape(NamedTuple):
    """What an ape has (rules.md, section 1). `misses` counts missed movements in a row."""

    health: int = FULL_HEALTH
    alphas: int = 0
    wilds: int = 0
    potions: int = 0
    streak: int = 0
    rounds: int = 0
    misses: int = 0


class State(NamedTuple):
    """A whole match after some event (rules.md, section 7 tells what each field shows).

    `outcome` is that of the event just applied, `None` if it was no movement. `used` holds the
    influences of this cycle in the order they came, the running one last.
    """

    status: Status = "running"
    winner: Seat | None = None
    round: int = 0
    phase: Phase = "opening"
    movement: int = 1
    in_phase: int = 1
    cycle: int = 0
    sudden_death: bool = False
    a: Ape = Ape()
    b: Ape = Ape()
    outcome: Outcome | None = None
    used: tuple[Influence, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the state as a dict that JSON can hold; `from_json` is its exact inverse."""
        return self._asdict() | {
            "a": self.a._asdict(),
            "b": self.b._asdict(),
            "used": list(self.used),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "State":
        """Return the state that `to_json` wrote. Trusts the values, not the names.

        Raises `KeyError` or `TypeError` if a field is missing or unknown.
        """
        parts = {"a": Ape(**data["a"]), "b": Ape(**data["b"]), "used": tuple(data["used"])}
        if data.keys() != set(cls._fields):
            raise TypeError("not the fields of a state")
        return cls(**{**data, **parts})


class Result(NamedTuple):
    """How a match stands: `winner` is set when, and only when, `status` is `won`."""

    status: Status
    winner: Seat | None
