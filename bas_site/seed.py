"""A database full of made-up history, to look at the console with: players, deposits, matches.

Rows of money come from the ledger's own function, in large batches, so every truth of the books
holds. What is not money is made by the database itself. All of it hangs on a chain of its own that
is paused and has no node, so that no watcher looks for it: no coins are behind these credits.
"""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import connection
from django.db.models import F
from django.utils import timezone
from eth_utils.address import to_checksum_address

from contracts.deposits import credit_confirmed
from contracts.models import NATIVE, Chain, Token, Vault
from engine import RULESETS
from matches.lobby import DEFAULT_RULESET
from matches.models import Match, Seat, Side
from wallets import ledger
from wallets.db import in_transaction
from wallets.ledger import CREDITS, Draft, Leg
from wallets.models import Account, Snapshot, Transfer, Wallet

CHAIN_ID = 5_033_165  # nobody's
PRICE = 10**15
DAYS = 30
HOURS_CHARTED = 14 * 24
FEE_BPS = 250
MOVEMENTS = 6
DEPOSITS_A_STEP = 20_000
MATCHES_A_STEP = 300
PAIR_MET = 14  # times
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Size:
    """How much of each there is to be."""

    players: int
    deposits: int
    matches: int


SIZES = {"small": Size(20, 400, 120), "large": Size(10_000, 1_000_000, 200_000)}

ADD_DEPOSITS = """
    INSERT INTO contracts_deposit (vault_id, token_id, wallet_id, number, amount, credits, tx_hash,
        log_index, block_number, block_hash, status, seen_at)
    SELECT %(vault)s, %(token)s, (%(wallets)s::bigint[])[1 + i %% %(players)s], i,
           credits * %(price)s::numeric, credits, '0x' || encode(sha256(('t' || i)::bytea), 'hex'),
           0, i, '0x' || encode(sha256(('b' || i)::bytea), 'hex'), 'pending',
           now() - (1 - i::float / %(deposits)s) * %(days)s * interval '1 day'
    FROM generate_series(1, %(deposits)s::bigint) i,
         LATERAL (SELECT 50 + abs(hashint8(i)::bigint) %% 951 AS credits) worth
"""
# A match in eight is a draw; a stake is 20 to 200 credits. Nobody meets the same player too often.
ADD_MATCHES = """
    INSERT INTO matches_match (id, status, visibility, invitation, ruleset, rulings, stake, fee_bps,
        lock_seconds, reveal_seconds, secret_hash, sealed_secret, chain_hash, event_count, stage,
        winner, ended_by, house_ape, void_reason, created_at, started_at, ended_at)
    SELECT md5('m' || i)::uuid, CASE WHEN i %% 8 = 0 THEN 'draw' ELSE 'won' END, 'open',
           md5('v' || i), %(ruleset)s, %(rulings)s::jsonb, 20 * (1 + i %% 10), %(fee_bps)s, 30, 15,
           encode(sha256(('s' || i)::bytea), 'hex'), ''::bytea,
           encode(sha256(('c' || i)::bytea), 'hex'), %(movements)s, '',
           CASE WHEN i %% 8 = 0 THEN '' WHEN i %% 2 = 0 THEN 'a' ELSE 'b' END, 'rounds', '', '',
           at, at, at + interval '5 minutes'
    FROM generate_series(1, %(matches)s::bigint) i,
         LATERAL (SELECT now() - (1 - i::float / %(matches)s) * %(days)s * interval '1 day' AS at) t
"""
ADD_SEATS = """
    INSERT INTO matches_seat (match_id, side, wallet_id, staked)
    SELECT md5('m' || i)::uuid, seat.side,
           (%(wallets)s::bigint[])[1 + (i + seat.step) %% %(players)s], 0
    FROM generate_series(1, %(matches)s::bigint) i,
         LATERAL (VALUES ('a', 0), ('b', 1 + i / %(players)s %% (%(players)s - 1)))
             AS seat (side, step)
"""
ADD_EVENTS = """
    INSERT INTO matches_event (match_id, n, body, chain_hash, created_at)
    SELECT md5('m' || i)::uuid, n,
           jsonb_build_object('type', 'movement', 'movement', n + 1,
               'a', jsonb_build_object('move', moves[1 + abs(hashint8(i + n)::bigint) %% 3]),
               'b', jsonb_build_object('move', moves[1 + abs(hashint8(i - n)::bigint) %% 3])),
           encode(sha256((i || ':' || n)::bytea), 'hex'), now()
    FROM generate_series(1, %(matches)s::bigint) i, generate_series(0, %(movements)s - 1) n,
         (SELECT ARRAY['rock', 'paper', 'scissors'] AS moves) of
"""
ADD_ESCROWS = """
    INSERT INTO wallets_account (asset_id, kind, key, balance, version, created_at)
    SELECT 'credits', 'escrow', 'match:' || md5('m' || i)::uuid, 0, 0, now()
    FROM generate_series(1, %(matches)s::bigint) i
"""
PLAYED = """
    SELECT m.id, m.stake, m.winner, e.id, a.id, b.id
    FROM matches_match m
    JOIN wallets_account e ON e.key = 'match:' || m.id AND e.asset_id = 'credits'
    JOIN matches_seat s ON s.match_id = m.id AND s.side = 'a'
    JOIN matches_seat t ON t.match_id = m.id AND t.side = 'b'
    JOIN wallets_account a ON a.key = 'wallet:' || s.wallet_id AND a.asset_id = 'credits'
    JOIN wallets_account b ON b.key = 'wallet:' || t.wallet_id AND b.asset_id = 'credits'
    WHERE m.id = ANY (SELECT md5('m' || i)::uuid FROM generate_series(%s::bigint, %s::bigint) i)
"""


def is_seeded() -> bool:
    """Whether it has been done before."""
    return Chain.objects.filter(pk=CHAIN_ID).exists()


def seed(size: Size, say: Say) -> None:
    """Fill the database, saying how far it is. It can be done once."""
    vault, token = _chain(size)
    wallets = _players(size)
    figures = {
        "vault": vault.pk,
        "token": token.pk,
        "wallets": wallets,
        "price": PRICE,
        "days": DAYS,
        "ruleset": DEFAULT_RULESET,
        "rulings": json.dumps(asdict(RULESETS[DEFAULT_RULESET])),
        "fee_bps": FEE_BPS,
        "movements": MOVEMENTS,
        "players": size.players,
        "deposits": size.deposits,
        "matches": size.matches,
    }
    say(f"players: {size.players:,}")
    for what, statement in (
        ("deposits", ADD_DEPOSITS),
        ("matches", ADD_MATCHES),
        ("seats", ADD_SEATS),
        ("events", ADD_EVENTS),
        ("escrow accounts", ADD_ESCROWS),
    ):
        say(f"{what}: {_run(statement, figures):,}")
    _a_pair_to_look_at(wallets)
    for done in _credit(vault.chain, size):
        say(f"deposits credited: {done:,} of {size.deposits:,}")
    for done in _play(size):
        say(f"matches settled: {done:,} of {size.matches:,}")
    _snapshots(size)


def _chain(size: Size) -> tuple[Vault, Token]:
    chain = Chain.objects.create(
        pk=CHAIN_ID,
        name="Made up",
        confirmations=1,
        genesis_hash="0x" + 64 * "0",
        scanned_block=0,
        scanned_hash="0x" + 64 * "0",
        head_block=size.deposits,
        block_range=1,
        paused=True,
    )
    vault = Vault.objects.create(chain=chain, address=_address(0), deployed_block=0)
    token = Token.objects.create(
        vault=vault, address=NATIVE, symbol="ETH", decimals=18, credit_price=PRICE
    )
    return vault, token


def _address(number: int) -> str:
    """An address that nobody has the key of."""
    return to_checksum_address(f"0x5eed{number:036x}")


@in_transaction
def _players(size: Size) -> list[int]:
    password = make_password(None)
    wallets = Wallet.objects.bulk_create(
        (Wallet(address=_address(n), password=password) for n in range(1, size.players + 1)),
        batch_size=1_000,
    )
    Account.objects.bulk_create(
        (
            Account(asset_id=CREDITS, kind=Account.Kind.AVAILABLE, key=f"wallet:{w.pk}", wallet=w)
            for w in wallets
        ),
        batch_size=1_000,
    )
    return [wallet.pk for wallet in wallets]


@in_transaction
def _run(statement: str, figures: dict[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(statement, figures)
        return int(cursor.rowcount)


@in_transaction
def _a_pair_to_look_at(wallets: list[int]) -> None:
    """Two players who meet again and again, and one of them gives up at once."""
    *others, one, other = wallets
    between_others = Match.objects.filter(seats__wallet__in=others).exclude(
        seats__wallet__in=(one, other)
    )
    newest_first = between_others.order_by("-created_at").distinct()
    newest = list(newest_first.values_list("pk", flat=True)[:PAIR_MET])
    for side, wallet in ((Side.A, one), (Side.B, other)):
        Seat.objects.filter(match__in=newest, side=side).update(wallet_id=wallet)
    Match.objects.filter(pk__in=newest).update(
        status=Match.Status.WON,
        winner=Side.A,
        ended_by="resigned",
        ended_at=F("started_at") + timedelta(seconds=9),
    )


def _credit(chain: Chain, size: Size) -> Iterator[int]:
    """Credit the deposits by the watcher's own function, so many blocks at a time.

    The last few are left to wait.
    """
    last = size.deposits - min(20, size.deposits // 10)
    for block in [*range(DEPOSITS_A_STEP, last, DEPOSITS_A_STEP), last]:
        chain.scanned_block = block
        credit_confirmed(chain)
        yield block
    Chain.objects.filter(pk=chain.pk).update(scanned_block=last)


def _play(size: Size) -> Iterator[int]:
    """Stake and settle each match."""
    fees = ledger.system_account(Account.Kind.FEES).pk
    for first in range(1, size.matches + 1, MATCHES_A_STEP):
        last = min(first + MATCHES_A_STEP - 1, size.matches)
        with connection.cursor() as cursor:
            cursor.execute(PLAYED, [first, last])
            rows = cursor.fetchall()
        ledger.post(*(draft for row in rows for draft in _stakes_and_release(row, fees)))
        if last == size.matches or last // DEPOSITS_A_STEP > (first - 1) // DEPOSITS_A_STEP:
            yield last


def _stakes_and_release(row: tuple[Any, ...], fees: int) -> Iterator[Draft]:
    """What `matches.settlement` would post of a match."""
    match, stake, winner, escrow, a, b = row
    stake = int(stake)
    for side, account in (("a", a), ("b", b)):
        legs = [Leg(account, -stake), Leg(escrow, stake)]
        yield Draft(key=f"stake:{match}:{side}", kind=Transfer.Kind.STAKE, legs=legs)
    key = f"release:{match}"
    if not winner:
        back = [Leg(escrow, -2 * stake), Leg(a, stake), Leg(b, stake)]
        yield Draft(key=key, kind=Transfer.Kind.REFUND, legs=back)
        return
    fee = 2 * stake * FEE_BPS // 10_000
    shares = {a if winner == "a" else b: 2 * stake - fee, fees: fee}
    legs = [Leg(escrow, -2 * stake), *(Leg(to, share) for to, share in shares.items() if share)]
    yield Draft(key=key, kind=Transfer.Kind.PAYOUT, legs=legs)


def _snapshots(size: Size) -> None:
    """Figures of the last two weeks that grow to what they are now."""
    owed = -ledger.balance(ledger.system_account(Account.Kind.VAULT))
    fees = ledger.balance(ledger.system_account(Account.Kind.FEES))
    now = timezone.now().replace(minute=0, second=0, microsecond=0)
    Token.objects.filter(vault__chain=CHAIN_ID).update(held=owed * PRICE, held_at=now)
    for hours in range(HOURS_CHARTED):
        grown = 1 - hours / HOURS_CHARTED
        Snapshot.objects.get_or_create(
            at=now - timedelta(hours=hours),
            defaults={
                "figures": {
                    "owed": int(owed * (0.6 + 0.4 * grown)),
                    "held": int(owed * (0.62 + 0.38 * grown)),
                    "in_play": 600 + int(400 * math.sin(hours / 8)),
                    "fees": int(fees * (0.3 + 0.7 * grown**2)),
                    "running_matches": 4 + hours % 5,
                    "rated_matches": int(size.matches * (0.3 + 0.7 * grown**2)),
                }
            },
        )
