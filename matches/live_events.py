"""What a match's stream tells: built field by field, the same for every reader.

No salt is ever told here, and no choice before its movement is over: event bodies hold neither.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework.utils.encoders import JSONEncoder

import engine
from engine import Choice, Draw, State
from matches import battle, chance
from matches.metrics import EVENT_SECONDS
from matches.models import Event, Match, Side
from matches.sealing import unseal

START = ("match", "ruleset", "rulings", "stake", "fee_bps", "secret_hash", "a", "b")
# The commitment is told at once: whoever has seen it can hold both the other ape and the server to
# it. Its salt, which is 32 random bytes, keeps the choice hidden.
LOCKED = ("ape", "movement", "commitment")
STATE = ("round", "phase", "movement", "in_phase", "cycle", "sudden_death", "outcome")


@dataclass(frozen=True, slots=True)
class Mark:
    """The state of a match after its event `n`; none before the first one."""

    n: int = -1
    state: State | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """What one read of a match found."""

    frames: bytes
    last: int  # the number of the last event that has been told, these included
    clock: bytes  # what is running now; empty if nothing is
    ended: bool
    mark: Mark
    version: tuple[Any, ...]


def version_of(match: Match) -> tuple[Any, ...]:
    """Differs whenever there is something new to tell."""
    return match.event_count, match.status, match.stage, match.deadline


def versions_of(match_ids: Iterable[UUID]) -> dict[UUID, tuple[Any, ...]]:
    """The versions of many matches, in one query."""
    fields = ("event_count", "status", "stage", "deadline")
    return {
        match.pk: version_of(match)
        for match in Match.objects.filter(pk__in=list(match_ids)).only(*fields)
    }


def read(match_id: UUID, after: int, mark: Mark) -> Batch:
    """Everything after the event with this number; `mark` saves replaying what comes before it.

    The row is read first, and of the events only those that it counts: both are written in one
    transaction, so that they belong together.
    """
    match = Match.objects.get(pk=match_id)
    count, ended = match.event_count, match.status not in Match.LIVE
    frames = []
    if after < count - 1:
        told = list(_told(match, after, mark))
        frames = [_event_frame(event, state, match) for event, state in told]
        if mark.n == after >= 0:  # else somebody has connected, to whom old events are told
            for event, _ in told:
                EVENT_SECONDS.observe((timezone.now() - event.created_at).total_seconds())
    if ended and after < count:
        frames.append(_frame("ended", _ended(match), n=count))
    return Batch(
        frames=b"".join(frames),
        last=count if ended else max(after, count - 1),
        clock=b"" if match.deadline is None else _frame("clock", _clock(match)),
        ended=ended,
        mark=Mark(count - 1, match.state and battle.state_of(match)),
        version=version_of(match),
    )


def _told(match: Match, after: int, mark: Mark) -> Iterable[tuple[Event, State]]:
    """The events after that number, each with the state that it led to.

    The last one's is the match's own; those in between aren't stored, and are replayed.
    """
    if mark.n > after or mark.n >= match.event_count:
        mark = Mark()
    state, draws = mark.state, _Draws(match)
    events = match.events.filter(n__gt=mark.n, n__lt=match.event_count).order_by("n")
    for event in events:
        if event.n == match.event_count - 1:
            state = battle.state_of(match)
        else:
            state = _apply(state, event, draws, match)
        if event.n > after:
            yield event, state


class _Draws:
    """The draws of a match; its secret is decrypted only if something is replayed."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self._secret = ""

    def at(self, event: Event) -> Draw:
        self._secret = self._secret or unseal(self._match.sealed_secret)
        return chance.draw_from(self._secret, event.chain_hash)


def _apply(state: State | None, event: Event, draws: _Draws, match: Match) -> State:
    body, ruleset = event.body, battle.ruleset_of(match)
    if state is None:
        return engine.start(ruleset)
    match body["type"]:
        case "movement":
            a, b = (_choice(body[side]) for side in Side)
            return engine.resolve(state, a, b, draw=draws.at(event), ruleset=ruleset)
        case "potion":
            return engine.drink(state, body["ape"], ruleset)
        case "resign":
            return engine.resign(state, body["ape"])
    return state


def _choice(shown: dict[str, Any] | None) -> Choice | None:
    return shown and Choice(shown["move"], shown["tribute"])


def _event_frame(event: Event, state: State, match: Match) -> bytes:
    body = event.body
    told: dict[str, Any] = {"n": event.n, "at": event.created_at, "chain_hash": event.chain_hash}
    match body["type"]:
        case "start":
            told |= {name: body[name] for name in START} | {"state": _state(state)}
            told |= {"house_ape": match.house_ape or None}
        case "locked":
            told |= {name: body[name] for name in LOCKED}
        case "movement":
            told |= {"movement": body["movement"], "state": _state(state)}
            told |= {side.value: _shown(body[side.value]) for side in Side}
        case "potion" | "resign":
            told |= {"ape": body["ape"], "state": _state(state)}
        case "void":
            told |= {"reason": body["reason"]}
    return _frame(body["type"], told, n=event.n)


def _shown(choice: dict[str, Any] | None) -> dict[str, Any] | None:
    return choice and {"move": choice["move"], "tribute": choice["tribute"]}


def _state(state: State) -> dict[str, Any]:
    return {name: getattr(state, name) for name in STATE} | {
        "apes": {"a": state.a._asdict(), "b": state.b._asdict()}
    }


def _ended(match: Match) -> dict[str, Any]:
    return {
        "n": match.event_count,
        "at": match.ended_at,
        "status": match.status,
        "winner": match.winner or None,
        "ended_by": match.ended_by or None,
    }


def _clock(match: Match) -> dict[str, Any]:
    return {
        "movement": battle.state_of(match).movement,
        "stage": match.stage,
        "deadline": match.deadline,
    }


def _frame(kind: str, data: dict[str, Any], *, n: int | None = None) -> bytes:
    """One message of the stream; without a number it leaves the reader's Last-Event-ID alone."""
    text = json.dumps(data, cls=JSONEncoder, separators=(",", ":"), ensure_ascii=False)
    number = "" if n is None else f"id: {n}\n"
    return f"{number}event: {kind}\ndata: {text}\n\n".encode()
