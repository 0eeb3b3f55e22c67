"""The lobby: making, joining and cancelling matches."""

import secrets
from dataclasses import asdict
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from engine import RULESETS
from matches import battle, chance, settlement
from matches.errors import NotOpen, OwnMatch, StakeOutOfRange
from matches.models import Match, Side
from matches.sealing import seal
from wallets.db import in_transaction
from wallets.errors import NotFound
from wallets.models import Wallet


@in_transaction
def create_match(*, wallet: Wallet, stake: int, visibility: str, ruleset: str = "god-v1") -> Match:
    """Make a match, stake on it and wait for an opponent.

    `stake` is in credits. Raises StakeOutOfRange and InsufficientCredits.
    """
    low, high = settings.MATCH_MIN_STAKE, settings.MATCH_MAX_STAKE
    if not low <= stake <= high:
        raise StakeOutOfRange(f"A stake is {low} to {high} credits.", minimum=low, maximum=high)
    secret = chance.new_secret()
    match = Match.objects.create(
        visibility=visibility,
        invitation=secrets.token_urlsafe(16),
        ruleset=ruleset,
        rulings=asdict(RULESETS[ruleset]),
        stake=stake,
        fee_bps=settings.HOUSE_FEE_BPS,
        lock_seconds=settings.MATCH_LOCK_SECONDS,
        reveal_seconds=settings.MATCH_REVEAL_SECONDS,
        secret_hash=chance.secret_hash(secret),
        sealed_secret=seal(secret),
    )
    settlement.take_seat(match=match, side=Side.A, wallet=wallet)
    return match


@in_transaction
def join_match(*, wallet: Wallet, match_id: UUID, invitation: str = "") -> Match:
    """Take the other seat, stake, and start.

    Raises NotFound (also for a wrong invitation: it looks the same), NotOpen, OwnMatch,
    InsufficientCredits.
    """
    match = battle.locked(match_id)
    own = match.seats.filter(wallet=wallet).exists()
    if not (own or match.admits(invitation)):
        raise NotFound
    if match.status != Match.Status.OPEN:
        raise NotOpen
    if own:
        raise OwnMatch
    settlement.take_seat(match=match, side=Side.B, wallet=wallet)
    battle.begin(match, timezone.now())
    return match


@in_transaction
def cancel_match(*, wallet: Wallet, match_id: UUID) -> Match:
    """Take back a match that nobody has joined; the stake returns. Raises NotFound, NotOpen."""
    match = battle.locked(match_id)
    if not match.seats.filter(wallet=wallet).exists():
        raise NotFound
    if match.status == Match.Status.CANCELLED:
        return match
    if match.status != Match.Status.OPEN:
        raise NotOpen
    match.status = Match.Status.CANCELLED
    match.ended_by = "cancelled"
    match.ended_at = timezone.now()
    match.save()
    settlement.refund(match)
    return match
