"""The ledger's part of the audit, and what every part of it is made of.

A check looks for rows that can't be: it returns each of them, in words, and an empty list is green.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connection


@dataclass(frozen=True, slots=True)
class Check:
    """A truth, and the search for what breaks it."""

    truth: str
    find: Callable[[], list[str]]


def broken_rows(sql: str, *parameters: Any) -> list[str]:
    """Run a query for rows that should not be, and put each into words: `column=value …`."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        names = [column.name for column in cursor.description or ()]
        return [
            " ".join(f"{name}={value}" for name, value in zip(names, row, strict=True))
            for row in cursor.fetchall()
        ]


def sql_check(truth: str, sql: str) -> Check:
    """A check that is one query."""
    return Check(truth, lambda: broken_rows(sql))


CHECKS = (
    sql_check(
        "Every transfer has legs, and they sum to zero in each asset",
        """
        SELECT t.id AS transfer, t.key, a.asset_id AS asset, sum(p.amount) AS sum
        FROM wallets_transfer t
        LEFT JOIN wallets_posting p ON p.transfer_id = t.id
        LEFT JOIN wallets_account a ON a.id = p.account_id
        GROUP BY t.id, a.asset_id
        HAVING sum(p.amount) IS DISTINCT FROM 0
        ORDER BY t.id
        """,
    ),
    sql_check(
        "Every posting belongs to a transfer and an account",
        """
        SELECT p.id AS posting, p.transfer_id AS transfer, p.account_id AS account
        FROM wallets_posting p
        LEFT JOIN wallets_transfer t ON t.id = p.transfer_id
        LEFT JOIN wallets_account a ON a.id = p.account_id
        WHERE t.id IS NULL OR a.id IS NULL
        ORDER BY p.id
        """,
    ),
    sql_check(
        "Along each account every posting follows the one before",
        """
        SELECT id AS posting, account_id AS account, version, previous_balance, balance
        FROM (
            SELECT p.*,
                   row_number() OVER so_far AS n,
                   sum(p.amount) OVER so_far AS sum
            FROM wallets_posting p
            WHERE p.version IS NOT NULL
            WINDOW so_far AS (PARTITION BY p.account_id ORDER BY p.version)
        ) posting
        WHERE version <> n OR balance <> sum OR previous_balance <> sum - amount
        ORDER BY id
        """,
    ),
    sql_check(
        "Every balance is what its postings add up to",
        """
        SELECT a.id AS account, a.key, a.asset_id AS asset, a.balance, posted.sum, a.version,
               posted.count AS postings
        FROM wallets_account a
        LEFT JOIN LATERAL (
            SELECT coalesce(sum(p.amount), 0) AS sum, count(*) AS count
            FROM wallets_posting p
            WHERE p.account_id = a.id
              AND (NOT ledger_is_system(a.kind) OR p.id <= a.rolled_up_to)
        ) posted ON true
        WHERE a.balance <> posted.sum
           OR a.version <> CASE WHEN ledger_is_system(a.kind) THEN 0 ELSE posted.count END
        ORDER BY a.id
        """,
    ),
    sql_check(
        "Only a deposit that the chain took back leaves an account below zero",
        """
        SELECT a.id AS account, a.key, a.balance
        FROM wallets_account a
        WHERE a.balance < 0 AND NOT ledger_is_system(a.kind) AND NOT EXISTS (
            SELECT FROM wallets_posting p JOIN wallets_transfer t ON t.id = p.transfer_id
            WHERE p.account_id = a.id AND t.kind = 'deposit_reversal'
        )
        ORDER BY a.id
        """,
    ),
)
