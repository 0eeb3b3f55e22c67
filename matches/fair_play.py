"""Fair play: pairs of players whose matches look as if they were not played to be won.

Nobody is accused by it: it lists pairs with the evidence, and a person judges. It looks at the
newest matches for a stake that ended in a result, and at no more than LOOKED_AT of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import connection
from django.utils import timezone

from wallets.models import Wallet

WINDOW = timedelta(days=30)
LOOKED_AT = 100_000  # matches
CANDIDATES = 500  # pairs, those that met most often
SEQUENCES_OF = 10_000  # matches whose movements are compared
# Two players who meet less often than this give no evidence.
FEWEST = 3
FAST_SECONDS = 60
# As short a sequence may well be played twice.
LONG_SEQUENCE = 5

PAIRS = """
    WITH looked_at AS MATERIALIZED (
        SELECT m.id, m.winner, m.ended_by, m.stake, m.started_at, m.ended_at, m.created_at,
               a.wallet_id AS a, b.wallet_id AS b
        FROM matches_match m
        JOIN matches_seat a ON a.match_id = m.id AND a.side = 'a'
        JOIN matches_seat b ON b.match_id = m.id AND b.side = 'b'
        WHERE m.created_at > %(since)s AND m.stake > 0 AND m.status IN ('won', 'draw')
        ORDER BY m.created_at DESC
        LIMIT %(looked_at)s
    ), result AS (
        SELECT *, least(a, b) AS one, greatest(a, b) AS other,
               CASE WHEN winner = '' THEN 0 WHEN (winner = 'a') = (a < b) THEN 1 ELSE -1 END AS won,
               ended_by = 'resigned' AND ended_at - started_at < %(fast)s AS is_fast
        FROM looked_at
    ), of_wallet AS (
        SELECT wallet, count(*) AS matches
        FROM (SELECT a AS wallet FROM looked_at UNION ALL SELECT b FROM looked_at) seats
        GROUP BY wallet
    ), pair AS (
        SELECT one, other, count(*) AS met, count(*) FILTER (WHERE is_fast) AS fast_resignations,
               sum(won * stake) AS flow, sum(stake) AS staked,
               (array_agg(id ORDER BY created_at DESC))[1:5] AS newest
        FROM result
        GROUP BY one, other
        HAVING count(*) >= %(fewest)s
        ORDER BY count(*) DESC, one, other
        LIMIT %(candidates)s
    )
    SELECT p.*, least(i.matches, j.matches) AS fewer_matches
    FROM pair p
    JOIN of_wallet i ON i.wallet = p.one
    JOIN of_wallet j ON j.wallet = p.other
    ORDER BY p.met DESC, p.one, p.other
"""
# How often the commonest sequence of choices was played by each pair, whichever side each sat on.
REPEATED = """
    WITH theirs AS MATERIALIZED (
        SELECT m.id, p.one, p.other, s.side AS side_of_one
        FROM unnest(%(ones)s::bigint[], %(others)s::bigint[]) AS p (one, other)
        JOIN matches_seat s ON s.wallet_id = p.one
        JOIN matches_seat o ON o.match_id = s.match_id AND o.wallet_id = p.other
        JOIN matches_match m ON m.id = s.match_id
        WHERE m.created_at > %(since)s AND m.stake > 0 AND m.status IN ('won', 'draw')
        ORDER BY m.created_at DESC
        LIMIT %(sequences_of)s
    ), played AS (
        SELECT t.one, t.other, count(*) AS movements, string_agg(
            CASE t.side_of_one WHEN 'a' THEN a || '-' || b ELSE b || '-' || a END, ' ' ORDER BY e.n
        ) AS choices
        FROM theirs t
        JOIN matches_event e ON e.match_id = t.id AND e.body ->> 'type' = 'movement'
        CROSS JOIN LATERAL (
            SELECT concat(e.body #>> '{a,move}', e.body #>> '{a,tribute}') AS a,
                   concat(e.body #>> '{b,move}', e.body #>> '{b,tribute}') AS b
        ) said
        GROUP BY t.id, t.one, t.other
    )
    SELECT DISTINCT ON (one, other) one, other, count(*), max(movements)
    FROM played
    WHERE movements >= %(long)s
    GROUP BY one, other, choices
    HAVING count(*) > 1
    ORDER BY one, other, count(*) DESC
"""


@dataclass
class Pair:
    """Two players, and what their matches have been like. `flow` is what `one` has won, net."""

    one: Wallet
    other: Wallet
    met: int
    fast_resignations: int
    flow: int
    staked: int
    newest: list[UUID]
    fewer_matches: int
    payer: str = ""
    repeats: int = 1
    repeated_movements: int = 0
    evidence: list[str] = field(default_factory=list)


class Sign(NamedTuple):
    """What gives a pair away, and how it is said."""

    is_there: Callable[[Pair], bool]
    words: Callable[[Pair], str]


SIGNS = (
    Sign(
        lambda p: p.met >= 20 and p.met >= 0.8 * p.fewer_matches,
        lambda p: f"met {p.met} times, of {p.fewer_matches} matches that one of them has played",
    ),
    Sign(
        lambda p: p.fast_resignations >= 3 and p.fast_resignations >= 0.5 * p.met,
        lambda p: f"{p.fast_resignations} of {p.met} matches resigned within {FAST_SECONDS} s",
    ),
    Sign(
        lambda p: p.met >= 10 and abs(p.flow) >= 0.8 * p.staked,
        lambda p: (
            f"{abs(p.flow)} of {p.staked} staked credits went one way, "
            f"to {p.one if p.flow > 0 else p.other}"
        ),
    ),
    Sign(
        lambda p: p.repeats >= 3,
        lambda p: f"the same {p.repeated_movements} movements in {p.repeats} matches",
    ),
    Sign(
        lambda p: bool(p.payer),
        lambda p: f"the first coins of both came from {p.payer}",
    ),
)


def suspicious_pairs(payers_of: Callable[[set[int]], dict[int, str]]) -> list[Pair]:
    """Pairs with at least one sign, those with most signs first.

    `payers_of` tells who first paid the addresses of wallets: this room does not know the chain.
    """
    pairs = _candidates()
    _count_repeats(pairs)
    payers = payers_of({wallet.pk for pair in pairs for wallet in (pair.one, pair.other)})
    for pair in pairs:
        payer = payers.get(pair.one.pk, "")
        pair.payer = payer if payer == payers.get(pair.other.pk) else ""
        pair.evidence = [sign.words(pair) for sign in SIGNS if sign.is_there(pair)]
    suspicious = [pair for pair in pairs if pair.evidence]
    return sorted(suspicious, key=lambda pair: (-len(pair.evidence), -pair.met))


def candidates() -> set[int]:
    """The players of all pairs that have met often enough to give a sign."""
    return {wallet.pk for pair in _candidates() for wallet in (pair.one, pair.other)}


def _candidates() -> list[Pair]:
    with connection.cursor() as cursor:
        cursor.execute(
            PAIRS,
            {
                "since": timezone.now() - WINDOW,
                "looked_at": LOOKED_AT,
                "fast": timedelta(seconds=FAST_SECONDS),
                "fewest": FEWEST,
                "candidates": CANDIDATES,
            },
        )
        rows = cursor.fetchall()
    wallets = Wallet.objects.in_bulk({wallet for row in rows for wallet in row[:2]})
    return [
        Pair(wallets[one], wallets[other], met, fast, int(flow), int(staked), newest, fewer)
        for one, other, met, fast, flow, staked, newest, fewer in rows
    ]


def _count_repeats(pairs: list[Pair]) -> None:
    by_wallets = {(pair.one.pk, pair.other.pk): pair for pair in pairs}
    with connection.cursor() as cursor:
        cursor.execute(
            REPEATED,
            {
                "ones": [one for one, _ in by_wallets],
                "others": [other for _, other in by_wallets],
                "since": timezone.now() - WINDOW,
                "sequences_of": SEQUENCES_OF,
                "long": LONG_SEQUENCE,
            },
        )
        for one, other, repeats, movements in cursor.fetchall():
            pair = by_wallets[one, other]
            pair.repeats, pair.repeated_movements = repeats, movements
