"""What the API answers with, as immutable values.

Only the fields named here are read, so that a server may add some. Credits are whole numbers;
amounts on the chain are too, in the token's smallest unit (the API writes them as strings).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

Side = Literal["a", "b"]
Move = Literal["rock", "paper", "scissors", "wild", "alpha"]
Tribute = Literal["wilds", "alphas"]
# What makes a deposit count: so many confirmations, or the node's safe or finalized block.
Finality = Literal["confirmations", "safe", "finalized"]
Json = Mapping[str, Any]


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


@dataclass(frozen=True, slots=True)
class Credits:
    """A player's credits. `available` is below zero after a deposit that the chain took back."""

    available: int
    in_play: int
    pending_withdrawal: int

    @classmethod
    def of(cls, data: Json) -> "Credits":
        """Read it from JSON."""
        return cls(int(data["available"]), int(data["in_play"]), int(data["pending_withdrawal"]))


@dataclass(frozen=True, slots=True)
class StatementLine:
    """A change of the available credits, and the balance it left."""

    id: int
    kind: str
    cause: str
    amount: int
    balance: int
    created_at: datetime

    @classmethod
    def of(cls, data: Json) -> "StatementLine":
        """Read it from JSON."""
        return cls(
            id=int(data["id"]),
            kind=data["kind"],
            cause=data["cause"],
            amount=int(data["amount"]),
            balance=int(data["balance"]),
            created_at=datetime.fromisoformat(data["created_at"]),
        )


@dataclass(frozen=True, slots=True)
class Token:
    """A coin that the vault takes; the zero address is the chain's own."""

    address: str
    symbol: str
    decimals: int
    credit_price: int

    @classmethod
    def of(cls, data: Json) -> "Token":
        """Read it from JSON."""
        return cls(
            data["address"], data["symbol"], int(data["decimals"]), int(data["credit_price"])
        )


@dataclass(frozen=True, slots=True)
class Chain:
    """Where to deposit, and how far the server has read the chain."""

    chain_id: int
    name: str
    vault: str
    finality: Finality
    confirmations: int | None
    scanned_block: int
    head_block: int
    tokens: tuple[Token, ...]

    @classmethod
    def of(cls, data: Json) -> "Chain":
        """Read it from JSON."""
        return cls(
            chain_id=int(data["chain_id"]),
            name=data["name"],
            vault=data["vault"],
            finality=data["finality"],
            confirmations=data["confirmations"],
            scanned_block=int(data["scanned_block"]),
            head_block=int(data["head_block"]),
            tokens=tuple(Token.of(token) for token in data["tokens"]),
        )


@dataclass(frozen=True, slots=True)
class Deposit:
    """A deposit, as far as it has come: pending, credited, worthless or orphaned."""

    id: int
    status: str
    token: Token
    amount: int
    credits: int
    confirmations: int
    confirmations_asked: int | None
    finality: Finality
    tx_hash: str
    block_number: int
    seen_at: datetime
    credited_at: datetime | None

    @classmethod
    def of(cls, data: Json) -> "Deposit":
        """Read it from JSON."""
        return cls(
            id=int(data["id"]),
            status=data["status"],
            token=Token.of(data["token"]),
            amount=int(data["amount"]),
            credits=int(data["credits"]),
            confirmations=int(data["confirmations"]),
            confirmations_asked=data["confirmations_asked"],
            finality=data["finality"],
            tx_hash=data["tx_hash"],
            block_number=int(data["block_number"]),
            seen_at=datetime.fromisoformat(data["seen_at"]),
            credited_at=_time(data["credited_at"]),
        )


@dataclass(frozen=True, slots=True)
class Voucher:
    """What the vault's `withdraw` takes. Anyone may send it; it pays `player` alone."""

    chain_id: int
    vault: str
    player: str
    token: str
    amount: int
    id: int
    deadline: int
    signature: str

    @classmethod
    def of(cls, data: Json) -> "Voucher":
        """Read it from JSON."""
        return cls(
            chain_id=int(data["chain_id"]),
            vault=data["vault"],
            player=data["player"],
            token=data["token"],
            amount=int(data["amount"]),
            id=int(data["id"]),
            deadline=int(data["deadline"]),
            signature=data["signature"],
        )


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A withdrawal, as far as it has come; `voucher` is there while it is of use."""

    id: int
    status: str
    waiting_for: str
    credits: int
    token: Token
    amount: int
    voucher: Voucher | None
    deadline: datetime | None
    tx_hash: str | None
    confirmations: int
    confirmations_asked: int | None
    finality: Finality
    requested_at: datetime
    ended_at: datetime | None

    @classmethod
    def of(cls, data: Json) -> "Withdrawal":
        """Read it from JSON."""
        return cls(
            id=int(data["id"]),
            status=data["status"],
            waiting_for=data["waiting_for"],
            credits=int(data["credits"]),
            token=Token.of(data["token"]),
            amount=int(data["amount"]),
            voucher=Voucher.of(data["voucher"]) if data["voucher"] else None,
            deadline=_time(data["deadline"]),
            tx_hash=data["tx_hash"],
            confirmations=int(data["confirmations"]),
            confirmations_asked=data["confirmations_asked"],
            finality=data["finality"],
            requested_at=datetime.fromisoformat(data["requested_at"]),
            ended_at=_time(data["ended_at"]),
        )


@dataclass(frozen=True, slots=True)
class Choice:
    """What an ape plays in a movement."""

    move: Move
    tribute: Tribute | None = None

    @classmethod
    def of(cls, data: Json) -> "Choice":
        """Read it from JSON."""
        return cls(data["move"], data["tribute"])

    def __str__(self) -> str:
        return self.move if self.tribute is None else f"{self.move} (tribute: {self.tribute})"


@dataclass(frozen=True, slots=True)
class Ape:
    """An ape, as both players see it."""

    health: int
    alphas: int
    wilds: int
    potions: int
    streak: int
    rounds: int
    misses: int
    locked_in: bool
    revealed: bool

    @classmethod
    def of(cls, data: Json) -> "Ape":
        """Read it from JSON."""
        return cls(
            health=int(data["health"]),
            alphas=int(data["alphas"]),
            wilds=int(data["wilds"]),
            potions=int(data["potions"]),
            streak=int(data["streak"]),
            rounds=int(data["rounds"]),
            misses=int(data["misses"]),
            locked_in=bool(data["locked_in"]),
            revealed=bool(data["revealed"]),
        )


@dataclass(frozen=True, slots=True)
class Movement:
    """A movement that is over; None for an ape that missed it."""

    movement: int
    a: Choice | None
    b: Choice | None

    @classmethod
    def of(cls, data: Json) -> "Movement":
        """Read it from JSON."""
        a, b = (None if data[side] is None else Choice.of(data[side]) for side in ("a", "b"))
        return cls(int(data["movement"]), a, b)


@dataclass(frozen=True, slots=True)
class Play:
    """Where a match stands. `stage` and `deadline` are None once it has ended."""

    round: int
    phase: str
    movement: int
    in_phase: int
    cycle: int
    sudden_death: bool
    stage: str | None
    deadline: datetime | None
    a: Ape
    b: Ape
    last_movement: Movement | None
    legal_choices: tuple[Choice, ...]

    @classmethod
    def of(cls, data: Json) -> "Play":
        """Read it from JSON."""
        last = data["last_movement"]
        return cls(
            round=int(data["round"]),
            phase=data["phase"],
            movement=int(data["movement"]),
            in_phase=int(data["in_phase"]),
            cycle=int(data["cycle"]),
            sudden_death=bool(data["sudden_death"]),
            stage=data["stage"],
            deadline=_time(data["deadline"]),
            a=Ape.of(data["apes"]["a"]),
            b=Ape.of(data["apes"]["b"]),
            last_movement=None if last is None else Movement.of(last),
            legal_choices=tuple(Choice.of(choice) for choice in data["legal_choices"]),
        )


@dataclass(frozen=True, slots=True)
class MatchCard:
    """A match in a list. `players` are addresses, by side."""

    id: str
    status: str
    visibility: str
    stake: int
    fee_bps: int
    ruleset: str
    players: Mapping[Side, str]
    winner: Side | None
    ended_by: str | None

    @classmethod
    def of(cls, data: Json) -> "MatchCard":
        """Read it from JSON."""
        return cls(**card_fields(data))


def card_fields(data: Json) -> dict[str, Any]:
    """Read what all that shows a match has, from JSON."""
    return {
        "id": data["id"],
        "status": data["status"],
        "visibility": data["visibility"],
        "stake": int(data["stake"]),
        "fee_bps": int(data["fee_bps"]),
        "ruleset": data["ruleset"],
        "players": dict(data["players"]),
        "winner": data["winner"],
        "ended_by": data["ended_by"],
    }


@dataclass(frozen=True, slots=True)
class Rematch:
    """A rematch that is offered, or was accepted; `by` is its maker's side in the first match."""

    match: str
    by: Side
    status: str

    @classmethod
    def of(cls, data: Json) -> "Rematch":
        """Read it from JSON."""
        return cls(data["match"], data["by"], data["status"])


@dataclass(frozen=True, slots=True)
class Match(MatchCard):
    """A whole match, as you may see it. `play` is None before the start.

    `invitation` is shown to the match's maker, to pass on; `server_secret` to all, at the end;
    `rematch` to its two players, then.
    """

    you: Side | None
    invitation: str | None
    secret_hash: str
    server_secret: str | None
    rematch: Rematch | None
    play: Play | None

    @classmethod
    def of(cls, data: Json) -> "Match":
        """Read it from JSON."""
        return cls(
            **card_fields(data),
            you=data["you"],
            invitation=data["invitation"],
            secret_hash=data["secret_hash"],
            server_secret=data["server_secret"],
            rematch=None if data["rematch"] is None else Rematch.of(data["rematch"]),
            play=None if data["play"] is None else Play.of(data["play"]),
        )
