"""Wallets with credits, and a look at every balance, for the ledger's tests."""

import os
from collections.abc import Callable
from contextlib import contextmanager
from itertools import count

import pytest
from django.db import DatabaseError, connection, transaction

from wallets import ledger
from wallets.accounts import wallet_for
from wallets.models import Account, Wallet

_serial = count(1)


def new_wallet(credits_: int = 0) -> Wallet:
    """A wallet of a fresh address, with credits from a made-up deposit."""
    number = next(_serial)
    wallet = wallet_for(f"0x{number:040x}")
    if credits_:
        ledger.mint(wallet=wallet, credits_=credits_, key=f"deposit:test:{number}")
    return wallet


def new_escrow() -> Account:
    """An empty account of a made-up match."""
    return ledger.open_account(kind=Account.Kind.ESCROW, key=f"match:test-{next(_serial)}")


def available(wallet: Wallet) -> int:
    """A wallet's own credits."""
    return ledger.balance(ledger.player_account(wallet))


def all_balances() -> dict[str, int]:
    """Every account's balance, by its key."""
    return {account.key: ledger.balance(account) for account in Account.objects.all()}


@contextmanager
def as_app_role():
    """Be the role that the web servers and workers log in with."""
    role = os.environ["DATABASE_APP_ROLE"]
    with connection.cursor() as cursor:
        cursor.execute(f"SET ROLE {role}")
        try:
            yield cursor
        finally:
            cursor.execute("RESET ROLE")


@contextmanager
def refused(sqlstate: str | None = None):
    """Expect the database to refuse the block, at the latest at commit, with this SQLSTATE."""
    with pytest.raises(DatabaseError) as caught, transaction.atomic():
        yield
    if sqlstate:
        assert caught.value.__cause__.sqlstate == sqlstate


def nothing_changes(action: Callable[[], object]) -> None:
    """Run an action that is refused by whatever it raises; no row of the ledger may have moved."""
    before = ledger_rows()
    with pytest.raises(Exception):  # noqa: B017, PT011 - the caller has checked which
        action()
    assert ledger_rows() == before


def ledger_rows() -> list[tuple]:
    """Every row of the ledger."""
    rows = []
    with connection.cursor() as cursor:
        for table in ("wallets_account", "wallets_transfer", "wallets_posting"):
            cursor.execute(f"SELECT * FROM {table} ORDER BY id")
            rows += cursor.fetchall()
    return rows
