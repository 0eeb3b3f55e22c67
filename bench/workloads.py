"""What is measured: the workloads, as data, and the SQL and pgbench scripts made of them."""

import random
from collections.abc import Callable
from dataclasses import dataclass

PLAYERS = 1000
STAKE = 100
FEE = 10

# The one place that knows how the ledger is called by SQL; everything else goes through
# `wallets.ledger`.
CALL = """SELECT * FROM ledger_post(
    ARRAY['{key}' || :nonce]::text[], ARRAY['{kind}']::text[], ARRAY['']::text[],
    ARRAY[NULL]::bigint[], ARRAY[{places}]::int[], ARRAY[{accounts}]::bigint[],
    ARRAY[{amounts}]::numeric[]);"""


@dataclass(frozen=True, slots=True)
class Place:
    """The accounts of one set of tables, by id; a client's matches have the ids from `escrow` on.

    `clients_matches` is how many of them each client has.
    """

    schema: str
    player: int
    house: int
    fees: int
    escrow: int = 0
    clients_matches: int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """One leg: which of the chosen accounts, and what it gains."""

    account: str
    amount: int
    kept: bool = True


@dataclass(frozen=True, slots=True)
class Workload:
    """A kind of transfer; `pick` and `choose` choose the accounts, in pgbench and in Python."""

    name: str
    kind: str
    moves: tuple[Move, ...]
    pick: str
    choose: Callable[[Place, int, int], dict[str, int]]
    uses_matches: bool = False


def choose_pair(place: Place, client: int, turn: int) -> dict[str, int]:
    """Two players, the lower id first."""
    low, high = sorted(random.sample(range(PLAYERS), 2))
    return {"low": place.player + low, "high": place.player + high}


def choose_player(place: Place, client: int, turn: int) -> dict[str, int]:
    """One player, who pays the house."""
    return {"player": place.player + random.randrange(PLAYERS), "house": place.house}


def choose_match(place: Place, client: int, turn: int) -> dict[str, int]:
    """The client's next match, and a player who has won it."""
    if turn >= place.clients_matches:
        raise RuntimeError("more matches were settled than had been prepared")
    return {
        "escrow": place.escrow + client * place.clients_matches + turn,
        "player": place.player + random.randrange(PLAYERS),
        "fees": place.fees,
    }


PICK_PAIR = rf"""
\set a random(0, {PLAYERS - 1})
\set b (:a + random(1, {PLAYERS - 1})) % {PLAYERS}
\set low {{player}} + least(:a, :b)
\set high {{player}} + greatest(:a, :b)
"""
PICK_PLAYER = rf"""
\set player {{player}} + random(0, {PLAYERS - 1})
\set house {{house}}
"""
PICK_MATCH = rf"""
\set escrow {{escrow}} + :client_id * {{clients_matches}} + :turn
\set turn :turn + 1
\set player {{player}} + random(0, {PLAYERS - 1})
\set fees {{fees}}
"""

WORKLOADS = (
    Workload(
        "spread accounts",
        "adjustment",
        (Move("low", -1), Move("high", 1)),
        PICK_PAIR,
        choose_pair,
    ),
    Workload(
        "one hot payee",
        "adjustment",
        (Move("player", -1), Move("house", 1, kept=False)),
        PICK_PLAYER,
        choose_player,
    ),
    Workload(
        "match settlements",
        "payout",
        (
            Move("escrow", -2 * STAKE),
            Move("player", 2 * STAKE - FEE),
            Move("fees", FEE, kept=False),
        ),
        PICK_MATCH,
        choose_match,
        uses_matches=True,
    ),
)
SPREAD, HOT, SETTLEMENTS = WORKLOADS

INSERT_TRANSFER = """INSERT INTO {schema}.wallets_transfer (key, kind, memo, created_at)
    VALUES ('{key}' || :nonce, '{kind}', '', clock_timestamp());"""
# The account's row and the posting that says what became of it, in one statement.
POST_KEPT = """WITH account AS (
        UPDATE {schema}.wallets_account SET balance = balance + ({amount}), version = version + 1
        WHERE id = :{account} RETURNING id, version, balance)
    INSERT INTO {schema}.wallets_posting
        (transfer_id, account_id, amount, version, previous_balance, balance)
    SELECT currval('{schema}.wallets_transfer_id_seq'), id, {amount}, version,
           balance - ({amount}), balance
    FROM account;"""
POST_SYSTEM = """INSERT INTO {schema}.wallets_posting (transfer_id, account_id, amount)
    VALUES (currval('{schema}.wallets_transfer_id_seq'), :{account}, {amount});"""
# Causes are random, as those made of a match's or a request's UUID are.
PICK_CAUSE = r"\set nonce random(1, 9000000000000000000)"
KEY = "bench:"


def floor_script(
    workload: Workload, place: Place, *, one_round_trip: bool = False, naive: bool = False
) -> str:
    """The row writes of a transfer and nothing else, statement by statement.

    `one_round_trip` sends all of them at once; `naive` keeps a balance for system accounts too.
    """
    lines = [_pick(workload, place), "\\startpipeline" if one_round_trip else "", "BEGIN;"]
    lines += [INSERT_TRANSFER.format(schema=place.schema, key=KEY, kind=workload.kind)]
    for move in workload.moves:
        post = POST_KEPT if move.kept or naive else POST_SYSTEM
        lines.append(post.format(schema=place.schema, account=move.account, amount=move.amount))
    lines += ["COMMIT;", "\\endpipeline" if one_round_trip else ""]
    return "\n".join(filter(None, lines))


def ours_script(workload: Workload, place: Place) -> str:
    """The same transfer by the ledger's function."""
    call = CALL.format(
        key=KEY,
        kind=workload.kind,
        places=", ".join("1" for _ in workload.moves),
        accounts=", ".join(f":{move.account}" for move in workload.moves),
        amounts=", ".join(str(move.amount) for move in workload.moves),
    )
    return f"{_pick(workload, place)}\n{call}"


def _pick(workload: Workload, place: Place) -> str:
    chosen = workload.pick.format(
        player=place.player,
        house=place.house,
        fees=place.fees,
        escrow=place.escrow,
        clients_matches=place.clients_matches,
    )
    return f"{chosen.strip()}\n{PICK_CAUSE}"
