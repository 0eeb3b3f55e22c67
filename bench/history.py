"""A long history of transfers, loaded at once, that the audit of the ledger would find in order.

Every player begins with a deposit. After that a transfer in five is paid by one busy player, a
deposit comes now and then, and the others pay each other at random. One player has been quiet since
the beginning.
"""

from collections.abc import Callable
from dataclasses import dataclass

import psycopg

from bench.report import say

POSTINGS_EACH = 50
TABLES = ["wallets_account", "wallets_transfer", "wallets_posting"]
# More than a page, so that the quiet player's first page is a full one.
QUIET_POSTINGS = 60
# System accounts are rolled up now and then: this many postings have come since.
NOT_ROLLED_UP = 1000

MAKE_LEGS = """
CREATE TEMPORARY TABLE leg AS
WITH chosen AS (
    SELECT i, i <= %(players)s OR i %% 4 = 0 AS from_vault,
           CASE WHEN i <= %(players)s + %(quiet)s OR i %% 5 = 1 THEN %(busy_account)s
                ELSE %(first)s + 2 + abs(hashint8(i)::bigint) %% (%(players)s - 2) END AS payer,
           CASE WHEN i <= %(players)s THEN %(first)s + i - 1
                WHEN i <= %(players)s + %(quiet)s THEN %(quiet_account)s
                ELSE %(first)s + 2 + abs(hashint8(-i)::bigint) %% (%(players)s - 2) END AS payee
    FROM generate_series(1, %(transfers)s::bigint) i
)
SELECT i AS transfer, leg.account, leg.amount, leg.place
FROM chosen, LATERAL (
    SELECT CASE WHEN i <= %(players)s THEN 1000000000 ELSE 1 END AS credits,
           CASE WHEN from_vault THEN %(vault)s ELSE payer END AS source,
           -- Nobody pays himself: the busy player, who never is the payee above, gets it.
           CASE WHEN payee = payer AND NOT from_vault THEN %(busy_account)s ELSE payee END AS target
) side, LATERAL (VALUES (source, -credits, 1), (target, credits, 2)) leg (account, amount, place)
"""
ADD_TRANSFERS = """
INSERT INTO wallets_transfer (id, key, kind, memo, created_at)
SELECT i, 'bench:' || gen_random_uuid(),
       CASE WHEN i <= %(players)s OR i %% 4 = 0 THEN 'deposit' ELSE 'adjustment' END, '',
       now() - (%(transfers)s - i + 60) * interval '1 second'
FROM generate_series(1, %(transfers)s::bigint) i
"""
ADD_POSTINGS = """
INSERT INTO wallets_posting
    (id, transfer_id, account_id, amount, version, previous_balance, balance)
SELECT 2 * (transfer - 1) + place, transfer, account, amount, version, balance - amount, balance
FROM (
    SELECT transfer, place, account, amount,
           CASE WHEN account <> %(vault)s THEN row_number() OVER so_far END AS version,
           CASE WHEN account <> %(vault)s THEN sum(amount) OVER so_far END AS balance
    FROM leg
    WINDOW so_far AS (PARTITION BY account ORDER BY transfer, place ROWS UNBOUNDED PRECEDING)
) posting
ORDER BY 1
"""
ADD_WALLETS = """
INSERT INTO wallets_wallet (id, password, is_superuser, is_staff, is_active, created_at, address)
SELECT i, '', false, false, true, now(), '0x' || lpad(to_hex(i), 40, '0')
FROM generate_series(1, %(players)s) i
"""
ADD_ACCOUNTS = """
INSERT INTO wallets_account
    (id, asset_id, kind, key, wallet_id, balance, version, created_at, rolled_up_to)
SELECT %(first)s + i - 1, 'credits', 'available', 'wallet:' || i, i, newest.balance, newest.version,
       now(), 0
FROM generate_series(1, %(players)s) i
LEFT JOIN LATERAL (
    SELECT p.balance, p.version FROM wallets_posting p
    WHERE p.account_id = %(first)s + i - 1 AND p.version IS NOT NULL
    ORDER BY p.version DESC LIMIT 1
) newest ON true
"""
SECONDARY_INDEXES = """
SELECT indexname, indexdef FROM pg_indexes
WHERE schemaname = 'public' AND tablename = ANY (%(tables)s)
  AND indexname NOT IN (SELECT conname FROM pg_constraint)
"""


@dataclass(frozen=True, slots=True)
class History:
    """How much there is, and which wallets (by id) the players have."""

    postings: int
    players: int

    BUSY = 1
    QUIET = 2
    OTHERS = 3


def load(connection: psycopg.Connection, *, vault: int, postings: int) -> History:
    """Fill an empty database; the connection is one for which no trigger fires."""
    transfers = postings // 2
    players = postings // POSTINGS_EACH
    (first,) = connection.execute("SELECT max(id) + 1 FROM wallets_account").fetchone()
    values = {
        "players": players,
        "transfers": transfers,
        "quiet": QUIET_POSTINGS,
        "vault": vault,
        "first": first,
        "busy_account": first + History.BUSY - 1,
        "quiet_account": first + History.QUIET - 1,
    }
    connection.execute("SET work_mem = '512MB'; SET maintenance_work_mem = '512MB'")
    indexes = connection.execute(SECONDARY_INDEXES, {"tables": TABLES}).fetchall()

    def execute(sql: str) -> Callable[[], object]:
        return lambda: connection.execute(sql, values if "%(" in sql else None)

    steps = [
        *(("dropping indexes", execute(f"DROP INDEX {name}")) for name, _ in indexes),
        ("choosing who pays whom", execute(MAKE_LEGS)),
        ("wallets", execute(ADD_WALLETS)),
        ("transfers", execute(ADD_TRANSFERS)),
        ("postings", execute(ADD_POSTINGS)),
        ("legs no more", execute("DROP TABLE leg")),
        *((f"index {name}", execute(definition)) for name, definition in indexes),
        ("accounts", execute(ADD_ACCOUNTS)),
        *((f"ids of {table}", execute(_continue_ids(table))) for table in TABLES),
        ("rolling up", execute(f"SELECT ledger_roll_up({2 * transfers - NOT_ROLLED_UP})")),
        ("vacuum", execute("VACUUM ANALYZE")),
        ("checkpoint", execute("CHECKPOINT")),
    ]
    for number, (name, step) in enumerate(steps, 1):
        say(f"size: {postings:,} postings, step {number} of {len(steps)}: {name}")
        step()
    return History(postings, players)


def _continue_ids(table: str) -> str:
    return f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"
