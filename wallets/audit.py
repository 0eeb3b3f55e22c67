"""The ledger's part of the audit, and what every part of it is made of.

A check looks for rows that can't be: it returns each of them, in words, and an empty list is green.
It looks at what has been written since the last seal; since the beginning, in a whole audit.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db import connection

from wallets.ledger_upkeep import broken_seals
from wallets.models import Seal


class NotSeen(Exception):
    """What a check compares with can't be looked at now; the message says why."""


DAWN = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Since:
    """Where an audit begins: after the last posting that is taken as proven."""

    posting: int = 0
    transfer: int = 0
    system_balances: dict[str, str] = field(default_factory=dict)
    moment: datetime = DAWN

    @classmethod
    def last_seal(cls) -> "Since":
        """After the last seal, or from the beginning if there is none."""
        seal = Seal.objects.last()
        if seal is None:
            return BEGINNING
        return cls(seal.posting, seal.transfer, seal.system_balances, seal.sealed_at)


BEGINNING = Since()


@dataclass(frozen=True, slots=True)
class Check:
    """A truth, and the search for what breaks it, which may raise NotSeen."""

    truth: str
    find: Callable[[Since], list[str]]


def sql_check(truth: str, sql: str) -> Check:
    """A check that is one query for the rows that should not be.

    It may use %(posting)s, %(transfer)s and %(moment)s, after which to look, and
    %(system_balances)s, the balances of system accounts up to there.
    """

    def find(since: Since) -> list[str]:
        parameters: dict[str, Any] = {
            "posting": since.posting,
            "transfer": since.transfer,
            "moment": since.moment,
            "system_balances": json.dumps(since.system_balances),
        }
        with connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            names = [column.name for column in cursor.description or ()]
            return [
                " ".join(f"{name}={value}" for name, value in zip(names, row, strict=True))
                for row in cursor.fetchall()
            ]

    return Check(truth, find)


CHECKS = (
    sql_check(
        "Every transfer has legs, and they sum to zero in each asset",
        """
        SELECT t.id AS transfer, t.key, a.asset_id AS asset, sum(p.amount) AS sum
        FROM wallets_transfer t
        LEFT JOIN wallets_posting p ON p.transfer_id = t.id
        LEFT JOIN wallets_account a ON a.id = p.account_id
        WHERE t.id > %(transfer)s
           OR t.id IN (SELECT transfer_id FROM wallets_posting WHERE id > %(posting)s)
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
        WHERE p.id > %(posting)s AND (t.id IS NULL OR a.id IS NULL)
        ORDER BY p.id
        """,
    ),
    sql_check(
        "Along each account every posting follows the one before",
        """
        SELECT p.id AS posting, p.account_id AS account, p.version, p.previous_balance, p.amount,
               p.balance, before.balance AS balance_before
        FROM wallets_posting p
        LEFT JOIN wallets_posting before
            ON before.account_id = p.account_id AND before.version = p.version - 1
        WHERE p.id > %(posting)s AND p.version IS NOT NULL
          AND (p.previous_balance IS DISTINCT FROM
                   CASE p.version WHEN 1 THEN 0 ELSE before.balance END
               OR p.balance <> p.previous_balance + p.amount)
        ORDER BY p.id
        """,
    ),
    sql_check(
        "Every balance is what its postings add up to",
        """
        SELECT a.id AS account, a.key, a.asset_id AS asset, a.version, a.balance,
               newest.balance AS balance_of_its_newest_posting
        FROM wallets_account a
        LEFT JOIN LATERAL (
            SELECT p.version, p.balance FROM wallets_posting p
            WHERE p.account_id = a.id AND p.version IS NOT NULL
            ORDER BY p.version DESC LIMIT 1
        ) newest ON true
        WHERE NOT ledger_is_system(a.kind)
          AND (a.version, a.balance) <> (coalesce(newest.version, 0), coalesce(newest.balance, 0))
        ORDER BY a.id
        """,
    ),
    sql_check(
        "Every system account has summed up its postings rightly",
        """
        SELECT a.id AS account, a.key, a.asset_id AS asset, a.version, a.balance, posted.sum
        FROM wallets_account a
        LEFT JOIN LATERAL (
            SELECT coalesce((%(system_balances)s::jsonb ->> a.id::text)::numeric, 0)
                 + coalesce(sum(p.amount), 0) AS sum
            FROM wallets_posting p
            WHERE p.account_id = a.id AND p.version IS NULL
              AND p.id > %(posting)s AND p.id <= a.rolled_up_to
        ) posted ON true
        WHERE ledger_is_system(a.kind) AND (a.balance <> posted.sum OR a.version <> 0)
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
            JOIN wallets_transfer deposit ON deposit.id = t.reverses_id
            WHERE p.account_id = a.id AND t.kind = 'deposit_reversal' AND deposit.kind = 'deposit'
        )
        ORDER BY a.id
        """,
    ),
    Check(
        "Every seal is the hash of its postings",
        lambda since: broken_seals(None if since == BEGINNING else since.moment),
    ),
)
