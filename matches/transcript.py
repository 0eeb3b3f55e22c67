"""A match's transcript: all that anyone needs to verify it (rules.md, section 6; engine/verify.py).

Nothing in it is new: each part was shown to both players when it happened, but for the server's
secret, which is published when the match has ended.
"""

from typing import Any

from matches import settlement
from matches.errors import NoTranscript
from matches.models import Match, Side
from matches.sealing import unseal

FORMAT = "bas-transcript-1"


def transcript(match: Match) -> dict[str, Any]:
    """The transcript of a match that was played and has ended. Raises NoTranscript."""
    if match.status in Match.LIVE or match.started_at is None:
        raise NoTranscript
    events = [event.body | {"hash": event.chain_hash} for event in match.events.order_by("n")]
    wallets = {seat.side: seat.wallet.address for seat in match.seats.all()}
    payouts, fee = settlement.shares(match)
    return {
        "format": FORMAT,
        "header": {
            "match": str(match.pk),
            "ruleset": match.ruleset,
            "rulings": match.rulings,
            "stake": str(match.stake),
            "fee_bps": match.fee_bps,
            "secret_hash": match.secret_hash,
            **wallets,
        },
        "server_secret": unseal(match.sealed_secret),
        "events": events,
        "chain_hash": match.chain_hash,
        "final": match.state,
        "result": {
            "status": match.status,
            "winner": match.winner or None,
            "ended_by": match.ended_by,
            "pot": str(2 * match.stake),
            "fee": str(fee),
            "payouts": {side.value: str(payouts[side]) for side in Side},
        },
    }
