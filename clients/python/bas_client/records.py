"""What the API tells of players, logins, and what happens, as immutable values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Self

from bas_client.models import Json, MatchCard, Side, card_fields

Result = Literal["won", "lost", "drawn", "abandoned", "voided"]
Scope = Literal["read", "play", "money"]


@dataclass(frozen=True, slots=True)
class Player:
    """A player's record. `rating` and `deviation` are None before the first rated match."""

    address: str
    rating: int | None
    deviation: int | None
    provisional: bool
    played: int
    won: int
    lost: int
    drawn: int
    rank: int | None = None  # on the leaderboard alone
    since: datetime | None = None  # off the leaderboard alone

    @classmethod
    def of(cls, data: Json) -> Self:
        """Read it from JSON."""
        since = data.get("since")
        return cls(
            address=data["address"],
            rating=data["rating"],
            deviation=data["deviation"],
            provisional=bool(data["provisional"]),
            played=int(data["played"]),
            won=int(data["won"]),
            lost=int(data["lost"]),
            drawn=int(data["drawn"]),
            rank=data.get("rank"),
            since=None if since is None else datetime.fromisoformat(since),
        )


@dataclass(frozen=True, slots=True)
class PastMatch(MatchCard):
    """A match that has ended, from where one of its players sat. `payout` is in credits."""

    side: Side
    opponent: str
    result: Result
    payout: int

    @classmethod
    def of(cls, data: Json) -> "PastMatch":
        """Read it from JSON."""
        return cls(
            **card_fields(data),
            side=data["side"],
            opponent=data["opponent"],
            result=data["result"],
            payout=int(data["payout"]),
        )


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """How the matches of two players have ended, for the first of them."""

    address: str
    against: str
    won: int
    lost: int
    drawn: int

    @classmethod
    def of(cls, data: Json) -> Self:
        """Read it from JSON."""
        counts = (int(data[name]) for name in ("won", "lost", "drawn"))
        return cls(data["address"], data["against"], *counts)


@dataclass(frozen=True, slots=True)
class HouseApe:
    """An ape of the house, to practise against."""

    name: str
    description: str
    address: str

    @classmethod
    def of(cls, data: Json) -> Self:
        """Read it from JSON."""
        return cls(data["name"], data["description"], data["address"])


@dataclass(frozen=True, slots=True)
class Login:
    """A session or a token of yours. `current` is the one that asked."""

    id: str
    kind: Literal["session", "token"]
    name: str
    scope: Scope
    current: bool
    user_agent: str
    address_prefix: str
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime

    @classmethod
    def of(cls, data: Json) -> Self:
        """Read it from JSON."""
        return cls(
            id=data["id"],
            kind=data["kind"],
            name=data["name"],
            scope=data["scope"],
            current=bool(data["current"]),
            user_agent=data["user_agent"],
            address_prefix=data["address_prefix"],
            created_at=datetime.fromisoformat(data["created_at"]),
            last_used_at=datetime.fromisoformat(data["last_used_at"]),
            expires_at=datetime.fromisoformat(data["expires_at"]),
        )


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a match; `clock`, which has no number, says what runs now."""

    kind: str
    n: int | None
    data: Mapping[str, Any]
