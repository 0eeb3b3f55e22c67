"""What the demo saw, and what it must have been: exact arithmetic on whole numbers."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from bas_client import Credits, Side, StatementLine


@dataclass(frozen=True, slots=True)
class DepositFigures:
    """A deposit: what the player sent, what the API says of it, what the vault holds more."""

    symbol: str
    decimals: int
    credits_wanted: int
    credit_price: int
    amount_sent: int
    amount_seen: int
    credits_minted: int
    status: str
    vault_before: int
    vault_after: int


@dataclass(frozen=True, slots=True)
class PlayerFigures:
    """A player's balances along the way, and the whole statement, oldest line first."""

    name: str
    address: str
    deposit: DepositFigures
    at_first: Credits
    minted: Credits
    staked: Credits
    at_last: Credits
    statement: tuple[StatementLine, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """A whole run. `players` are in the order of their sides, a and b."""

    stake: int
    fee_bps: int
    status: str
    ended_by: str | None
    winner: Side | None
    rounds: tuple[int, int]
    secret_hash_at_first: str
    secret_hash: str
    server_secret: str | None
    players: tuple[PlayerFigures, PlayerFigures]

    @property
    def fee(self) -> int:
        """The house's part of the pot, rounded down."""
        return 2 * self.stake * self.fee_bps // 10_000

    @property
    def prize(self) -> int:
        """The winner's part of the pot."""
        return 2 * self.stake - self.fee


def mistakes(figures: Figures) -> list[str]:
    """Return a sentence for each figure that is not what it must be."""
    return [
        *_of_match(figures),
        *(
            f"{player.name}: {mistake}"
            for side, player in zip(("a", "b"), figures.players, strict=True)
            for mistake in (
                *_of_deposit(player.deposit),
                *_of_balances(figures, player, won=figures.winner == side),
                *_of_statement(figures, player, won=figures.winner == side),
            )
        ),
        *_of_all(figures),
    ]


def _differs(what: str, is_: object, must_be: object) -> Iterator[str]:
    if is_ != must_be:
        yield f"{what} is {is_}; it must be {must_be}."


def _of_match(figures: Figures) -> Iterator[str]:
    yield from _differs("the match's status", figures.status, "won")
    yield from _differs("what ended the match", figures.ended_by, "rounds")
    rounds = dict(zip(("a", "b"), figures.rounds, strict=True))
    if figures.winner is None:
        yield "the match has no winner."
    else:
        yield from _differs("rounds of the winner", rounds.pop(figures.winner), 3)
        yield from _differs("the loser's rounds below 3", rounds.popitem()[1] < 3, True)
    yield from _differs(
        "the secret's hash at the end", figures.secret_hash, figures.secret_hash_at_first
    )
    secret = figures.server_secret
    hashed = hashlib.sha256(bytes.fromhex(secret)).hexdigest() if secret else None
    yield from _differs("SHA-256 of the published secret", hashed, figures.secret_hash)


def _of_deposit(deposit: DepositFigures) -> Iterator[str]:
    yield from _differs("the deposit's status", deposit.status, "credited")
    yield from _differs("the amount that was seen", deposit.amount_seen, deposit.amount_sent)
    whole, rest = divmod(deposit.amount_seen, deposit.credit_price)
    yield from _differs("what the deposit leaves over", rest, 0)
    yield from _differs("credits of the deposit", deposit.credits_minted, whole)
    yield from _differs("credits of the deposit", deposit.credits_minted, deposit.credits_wanted)
    growth = deposit.vault_after - deposit.vault_before
    yield from _differs(f"what the vault gained in {deposit.symbol}", growth, deposit.amount_sent)


def _of_balances(figures: Figures, player: PlayerFigures, *, won: bool) -> Iterator[str]:
    bought, stake = player.deposit.credits_minted, figures.stake
    at_end = bought - stake + (figures.prize if won else 0)
    yield from _differs("credits at first", player.at_first, Credits(0, 0, 0))
    yield from _differs("credits after the deposit", player.minted, Credits(bought, 0, 0))
    yield from _differs("credits after the stake", player.staked, Credits(bought - stake, stake, 0))
    yield from _differs("credits at the end", player.at_last, Credits(at_end, 0, 0))


def _of_statement(figures: Figures, player: PlayerFigures, *, won: bool) -> Iterator[str]:
    lines = player.statement
    must_be = [("deposit", player.deposit.credits_minted), ("stake", -figures.stake)]
    if won:
        must_be.append(("payout", figures.prize))
    yield from _differs("the statement", [(line.kind, line.amount) for line in lines], must_be)
    yield from _differs("the statement's causes", len({line.cause for line in lines}), len(lines))
    balance = 0
    for line in lines:
        balance += line.amount
        yield from _differs(f"the statement's balance after {line.kind}", line.balance, balance)
    yield from _differs("the statement's last balance", balance, player.at_last.available)


def _of_all(figures: Figures) -> Iterator[str]:
    """No credit is made or lost on the way: what was bought is held, or the house has it."""
    bought = sum(player.deposit.credits_minted for player in figures.players)
    held = sum(player.at_last.available for player in figures.players)
    yield from _differs("credits held by both at the end", held, bought - figures.fee)
