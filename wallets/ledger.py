"""The ledger: the only code that moves credits.

Double-entry, integer credits, append-only. Each transfer has a key, the name of its cause
("deposit:…", "payout:…"), that is unique in the database: the same transfer posted again returns
the first one, so every caller may simply try again. Postgres holds the truths (wallets/sql).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from wallets.db import refusals_explained, retried
from wallets.errors import LedgerRefusal
from wallets.models import Account, Transfer, Wallet

CREDITS = "credits"

POST = """
    SELECT transfer_id, replayed FROM ledger_post(
        %s::text[], %s::text[], %s::text[], %s::bigint[], %s::int[], %s::bigint[], %s::numeric[])
"""


@dataclass(frozen=True, slots=True)
class Leg:
    """Credits that an account gains (or, below zero, gives) in a transfer."""

    account: int
    amount: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A transfer yet to be posted."""

    key: str
    kind: Transfer.Kind
    legs: Sequence[Leg]
    memo: str = ""
    reverses: int | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """A posted transfer; `replayed` if an earlier call had posted it."""

    transfer_id: int
    replayed: bool


@retried
def post(*drafts: Draft) -> list[Receipt]:
    """Post transfers, all or none, in one round trip.

    It is one statement: where no transaction is open, it needs none to be opened for it. Raises
    InsufficientCredits if an account would go below zero, IdempotencyConflict if a key stands for
    another transfer, LedgerRefusal for what is no valid transfer. After any of them the caller's
    transaction is void: nothing at all has happened.
    """
    if any(not 0 < abs(leg.amount) < 10**78 for draft in drafts for leg in draft.legs):
        raise LedgerRefusal("A leg moves 1 to 10^78 - 1 credits.")
    legs = [(place, leg) for place, draft in enumerate(drafts, 1) for leg in draft.legs]
    arrays: list[Any] = [
        [draft.key for draft in drafts],
        [draft.kind.value for draft in drafts],
        [draft.memo for draft in drafts],
        [draft.reverses for draft in drafts],
        [place for place, _ in legs],
        [leg.account for _, leg in legs],
        [leg.amount for _, leg in legs],
    ]
    with refusals_explained(), connection.cursor() as cursor:
        cursor.execute(POST, arrays)
        return [Receipt(*row) for row in cursor.fetchall()]


def open_account(
    *, kind: Account.Kind, key: str, wallet: Wallet | None = None, asset: str = CREDITS
) -> Account:
    """The account with this key, opened with nothing in it if there is none yet."""
    account, _ = Account.objects.get_or_create(
        asset_id=asset, key=key, defaults={"kind": kind, "wallet": wallet}
    )
    return account


def system_account(kind: Account.Kind, *, asset: str = CREDITS) -> Account:
    """The one account of a kind that belongs to nobody: vault, fees or house."""
    return open_account(kind=kind, key=kind.value, asset=asset)


def player_account(wallet: Wallet, *, asset: str = CREDITS) -> Account:
    """The account with the credits that a player is free to use."""
    return open_account(
        kind=Account.Kind.AVAILABLE, key=f"wallet:{wallet.pk}", wallet=wallet, asset=asset
    )


def balance(account: Account) -> int:
    """Credits in an account, this moment's; never a sum over its whole history."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT ledger_balance(%s)", [account.pk])
        (credits_now,) = cursor.fetchone()
    return int(credits_now)


def balance_at(account: Account, moment: datetime) -> int:
    """Credits that were in an account at a moment."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT ledger_balance_at(%s, %s)", [account.pk, moment])
        (credits_then,) = cursor.fetchone()
    return int(credits_then)


def move(
    *, kind: Transfer.Kind, key: str, source: Account, target: Account, amount: int
) -> Receipt:
    """Move credits from one account to another. Raises what `post` raises."""
    if amount <= 0:
        raise LedgerRefusal(f"{key}: {amount} credits can't be moved")
    (receipt,) = post(
        Draft(key=key, kind=kind, legs=[Leg(source.pk, -amount), Leg(target.pk, amount)])
    )
    return receipt


def mint(*, wallet: Wallet, credits_: int, key: str) -> Receipt:
    """Give a player the credits of a deposit that the chain has confirmed."""
    return move(
        kind=Transfer.Kind.DEPOSIT,
        key=key,
        source=system_account(Account.Kind.VAULT),
        target=player_account(wallet),
        amount=credits_,
    )


def take_back(transfers: Sequence[Transfer]) -> list[Receipt]:
    """Reverse deposits that the chain took back; their players may be left below zero.

    All or none. Their postings may be prefetched. Raises LedgerRefusal if any of them is reversed.
    """
    kind = Transfer.Kind.DEPOSIT_REVERSAL
    return post(*(_mirror(t, key=f"{t.key}:reversed", kind=kind) for t in transfers))


def reverse(*, transfer: Transfer, key: str, memo: str = "") -> Receipt:
    """Undo a whole transfer by its mirror image. Raises LedgerRefusal if any of it is undone."""
    (receipt,) = post(_mirror(transfer, key=key, kind=Transfer.Kind.REVERSAL, memo=memo))
    return receipt


def _mirror(transfer: Transfer, *, key: str, kind: Transfer.Kind, memo: str = "") -> Draft:
    postings = sorted(transfer.postings.all(), key=lambda posting: posting.pk)
    legs = [Leg(posting.account_id, -posting.amount) for posting in postings]
    return Draft(key=key, kind=kind, legs=legs, memo=memo, reverses=transfer.pk)
