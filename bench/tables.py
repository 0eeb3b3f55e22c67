"""The sets of tables that the sides write to, and the accounts in them."""

from dataclasses import replace

import psycopg

from bench.server import Server
from bench.workloads import PLAYERS, STAKE, Place

OURS, FLOOR, ORM = "public", "floor", "orm"
TABLES = ("wallets_account", "wallets_transfer", "wallets_posting")
RICH = 10**12

ADD_PLAYERS = """
WITH system AS (
    INSERT INTO wallets_account (asset_id, kind, key, balance, version, created_at, rolled_up_to)
    SELECT 'credits', kind, kind, 0, 0, now(), 0 FROM unnest(ARRAY['vault', 'house', 'fees']) kind
    ON CONFLICT (asset_id, key) DO NOTHING
)
INSERT INTO wallets_account (asset_id, kind, key, balance, version, created_at, rolled_up_to)
SELECT 'credits', 'available', 'bench:player:' || n, %(rich)s, 1, now(), 0
FROM generate_series(1, %(players)s) n ORDER BY n
"""
# A deposit for each: of a transfer with thousands of legs, Postgres would learn to expect such.
ADD_DEPOSITS = """
WITH deposit AS (
    INSERT INTO wallets_transfer (key, kind, memo, created_at)
    SELECT key, 'deposit', '', now() FROM wallets_account
    WHERE key LIKE 'bench:player:%' ORDER BY id
    RETURNING id, key
)
INSERT INTO wallets_posting (transfer_id, account_id, amount, version, previous_balance, balance)
SELECT deposit.id, leg.*
FROM deposit, wallets_account player, wallets_account vault,
LATERAL (VALUES
    (vault.id, -player.balance, NULL, NULL, NULL),
    (player.id, player.balance, 1, 0, player.balance)
) leg
WHERE player.key = deposit.key AND vault.key = 'vault'
ORDER BY deposit.id
"""
FIND_PLACE = """
SELECT min(id) FILTER (WHERE key = 'bench:player:1'), min(id) FILTER (WHERE key = 'house'),
       min(id) FILTER (WHERE key = 'fees')
FROM wallets_account
"""
# The stakes come straight from the vault: a player's history of them would be written for nothing.
ADD_ESCROWS = """
WITH escrow AS (
    INSERT INTO wallets_account (asset_id, kind, key, balance, version, created_at, rolled_up_to)
    SELECT 'credits', 'escrow', 'bench:' || gen_random_uuid(), %(pot)s, 2, now(), 0
    FROM generate_series(1, %(count)s)
    RETURNING id
) SELECT min(id) FROM escrow
"""
ADD_STAKES = """
WITH stake AS (
    INSERT INTO wallets_transfer (key, kind, memo, created_at)
    SELECT format('bench:stake:%%s:%%s', gen_random_uuid(), seat), 'stake', '', now()
    FROM generate_series(1, %(count)s), generate_series(1, 2) seat
    RETURNING id
) SELECT min(id) FROM stake
"""
ADD_STAKE_POSTINGS = """
INSERT INTO wallets_posting (transfer_id, account_id, amount, version, previous_balance, balance)
SELECT %(stake)s + 2 * n + seat, leg.*
FROM generate_series(0, %(count)s - 1) n, generate_series(0, 1) seat,
LATERAL (VALUES
    (%(escrow)s + n, %(half)s, seat + 1, seat * %(half)s, (seat + 1) * %(half)s),
    (%(vault)s, -%(half)s, NULL, NULL, NULL)
) leg
"""


def make_tables(server: Server) -> dict[str, Place]:
    """Copy the ledger's tables, with their indexes and no rule at all; fill all sets alike."""
    with server.superuser() as connection:
        for schema in (FLOOR, ORM):
            _copy(connection, schema)
        return {schema: _fill(connection, schema) for schema in (OURS, FLOOR, ORM)}


def _copy(connection: psycopg.Connection, schema: str) -> None:
    connection.execute(f"CREATE SCHEMA {schema}")
    for table in TABLES:
        connection.execute(
            f"CREATE TABLE {schema}.{table} (LIKE public.{table} "
            "INCLUDING DEFAULTS INCLUDING IDENTITY INCLUDING INDEXES INCLUDING STORAGE)"
        )
        (options,) = connection.execute(
            "SELECT reloptions FROM pg_class WHERE oid = %s::regclass", [f"public.{table}"]
        ).fetchone()
        if options:
            connection.execute(f"ALTER TABLE {schema}.{table} SET ({', '.join(options)})")
    connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO bas_app")
    connection.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO bas_app")
    connection.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA {schema} TO bas_app")


def _fill(connection: psycopg.Connection, schema: str) -> Place:
    connection.execute(f"SET search_path TO {schema}")
    connection.execute(ADD_PLAYERS, {"players": PLAYERS, "rich": RICH})
    connection.execute(ADD_DEPOSITS)
    connection.execute("VACUUM ANALYZE")
    return Place(schema, *connection.execute(FIND_PLACE).fetchone())


def add_matches(server: Server, place: Place, *, clients: int, each: int) -> Place:
    """Prepare matches with both stakes in escrow, `each` of them for every client."""
    with server.superuser() as connection:
        connection.execute(f"SET search_path TO {place.schema}")
        count = {"count": clients * each}
        (vault,) = connection.execute(
            "SELECT id FROM wallets_account WHERE key = 'vault'"
        ).fetchone()
        (escrow,) = connection.execute(ADD_ESCROWS, {**count, "pot": 2 * STAKE}).fetchone()
        (stake,) = connection.execute(ADD_STAKES, count).fetchone()
        connection.execute(
            ADD_STAKE_POSTINGS,
            {**count, "escrow": escrow, "stake": stake, "vault": vault, "half": STAKE},
        )
    return replace(place, escrow=escrow, clients_matches=each)
