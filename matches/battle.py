"""The battle: lock in, reveal, potions, resigning, deadlines.

Every change is made under the match's row lock, in one transaction with its event and its money.
The engine says what an event means; this module decides when one has happened.
"""

import secrets
from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models import prefetch_related_objects
from django.utils import timezone

import engine
from engine import Choice, Ruleset, State
from engine.apes import APES, seen_by
from matches import chance, clock, leaderboard, settlement
from matches.errors import (
    IllegalChoice,
    NotRunning,
    StaleMovement,
    TooEarly,
    TooLate,
    TooManyChanges,
    WrongReveal,
)
from matches.logs import about, about_end, in_match
from matches.models import Event, LockIn, Match, Side, seats_with_wallets
from matches.sealing import seal, unseal
from wallets.errors import Forbidden, NotFound
from wallets.models import Wallet

log = structlog.get_logger(__name__)
RESIGNED, VOIDED = "resigned", "voided"
MAX_REASON = 300


def locked(match_id: UUID) -> Match:
    """The match, its row locked until the transaction ends. Raises NotFound."""
    match = Match.objects.select_for_update(no_key=True).filter(pk=match_id).first()
    if match is None:
        raise NotFound
    return match


def ruleset_of(match: Match) -> Ruleset:
    """The rulings that the match was made under."""
    return Ruleset(**match.rulings)


def state_of(match: Match) -> State:
    """The engine's state of a match that has started."""
    return State.from_json(match.state)


def begin(match: Match, now: datetime) -> None:
    """Start the first movement; both seats have just been taken."""
    wallets = {seat.side: seat.wallet.address for seat in match.seats.select_related("wallet")}
    match.status = Match.Status.RUNNING
    match.started_at = now
    header = {
        "type": "start",
        "match": str(match.pk),
        "ruleset": match.ruleset,
        "rulings": match.rulings,
        "stake": str(match.stake),
        "fee_bps": match.fee_bps,
        "secret_hash": match.secret_hash,
        **wallets,
    }
    _record(match, header)
    about(match, "match started", stake=str(match.stake))
    _next_movement(match, engine.start(ruleset_of(match)), now)


@in_match
def lock_in(*, wallet: Wallet, match_id: UUID, movement: int, commitment: str) -> Match:
    """Lock in a commitment (rules.md, section 6) for the running movement.

    It may be replaced, not too often, until both apes have locked in. The same one again changes
    nothing. Raises NotFound, NotRunning, StaleMovement, TooLate, TooManyChanges.
    """
    match, side = _seated(wallet, match_id)
    locks = _lock_ins(match, movement)

    def is_repeat(before: LockIn) -> bool:
        return before.commitment == commitment

    if not _repeated(match, locks.get(side), movement, is_repeat):
        _lock_in(match, side, locks, commitment=commitment)
    return match


@in_match
def play(*, wallet: Wallet, match_id: UUID, movement: int, choice: Choice) -> Match:
    """Lock in a choice in one step: the server makes the salt, and reveals it with the other's.

    Raises NotFound, NotRunning, StaleMovement, TooLate, TooManyChanges, IllegalChoice.
    """
    match, side = _seated(wallet, match_id)
    locks = _lock_ins(match, movement)

    def is_repeat(before: LockIn) -> bool:
        return bool(before.sealed_choice) and _choice(unseal(before.sealed_choice)) == choice

    if not _repeated(match, locks.get(side), movement, is_repeat):
        _require_legal(match, side, choice)
        _lock_in_choice(match, side, locks, choice)
    return match


@in_match
def reveal(*, wallet: Wallet, match_id: UUID, movement: int, choice: Choice, salt: str) -> Match:
    """Reveal what was locked in. A wrong one is refused, and may be tried again until the deadline.

    Raises NotFound, NotRunning, StaleMovement, TooEarly, TooLate, WrongReveal, IllegalChoice.
    """
    match, side = _seated(wallet, match_id)
    commitment = _commitment(match, side, movement, choice, salt)
    locks = _lock_ins(match, movement)
    before = locks.get(side)

    def is_repeat(before: LockIn) -> bool:
        return before.revealed and before.commitment == commitment

    if _repeated(match, before, movement, is_repeat):
        return match
    if match.stage != Match.Stage.REVEAL:
        raise TooEarly
    if before is None:
        raise TooLate("You have not locked in a choice for this movement.")
    if before.commitment != commitment:
        raise WrongReveal
    _require_legal(match, side, choice)
    before.sealed_choice = seal(choice._asdict() | {"salt": salt})
    before.revealed = True
    before.save()
    if _all_revealed(locks):
        _resolve(match, locks, timezone.now())
    return match


@in_match
def drink(*, wallet: Wallet, match_id: UUID) -> Match:
    """Drink a potion (rules.md, section 5). Raises NotFound, NotRunning, IllegalChoice."""
    match, side = _seated(wallet, match_id)
    _require_running(match)
    _drink(match, side)
    match.save()
    return match


@in_match
def resign(*, wallet: Wallet, match_id: UUID) -> Match:
    """Give the match up; again changes nothing. Raises NotFound, NotRunning."""
    match, side = _seated(wallet, match_id)
    if match.ended_by == RESIGNED and match.winner == side.other:
        return match
    _require_running(match)
    state = engine.resign(state_of(match), side.value)
    _record(match, {"type": "resign", "ape": side.value})
    _end(match, state, RESIGNED, timezone.now())
    return match


@in_match
def void(*, operator: Wallet, match_id: UUID, reason: str) -> None:
    """Stop a running match and give both stakes back; both players are shown the reason.

    Raises Forbidden, NotFound, NotRunning, and ValueError without a reason that can be shown.
    """
    if not operator.has_perm("matches.void_match"):
        raise Forbidden
    reason = reason.strip()
    if not 0 < len(reason) <= MAX_REASON or "\0" in reason or not _is_unicode(reason):
        raise ValueError(f"A reason is text of 1 to {MAX_REASON} characters.")
    match = locked(match_id)
    _require_running(match)
    match.void_reason = reason
    _record(match, {"type": "void", "reason": match.void_reason})
    log.warning("match voided", match=str(match.pk), operator=operator.pk, reason=reason)
    _close(match, Match.Status.CANCELLED, VOIDED, timezone.now())


def catch_up_if_due(*, match_id: UUID) -> None:
    """Apply a deadline that has passed; a look without a lock tells whether there is one.

    In a transaction of its own: whatever else the caller does may be refused, and undone.
    """
    due = clock.latest_due(timezone.now())
    if Match.objects.filter(pk=match_id, deadline__lte=due).exists():
        catch_up(match_id=match_id)


@in_match
def catch_up(*, match_id: UUID) -> bool:
    """Apply a deadline that has passed; whether there was one. Anybody may call it, at any time."""
    return _apply_deadline(locked(match_id))


def _apply_deadline(match: Match) -> bool:
    now = timezone.now()
    if not clock.has_passed(match, now):
        return False
    if clock.was_down(match, now):
        match.deadline = now + match.stage_time
        match.save()
        return True
    locks = _lock_ins(match, state_of(match).movement)
    if match.stage == Match.Stage.LOCK and locks:
        _start_reveals(match, locks, now)
    else:
        _resolve(match, locks, now)
    return True


def _seated(wallet: Wallet, match_id: UUID) -> tuple[Match, Side]:
    """The player's match, locked and up to date, and the side played.

    A stranger's match is not found. Whatever the player does next happens after a deadline that
    has passed, whether or not the sweep has come by.
    """
    match = locked(match_id)
    prefetch_related_objects([match], seats_with_wallets())
    side = match.side_of(wallet)
    if side is None:
        raise NotFound
    _apply_deadline(match)
    return match, side


def _require_running(match: Match) -> None:
    if match.status != Match.Status.RUNNING:
        raise NotRunning


def _repeated(
    match: Match, before: LockIn | None, movement: int, is_repeat: Callable[[LockIn], bool]
) -> bool:
    """Whether the message came before; if not, it must be for the running movement.

    A repeat is answered even when the movement, or the match, is over: its sender may have lost
    the first answer.
    """
    if before and is_repeat(before):
        return True
    _require_running(match)
    running = state_of(match).movement
    if movement != running:
        raise StaleMovement(f"Movement {running} is running.", movement=running)
    return False


def _lock_in(
    match: Match,
    side: Side,
    locks: dict[str, LockIn],
    *,
    commitment: str,
    sealed_choice: bytes | None = None,
) -> None:
    """Lock in for the running movement, `locks` being what was locked in for it before."""
    if match.stage != Match.Stage.LOCK:
        raise TooLate
    movement = state_of(match).movement
    lock = locks.get(side)
    if lock is None:
        lock = locks[side] = LockIn(match=match, movement=movement, side=side)
    elif lock.replaced >= settings.MATCH_MAX_REPLACEMENTS:
        raise TooManyChanges
    else:
        lock.replaced += 1
    lock.commitment = commitment
    lock.sealed_choice = sealed_choice
    lock.revealed = sealed_choice is not None
    lock.save()
    _record(
        match,
        {"type": "locked", "ape": side.value, "movement": movement, "commitment": commitment},
    )
    if len(locks) == 2:
        _start_reveals(match, locks, timezone.now())
    else:
        match.save()


def _lock_in_choice(match: Match, side: Side, locks: dict[str, LockIn], choice: Choice) -> None:
    """Lock in a choice that the server keeps, under a salt of the server's."""
    salt = secrets.token_hex(32)
    _lock_in(
        match,
        side,
        locks,
        commitment=_commitment(match, side, state_of(match).movement, choice, salt),
        sealed_choice=seal(choice._asdict() | {"salt": salt}),
    )


def _drink(match: Match, side: Side) -> None:
    """Drink a potion; the caller saves the match."""
    state = _legal(lambda: engine.drink(state_of(match), side.value, ruleset_of(match)))
    _record(match, {"type": "potion", "ape": side.value})
    match.state = state.to_json()


def _lock_ins(match: Match, movement: int) -> dict[str, LockIn]:
    """What has been locked in for a movement, by side; it stays so while the match is locked."""
    return {lock.side: lock for lock in match.lock_ins.filter(movement=movement)}


def _all_revealed(locks: dict[str, LockIn]) -> bool:
    return all(lock.revealed for lock in locks.values())


def _start_reveals(match: Match, locks: dict[str, LockIn], now: datetime) -> None:
    """Both are in, or one is and the time is up: from now on nobody can change a choice."""
    match.stage = Match.Stage.REVEAL
    match.deadline = now + match.stage_time
    if _all_revealed(locks):
        _resolve(match, locks, now)
    else:
        match.save()


def _resolve(match: Match, locks: dict[str, LockIn], now: datetime) -> None:
    """End the movement with what has been revealed; who has revealed nothing misses it."""
    state = state_of(match)
    shown = {side: unseal(lock.sealed_choice) for side, lock in locks.items() if lock.revealed}
    a, b = (shown.get(side) for side in Side)
    _record(match, {"type": "movement", "movement": state.movement, "a": a, "b": b})
    state = engine.resolve(
        state,
        _choice(a),
        _choice(b),
        draw=chance.draw_from(unseal(match.sealed_secret), match.chain_hash),
        ruleset=ruleset_of(match),
    )
    if state.status == "running":
        _next_movement(match, state, now)
    else:
        _end(match, state, _why(state), now)


def _next_movement(match: Match, state: State, now: datetime) -> None:
    match.state = state.to_json()
    match.stage = Match.Stage.LOCK
    match.deadline = now + match.stage_time
    match.save()
    if match.house_ape:
        _play_for_house(match, state)


def _play_for_house(match: Match, state: State) -> None:
    """Let the house's ape drink and lock in before its opponent can have locked anything in.

    In the transaction that starts the movement: no movement runs without its choice.
    """
    seen, ruleset = seen_by(state, Side.B.value), ruleset_of(match)
    turn = APES[match.house_ape].play(seen, ruleset, secrets.SystemRandom())
    for _ in range(turn.potions):
        _drink(match, Side.B)
    _lock_in_choice(match, Side.B, {}, turn.choice)


def _why(state: State) -> str:
    """What ended a match that a movement ended."""
    if state.status == "won":
        return "missed" if 3 in (state.a.misses, state.b.misses) else "rounds"
    return "movements" if state.status == "draw" else "missed"


def _end(match: Match, state: State, ended_by: str, now: datetime) -> None:
    match.state = state.to_json()
    match.winner = state.winner or ""
    _close(match, Match.Status(state.status), ended_by, now)


def _close(match: Match, status: Match.Status, ended_by: str, now: datetime) -> None:
    """Settle: status and money change together."""
    match.status = status
    match.ended_by = ended_by
    match.ended_at = now
    match.deadline = None
    match.stage = ""
    match.save()
    settlement.settle(match)
    leaderboard.enter(match)
    about_end(match)


def _record(match: Match, body: dict[str, Any]) -> None:
    """Append an event to the match's hash chain; the caller saves the match."""
    match.chain_hash = chance.extend(match.chain_hash, body)
    Event.objects.create(match=match, n=match.event_count, body=body, chain_hash=match.chain_hash)
    match.event_count += 1


def _is_unicode(text: str) -> bool:
    """Whether it holds no half of a surrogate pair: such text has no UTF-8."""
    return text.encode(errors="ignore").decode() == text


def _choice(shown: dict[str, Any] | None) -> Choice | None:
    return shown and Choice(shown["move"], shown["tribute"])


def _commitment(match: Match, side: Side, movement: int, choice: Choice, salt: str) -> str:
    return chance.commitment(
        match_id=str(match.pk), movement=movement, side=side.value, choice=choice, salt=salt
    )


def _require_legal(match: Match, side: Side, choice: Choice) -> None:
    if choice not in engine.legal_choices(state_of(match), side.value, ruleset_of(match)):
        raise IllegalChoice(f"{choice.move} with tribute {choice.tribute} is not covered now.")


def _legal(apply: Callable[[], State]) -> State:
    try:
        return apply()
    except engine.IllegalEvent as error:
        raise IllegalChoice(error.reason) from error
