"""The lobby: making, joining and cancelling matches, and rematches."""

import secrets
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from engine import RULESETS
from matches import battle, chance, settlement
from matches.errors import NotOpen, NotPlayed, OwnMatch, StakeOutOfRange, TooManyMatches
from matches.logs import about_end, in_match
from matches.models import Match, Side
from matches.sealing import seal
from wallets.db import in_transaction, lock_until_commit
from wallets.errors import NotFound, WalletFrozen
from wallets.models import Service, Wallet
from wallets.services import require_running

DEFAULT_RULESET = "god-v1"


def oldest_open(now: datetime) -> datetime:
    """Open matches that were made before this have expired."""
    return now - timedelta(seconds=settings.MATCH_OPEN_SECONDS)


def open_to_all(now: datetime) -> QuerySet[Match]:
    """Matches that anyone may join."""
    return Match.objects.filter(
        status=Match.Status.OPEN,
        visibility=Match.Visibility.OPEN,
        rematch_of=None,
        created_at__gt=oldest_open(now),
        seats__wallet__is_active=True,
    )


@in_transaction
def create_match(
    *,
    wallet: Wallet,
    stake: int,
    visibility: str,
    ruleset: str = DEFAULT_RULESET,
    rematch_of: Match | None = None,
) -> Match:
    """Make a match, stake on it and wait for an opponent.

    `stake` is in credits. Raises StakeOutOfRange, ServicePaused, WalletFrozen, TooManyMatches and
    InsufficientCredits.
    """
    low, high = settings.MATCH_MIN_STAKE, settings.MATCH_MAX_STAKE
    if not low <= stake <= high:
        raise StakeOutOfRange(f"A stake is {low} to {high} credits.", minimum=low, maximum=high)
    match = new_match(
        stake=stake,
        fee_bps=settings.HOUSE_FEE_BPS,
        visibility=visibility,
        ruleset=ruleset,
        rematch_of=rematch_of,
    )
    _sit_down(match, Side.A, wallet)
    return match


def new_match(*, visibility: str, ruleset: str = DEFAULT_RULESET, **terms: Any) -> Match:
    """A match with its terms and its secret; nobody sits at it."""
    secret = chance.new_secret()
    return Match.objects.create(
        visibility=visibility,
        invitation=secrets.token_urlsafe(16),
        ruleset=ruleset,
        rulings=asdict(RULESETS[ruleset]),
        lock_seconds=settings.MATCH_LOCK_SECONDS,
        reveal_seconds=settings.MATCH_REVEAL_SECONDS,
        secret_hash=chance.secret_hash(secret),
        sealed_secret=seal(secret),
        **terms,
    )


@in_match
def join_match(*, wallet: Wallet, match_id: UUID, invitation: str = "") -> Match:
    """Take the other seat, stake, and start.

    Raises NotFound (also for a wrong invitation: it looks the same), NotOpen, OwnMatch,
    ServicePaused, WalletFrozen, TooManyMatches, InsufficientCredits.
    """
    match = battle.locked(match_id)
    own = match.seats.filter(wallet=wallet).exists()
    if not (own or match.admits(invitation)):
        raise NotFound
    if match.status != Match.Status.OPEN or _is_expired(match):
        raise NotOpen
    if own:
        raise OwnMatch
    if match.rematch_of_id:
        raise NotOpen("This match is a rematch of two other players.")
    return _join(match, wallet)


@in_transaction
def quick_match(*, wallet: Wallet, stake: int) -> Match:
    """Join the match of this stake that has been open for longest, or make one and wait.

    Raises StakeOutOfRange, ServicePaused, WalletFrozen, TooManyMatches, InsufficientCredits, and
    NotOpen if the match's player is being frozen at this instant.
    """
    match = _waiting_match(wallet, stake)
    if match is None:
        # Players who come at once must not all make one: each looks again when it is alone.
        lock_until_commit(f"quick:{stake}")
        match = _waiting_match(wallet, stake)
    if match is None:
        return create_match(wallet=wallet, stake=stake, visibility=Match.Visibility.OPEN)
    return _join(match, wallet)


def _waiting_match(wallet: Wallet, stake: int) -> Match | None:
    """An open match, locked; those that somebody else is joining are passed over."""
    waiting = (
        open_to_all(timezone.now())
        .filter(ruleset=DEFAULT_RULESET, stake=stake)
        .exclude(seats__wallet=wallet)
    )
    locked = waiting.select_for_update(no_key=True, skip_locked=True, of=("self",))
    return locked.order_by("created_at").first()


@in_match
def rematch(*, wallet: Wallet, match_id: UUID) -> Match:
    """Offer the opponent of a match that has ended another one on its terms, or accept the offer.

    The offer is a match that only the opponent can join, by this same call; otherwise it is like
    any open one. Who has offered already, or plays the rematch, gets it as it is. Raises NotFound,
    NotPlayed, NotOpen if who has offered is frozen, StakeOutOfRange, ServicePaused, WalletFrozen,
    TooManyMatches and InsufficientCredits.
    """
    # Its lock makes two offers at once one after the other, so that the second accepts the first.
    played = battle.locked(match_id)
    if not played.seats.filter(wallet=wallet).exists():
        raise NotFound
    if played.house_ape:
        raise NotPlayed("Practice has no rematch; start another.")
    if played.status in Match.LIVE or played.started_at is None:
        raise NotPlayed
    offer = _standing_offer(played)
    if offer is None:
        return create_match(
            wallet=wallet,
            stake=played.stake,
            visibility=played.visibility,
            ruleset=played.ruleset,
            rematch_of=played,
        )
    if offer.status == Match.Status.OPEN and not offer.seats.filter(wallet=wallet).exists():
        return _join(offer, wallet)
    return offer


def _standing_offer(played: Match) -> Match | None:
    """The rematch that is offered or was accepted, locked."""
    offers = played.rematches.exclude(status=Match.Status.CANCELLED)
    offer = offers.select_for_update(no_key=True).first()
    if offer and offer.status == Match.Status.OPEN and _is_expired(offer):
        _take_back(offer, "expired")
        return None
    return offer


def _is_expired(match: Match) -> bool:
    return match.created_at <= oldest_open(timezone.now())


def _join(match: Match, wallet: Wallet) -> Match:
    """Seat a player opposite another, who may play: a frozen one could only lose by missing."""
    # By id, so that players who join each other's matches at once wait in line.
    both = Q(pk=wallet.pk) | Q(pk__in=match.seats.values("wallet"))
    for player in Wallet.objects.select_for_update(no_key=True).filter(both).order_by("pk"):
        if player != wallet and not player.is_active:
            raise NotOpen
    _sit_down(match, Side.B, wallet)
    battle.begin(match, timezone.now())
    return match


def _sit_down(match: Match, side: Side, wallet: Wallet) -> None:
    """Seat a player who may play, with the stake. The match's row is locked or new."""
    require_may_play(wallet, settings.MATCH_MAX_LIVE, match__stake__gt=0)
    settlement.take_seat(match=match, side=side, wallet=wallet)


def require_may_play(wallet: Wallet, limit: int, **counted: Any) -> None:
    """Refuse a player who is frozen or in as many live matches of the `counted` kind as may be.

    The player's other requests wait here, so that none adds a match unseen. Raises ServicePaused,
    WalletFrozen, TooManyMatches.
    """
    require_running(Service.Name.MATCHES)
    player = Wallet.objects.select_for_update(no_key=True).get(pk=wallet.pk)
    if not player.is_active:
        raise WalletFrozen
    if player.seats.filter(match__status__in=Match.LIVE, **counted).count() >= limit:
        raise TooManyMatches(f"You may be in {limit} such matches at once.", maximum=limit)


@in_match
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


@in_match
def expire_match(*, match_id: UUID) -> bool:
    """Close a match that nobody has joined for too long; the stake returns. Whether it was so."""
    match = battle.locked(match_id)
    if match.status != Match.Status.OPEN or not _is_expired(match):
        return False
    _take_back(match, "expired")
    return True


def _take_back(match: Match, ended_by: str) -> Match:
    match.status = Match.Status.CANCELLED
    match.ended_by = ended_by
    match.ended_at = timezone.now()
    match.save()
    settlement.refund(match)
    about_end(match)
    return match
