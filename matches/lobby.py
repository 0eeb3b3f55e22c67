"""The lobby: making, joining and cancelling matches."""

import secrets
from dataclasses import asdict
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone

from engine import RULESETS
from matches import battle, chance, settlement
from matches.errors import NotOpen, OwnMatch, StakeOutOfRange, TooManyMatches
from matches.models import Match, Side
from matches.sealing import seal
from wallets.db import in_transaction
from wallets.errors import NotFound, WalletFrozen
from wallets.models import Wallet

DEFAULT_RULESET = "god-v1"


def oldest_open(now: datetime) -> datetime:
    """Open matches that were made before this have expired."""
    return now - timedelta(seconds=settings.MATCH_OPEN_SECONDS)


@in_transaction
def create_match(
    *, wallet: Wallet, stake: int, visibility: str, ruleset: str = DEFAULT_RULESET
) -> Match:
    """Make a match, stake on it and wait for an opponent.

    `stake` is in credits. Raises StakeOutOfRange, WalletFrozen, TooManyMatches and
    InsufficientCredits.
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
    _sit_down(match, Side.A, wallet)
    return match


@in_transaction
def join_match(*, wallet: Wallet, match_id: UUID, invitation: str = "") -> Match:
    """Take the other seat, stake, and start.

    Raises NotFound (also for a wrong invitation: it looks the same), NotOpen, OwnMatch,
    WalletFrozen, TooManyMatches, InsufficientCredits.
    """
    match = battle.locked(match_id)
    own = match.seats.filter(wallet=wallet).exists()
    if not (own or match.admits(invitation)):
        raise NotFound
    expired = match.created_at <= oldest_open(timezone.now())
    if match.status != Match.Status.OPEN or expired:
        raise NotOpen
    if own:
        raise OwnMatch
    return _join(match, wallet)


@in_transaction
def quick_match(*, wallet: Wallet, stake: int) -> Match:
    """Join the match of this stake that has been open for longest, or make one and wait.

    Raises StakeOutOfRange, WalletFrozen, TooManyMatches and InsufficientCredits.
    """
    match = _waiting_match(wallet, stake)
    if match is None:
        # Players who come at once must not all make one: each looks again when it is alone.
        with connection.cursor() as cursor:
            key = f"quick:{stake}"
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [key])
        match = _waiting_match(wallet, stake)
    if match is None:
        return create_match(wallet=wallet, stake=stake, visibility=Match.Visibility.OPEN)
    return _join(match, wallet)


def _waiting_match(wallet: Wallet, stake: int) -> Match | None:
    """An open match, locked; those that somebody else is joining are passed over."""
    waiting = Match.objects.filter(
        status=Match.Status.OPEN,
        visibility=Match.Visibility.OPEN,
        ruleset=DEFAULT_RULESET,
        stake=stake,
        created_at__gt=oldest_open(timezone.now()),
    ).exclude(seats__wallet=wallet)
    locked = waiting.select_for_update(no_key=True, skip_locked=True, of=("self",))
    return locked.order_by("created_at").first()


def _join(match: Match, wallet: Wallet) -> Match:
    _sit_down(match, Side.B, wallet)
    battle.begin(match, timezone.now())
    return match


def _sit_down(match: Match, side: Side, wallet: Wallet) -> None:
    """Seat a player who may play, with the stake. The match's row is locked or new."""
    # Its matches are counted while no other request of the same wallet can add one.
    player = Wallet.objects.select_for_update(no_key=True).get(pk=wallet.pk)
    if not player.is_active:
        raise WalletFrozen
    limit = settings.MATCH_MAX_LIVE
    if player.seats.filter(match__status__in=Match.LIVE).count() >= limit:
        raise TooManyMatches(f"You may be in {limit} matches at once.", maximum=limit)
    settlement.take_seat(match=match, side=side, wallet=wallet)


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
    return _take_back(match, "cancelled")


@in_transaction
def expire_match(*, match_id: UUID) -> bool:
    """Close a match that nobody has joined for too long; the stake returns. Whether it was so."""
    match = battle.locked(match_id)
    if match.status != Match.Status.OPEN or match.created_at > oldest_open(timezone.now()):
        return False
    _take_back(match, "expired")
    return True


def _take_back(match: Match, ended_by: str) -> Match:
    match.status = Match.Status.CANCELLED
    match.ended_by = ended_by
    match.ended_at = timezone.now()
    match.save()
    settlement.refund(match)
    return match
