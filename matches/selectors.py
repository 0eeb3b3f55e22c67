"""Reads of matches. What a reader may see is built up field by field, never cut down."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet, Sum
from django.utils import timezone

import engine
from matches import battle, clock, lobby
from matches.models import Event, Match, Side, seats_with_wallets
from matches.sealing import unseal
from wallets.errors import NotFound
from wallets.models import Wallet


def credits_in_play(wallet: Wallet) -> int:
    """Credits that a player has staked on matches that have not ended."""
    return wallet.seats.filter(staked__gt=0).aggregate(Sum("staked"))["staked__sum"] or 0


def open_matches(stake_min: int | None = None, stake_max: int | None = None) -> QuerySet[Match]:
    """Matches that anyone may join, of stakes within these limits."""
    matches = lobby.open_to_all(timezone.now()).prefetch_related("seats__wallet")
    if stake_min is not None:
        matches = matches.filter(stake__gte=stake_min)
    if stake_max is not None:
        matches = matches.filter(stake__lte=stake_max)
    return matches


def matches_of(wallet: Wallet) -> QuerySet[Match]:
    """A player's own matches, whatever became of them."""
    return _with_seats().filter(pk__in=wallet.seats.values("match"))


def match_for(wallet: Wallet, match_id: UUID, invitation: str = "") -> Match:
    """A match that this wallet may see: open ones, its own, and those it holds the invitation of.

    A deadline that has passed is applied first. Raises NotFound.
    """
    match = _with_seats().filter(pk=match_id).first()
    if match is None or not (match.side_of(wallet) or match.admits(invitation)):
        raise NotFound
    if clock.has_passed(match, timezone.now()):
        battle.catch_up(match_id=match_id)
        match = _with_seats().get(pk=match_id)
    return match


def _with_seats() -> QuerySet[Match]:
    return Match.objects.prefetch_related(seats_with_wallets())


def card(match: Match) -> dict[str, Any]:
    """What a list shows of a match; the same for every reader."""
    return {
        "id": match.pk,
        "status": match.status,
        "visibility": match.visibility,
        "stake": match.stake,
        "fee_bps": match.fee_bps,
        "ruleset": match.ruleset,
        "players": {seat.side: seat.wallet.address for seat in match.seats.all()},
        "house_ape": match.house_ape or None,
        "winner": match.winner or None,
        "ended_by": match.ended_by or None,
        "created_at": match.created_at,
        "started_at": match.started_at,
        "ended_at": match.ended_at,
    }


def table(match: Match, wallet: Wallet) -> dict[str, Any]:
    """A whole match, as this wallet may see it now."""
    own = match.side_of(wallet)
    ended = match.status not in Match.LIVE
    return card(match) | {
        "you": own,
        "rulings": {ruling: match.rulings[ruling] for ruling in engine.RULINGS},
        "invitation": match.invitation if own == Side.A else None,
        "secret_hash": match.secret_hash,
        "void_reason": match.void_reason or None,
        "server_secret": unseal(match.sealed_secret) if ended else None,
        "rematch": _rematch(match) if own and ended else None,
        "play": _play(match, own) if match.state else None,
    }


def _rematch(match: Match) -> dict[str, Any] | None:
    """What the two players of a match that has ended see of its rematch."""
    rematches = _with_seats().filter(rematch_of=match)
    rematch = rematches.exclude(status=Match.Status.CANCELLED).first()
    if rematch is None:
        return None
    maker = next(seat.wallet for seat in rematch.seats.all() if seat.side == Side.A)
    return {"match": rematch.pk, "by": match.side_of(maker), "status": rematch.status}


def _play(match: Match, own: str | None) -> dict[str, Any]:
    state = battle.state_of(match)
    locks = {lock.side: lock for lock in match.lock_ins.filter(movement=state.movement)}
    running = match.status == Match.Status.RUNNING
    revealing = match.stage == Match.Stage.REVEAL
    # Not a later one: the match may have gone on since its row was read.
    past = match.events.filter(n__lt=match.event_count, body__type="movement")
    last = past.order_by("-n").first()
    return {
        "round": state.round,
        "phase": state.phase,
        "movement": state.movement,
        "in_phase": state.in_phase,
        "cycle": state.cycle,
        "sudden_death": state.sudden_death,
        "stage": match.stage or None,
        "deadline": match.deadline,
        "apes": {
            side.value: getattr(state, side.value)._asdict()
            | {
                "locked_in": running and side in locks,
                "revealed": revealing and side in locks and locks[side].revealed,
            }
            for side in Side
        },
        "last_movement": last and _past_movement(last),
        "legal_choices": [
            choice._asdict()
            for choice in (
                engine.legal_choices(state, own, battle.ruleset_of(match))
                if own and running
                else ()
            )
        ],
    }


def _past_movement(event: Event) -> dict[str, Any]:
    """A movement that is over: its choices are everybody's to see."""
    return {
        "movement": event.body["movement"],
        **{
            side.value: (choice := event.body[side.value])
            and {"move": choice["move"], "tribute": choice["tribute"]}
            for side in Side
        },
    }
