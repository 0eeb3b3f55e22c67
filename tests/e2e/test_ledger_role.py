"""What the programs of the stack log in as can't write the ledger past its function."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import errors

from bas_site.devstack.stack import Stack
from tests.e2e.helpers import Player, sql

pytestmark = pytest.mark.xdist_group("stack")

STATEMENTS = [
    *(
        statement.format(table=table)
        for table in ("wallets_posting", "wallets_transfer")
        for statement in (
            "INSERT INTO {table} SELECT * FROM {table} LIMIT 1",
            "INSERT INTO {table} DEFAULT VALUES",
            "UPDATE {table} SET id = id",
            "DELETE FROM {table}",
            "TRUNCATE {table}",
            "TRUNCATE {table} CASCADE",
            "ALTER TABLE {table} DISABLE TRIGGER ALL",
            "DROP TABLE {table}",
        )
    ),
    "UPDATE wallets_account SET balance = balance + 1",
    "UPDATE wallets_account SET version = version",
    "DELETE FROM wallets_account",
    "TRUNCATE wallets_account CASCADE",
    "ALTER TABLE wallets_account DISABLE TRIGGER ALL",
    "SET session_replication_role = replica",
    "SET ROLE bas_owner",
]


@pytest.fixture
def app(stack: Stack) -> Iterator[psycopg.Connection]:
    with psycopg.connect(stack.env["DATABASE_URL"]) as connection:
        yield connection


def counts(stack: Stack) -> list[tuple[int, ...]]:
    return sql(
        stack,
        "SELECT (SELECT count(*) FROM wallets_posting), (SELECT count(*) FROM wallets_transfer), "
        "(SELECT count(*) FROM wallets_account), (SELECT sum(balance) FROM wallets_account)",
    )


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_applications_role_is_refused(
    stack: Stack, app: psycopg.Connection, statement: str
) -> None:
    assert app.execute("SELECT current_user").fetchone() == ("bas_app",)
    before = counts(stack)
    with pytest.raises(errors.InsufficientPrivilege):
        app.execute(statement)
    app.rollback()
    assert counts(stack) == before


def test_an_account_can_be_opened_only_empty(
    stack: Stack, app: psycopg.Connection, player: Player
) -> None:
    query = "SELECT asset_id, wallet_id FROM wallets_account WHERE wallet_id IS NOT NULL LIMIT 1"
    ((asset, wallet),) = sql(stack, query)
    forged = (
        "INSERT INTO wallets_account (asset_id, kind, key, wallet_id, balance, version, "
        "created_at) VALUES (%s, 'available', 'forged', %s, 1000, 0, now())"
    )

    def forge() -> None:
        app.execute(forged, (asset, wallet))
        # A balance that its postings don't add up to may be found only here.
        app.commit()

    with pytest.raises(psycopg.Error):
        forge()
