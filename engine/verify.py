"""Verify a match's transcript: that nobody, the server included, has bent it (rules.md, section 6).

Standard library and the rules only, and nothing shared with the server that wrote the transcript.
`docs/fairness.md` explains the format.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from engine.play import drink, resign, resolve, start
from engine.replay import ReplayError, _line, _shown
from engine.ruleset import RULINGS, Ruleset, RulesetError
from engine.state import MOVES, TRIBUTES, Choice, IllegalEvent, Influence, Seat, State

FORMAT = "bas-transcript-1"
SEATS: tuple[Seat, ...] = ("a", "b")

HEX_32 = re.compile(r"[0-9a-f]{64}")
AMOUNT = re.compile(r"0|[1-9][0-9]{0,77}")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
NAME = re.compile(r"[ -~]{1,32}")
REASON = re.compile(r"[^\ud800-\udfff]*", re.DOTALL)

DOCUMENT = ("format", "header", "server_secret", "events", "chain_hash", "final", "result")
HEADER = ("match", "ruleset", "rulings", "stake", "fee_bps", "secret_hash", "a", "b")
EVENTS: Mapping[str, tuple[str, ...]] = {
    "start": HEADER,
    "locked": ("ape", "movement", "commitment"),
    "movement": ("movement", "a", "b"),
    "potion": ("ape",),
    "resign": ("ape",),
    "void": ("reason",),
}


class Fault(ReplayError):
    """The first thing in a transcript that is off: where it stands, and why."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where


class Verified(NamedTuple):
    """What a transcript proves."""

    match: str
    events: int
    movements: int
    draws: int
    result: Mapping[str, Any]


def is_transcript(document: object) -> bool:
    """Whether this is meant as a transcript, rather than as a replay with its influences given."""
    return isinstance(document, dict) and "server_secret" in document


def replay_transcript(document: object) -> Iterator[dict[str, Any]]:
    """Yield the lines of `replay` for a transcript, verified on the way.

    The start and each movement, potion and resigning give a line. Raises `ReplayError`.
    """
    for n, state in enumerate(_Verifier(document).states()):
        yield _line(n, state)


def verify(document: object) -> Verified:
    """Return what the transcript proves.

    Raises `Fault` for the first thing that is off, `ReplayError` if it is no transcript at all.
    """
    verifier = _Verifier(document)
    for state in verifier.states():
        last = state
    return Verified(
        match=verifier.header["match"],
        events=len(verifier.events),
        movements=sum(event["type"] == "movement" for event in verifier.events),
        draws=verifier.draws,
        result=_result(last, verifier.header, verifier.events[-1]),
    )


class _Verifier:
    """One walk through a transcript, in the order in which it was written."""

    def __init__(self, document: object) -> None:
        self.document = _object(document, "the transcript", DOCUMENT)
        _text(self.document["format"], "format", re.compile(FORMAT))
        self.header = _object(self.document["header"], "header", HEADER)
        events = self.document["events"]
        if not isinstance(events, list) or not events:
            raise ReplayError("events: must be a list that is not empty")
        self.events = [_event(event, f"events[{i}]") for i, event in enumerate(events)]
        self.draws = 0
        self.hash = b""
        self.locked: dict[str, str] = {}

    def states(self) -> Iterator[State]:
        """Yield the state at the start and after each event that the rules know."""
        if self.events[0]["type"] != "start":
            raise Fault("events[0].type", "a match begins with its start")
        self._chain(0)
        for field in HEADER:
            _same(f"header.{field}", self.header[field], self.events[0][field])
        ruleset = _ruleset(self.header)
        secret = _text(self.document["server_secret"], "server_secret", HEX_32)
        if _sha256(bytes.fromhex(secret)).hex() != self.header["secret_hash"]:
            raise Fault("server_secret", "it is not what secret_hash promised")
        self.secret = bytes.fromhex(secret)

        state = start(ruleset)
        yield state
        over = False
        for index in range(1, len(self.events)):
            kind, where = self.events[index]["type"], f"events[{index}]"
            if over or state.status != "running":
                raise Fault(where, "the match was over before it")
            if kind in ("locked", "movement"):
                self._check_movement(index, state)
            self._chain(index)
            over = kind == "void"
            after = self._apply(index, state, ruleset)
            if after is not state:
                state = after
                yield state
        self._check_end(state)

    def _check_movement(self, index: int, state: State) -> None:
        """Check what the chain can't: the movement's number, and choices against commitments."""
        event, where = self.events[index], f"events[{index}]"
        if event["movement"] != state.movement:
            raise Fault(f"{where}.movement", f"movement {state.movement} was running")
        if event["type"] == "locked":
            if len(self.locked) == len(SEATS):
                raise Fault(where, "both apes had locked in: no choice could be changed any more")
            return
        for seat in SEATS:
            if event[seat] is None:
                continue
            if seat not in self.locked:
                raise Fault(f"{where}.{seat}", "shown without having been locked in")
            field = _wrong_in(event[seat], self._prefix(seat, state), self.locked[seat])
            if field:
                raise Fault(f"{where}.{seat}.{field}", f"not what ape {seat} had locked in")

    def _prefix(self, seat: Seat, state: State) -> str:
        return f"bas:{self.header['match']}:{state.movement}:{seat}"

    def _chain(self, index: int) -> None:
        """Extend the hash chain, and name what is off if it does not hold."""
        event, where = self.events[index], f"events[{index}]"
        recorded = event["hash"]
        computed = _extended(self.hash, event)
        if computed.hex() != recorded:
            # What follows tells whether the event or its hash was changed.
            if self._follows(index, bytes.fromhex(recorded)):
                field = self._changed(index)
                raise Fault(f"{where}{field}", "the event is not the one that was chained")
            raise Fault(f"{where}.hash", "the hash chain breaks here")
        self.hash = computed

    def _follows(self, index: int, recorded: bytes) -> bool:
        if index + 1 == len(self.events):
            return bool(recorded.hex() == self.document["chain_hash"])
        following = self.events[index + 1]
        return bool(_extended(recorded, following).hex() == following["hash"])

    def _changed(self, index: int) -> str:
        """Return the field of an event that must have been changed, as far as that can be told."""
        event = self.events[index]
        match event["type"]:
            case "start":
                return next((f".{f}" for f in HEADER if event[f] != self.header[f]), "")
            case "locked":
                return ".ape" if self._fits_with_the_other_ape(event) else ".commitment"
            case "movement":  # what is shown has just been compared with what was locked in
                return next((f".{seat}" for seat in SEATS if event[seat] is None), "")
            case "void":
                return ".reason"
            case _:
                return ".ape" if self._fits_with_the_other_ape(event) else ".type"

    def _fits_with_the_other_ape(self, event: Mapping[str, Any]) -> bool:
        flipped = {**event, "ape": "b" if event["ape"] == "a" else "a"}
        return bool(_extended(self.hash, flipped).hex() == event["hash"])

    def _apply(self, index: int, state: State, ruleset: Ruleset) -> State:
        event = self.events[index]
        try:
            match event["type"]:
                case "start":
                    raise Fault(f"events[{index}].type", "a match starts once")
                case "locked":
                    self.locked[event["ape"]] = event["commitment"]
                case "movement":
                    self.locked = {}
                    a, b = (_choice(event[seat]) for seat in SEATS)
                    return resolve(state, a, b, draw=self._draw, ruleset=ruleset)
                case "potion":
                    return drink(state, event["ape"], ruleset)
                case "resign":
                    return resign(state, event["ape"])
        except IllegalEvent as error:
            raise Fault(f"events[{index}]", error.reason) from error
        return state

    def _draw(self, left: tuple[Influence, ...]) -> Influence:
        self.draws += 1
        digest = hmac.digest(self.secret, self.hash, "sha256")
        return left[int.from_bytes(digest, "big") % len(left)]

    def _check_end(self, state: State) -> None:
        last = self.events[-1]
        if state.status == "running" and last["type"] != "void":
            raise Fault(f"events[{len(self.events)}]", "missing: the match goes on")
        _same("chain_hash", self.document["chain_hash"], self.hash.hex())
        _same("final", self.document["final"], state.to_json())
        _same("result", self.document["result"], _result(state, self.header, last))


def _result(state: State, header: Mapping[str, Any], last: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the match ended and who is owed what (rules.md, section 5, Money)."""
    stake = int(header["stake"])
    payouts, fee = dict.fromkeys(SEATS, stake), 0
    if state.winner:
        fee = 2 * stake * header["fee_bps"] // 10_000
        payouts = dict.fromkeys(SEATS, 0) | {state.winner: 2 * stake - fee}
    if last["type"] == "void":
        status, ended_by = "cancelled", "voided"
    elif last["type"] == "resign":
        status, ended_by = state.status, "resigned"
    elif 3 in (state.a.misses, state.b.misses):
        status, ended_by = state.status, "missed"
    else:
        status, ended_by = state.status, "movements" if state.status == "draw" else "rounds"
    return {
        "status": status,
        "winner": state.winner,
        "ended_by": ended_by,
        "pot": str(2 * stake),
        "fee": str(fee),
        "payouts": {seat: str(amount) for seat, amount in payouts.items()},
    }


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _extended(chain: bytes, event: Mapping[str, Any]) -> bytes:
    """Return the chain's next hash. An event is chained without its own hash, as RFC 8785 has it:
    keys sorted, no spaces, UTF-8; all keys are ASCII, and all numbers integers."""
    body = {key: value for key, value in event.items() if key != "hash"}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return _sha256(chain + text.encode())


def _wrong_in(shown: Mapping[str, Any], prefix: str, commitment: str) -> str | None:
    """Return the field of a revealed choice that does not fit its commitment, if one does not."""

    def fits(move: str, tribute: str | None) -> bool:
        text = f"{prefix}:{move}:{tribute or 'none'}:{shown['salt']}"
        return _sha256(text.encode()).hex() == commitment

    if fits(shown["move"], shown["tribute"]):
        return None
    for move, tribute in product(MOVES, (None, *TRIBUTES)):
        if fits(move, tribute):
            return "tribute" if move == shown["move"] else "move"
    return "salt"


def _choice(shown: Mapping[str, Any] | None) -> Choice | None:
    return None if shown is None else Choice(shown["move"], shown["tribute"])


def _ruleset(header: Mapping[str, Any]) -> Ruleset:
    rulings = _object(header["rulings"], "header.rulings", ("name", *RULINGS))
    if rulings["name"] != header["ruleset"]:
        raise Fault("header.rulings.name", "not the name of the ruleset")
    try:
        return Ruleset(**rulings)
    except RulesetError as error:
        raise Fault("header.rulings", str(error)) from error


# The shape of what comes from outside. A wrong type is no transcript; a wrong value is a fault.


def _event(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise ReplayError(f"{where}: must be an object with a type")
    kind = value["type"]
    if kind not in EVENTS:
        raise Fault(f"{where}.type", f"unknown event type {_shown(kind)}")
    event = _object(value, where, ("type", "hash", *EVENTS[kind]))
    _text(event["hash"], f"{where}.hash", HEX_32)
    if kind == "start":
        return _start(event, where)
    if "ape" in event:
        _text(event["ape"], f"{where}.ape", re.compile("[ab]"))
    if "commitment" in event:
        _text(event["commitment"], f"{where}.commitment", HEX_32)
    if "reason" in event:
        _text(event["reason"], f"{where}.reason", REASON)
    if "movement" in event and type(event["movement"]) is not int:
        raise ReplayError(f"{where}.movement: must be a whole number")
    if kind == "movement":
        for seat in SEATS:
            _shape_of_choice(event[seat], f"{where}.{seat}")
    return event


def _start(event: dict[str, Any], where: str) -> dict[str, Any]:
    patterns = {
        "match": UUID, "ruleset": NAME, "stake": AMOUNT, "secret_hash": HEX_32,
        "a": ADDRESS, "b": ADDRESS,
    }  # fmt: skip
    for field, pattern in patterns.items():
        _text(event[field], f"{where}.{field}", pattern)
    fee_bps = event["fee_bps"]
    if type(fee_bps) is not int:
        raise ReplayError(f"{where}.fee_bps: must be a whole number")
    if not 0 <= fee_bps <= 10_000:
        raise Fault(f"{where}.fee_bps", "must be 0 to 10000")
    rulings = _object(event["rulings"], f"{where}.rulings", ("name", *RULINGS))
    for ruling, value in rulings.items():
        if type(value) not in (bool, int):
            _text(value, f"{where}.rulings.{ruling}", NAME)
    return event


def _shape_of_choice(value: object, where: str) -> None:
    if value is None:
        return
    shown = _object(value, where, ("move", "tribute", "salt"))
    if shown["move"] not in MOVES:
        raise Fault(f"{where}.move", f"unknown move {_shown(shown['move'])}")
    if shown["tribute"] is not None and shown["tribute"] not in TRIBUTES:
        raise Fault(f"{where}.tribute", f"unknown tribute {_shown(shown['tribute'])}")
    _text(shown["salt"], f"{where}.salt", HEX_32)


def _object(value: object, where: str, keys: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ReplayError(f"{where}: must be an object")
    for key in keys:
        if key not in value:
            raise ReplayError(f"{where}: {key} is missing")
    for key in value:
        if key not in keys:
            raise ReplayError(f"{where}: {_shown(key)} does not belong there")
    return value


def _text(value: object, where: str, pattern: re.Pattern[str]) -> str:
    if not isinstance(value, str):
        raise ReplayError(f"{where}: must be text")
    if not pattern.fullmatch(value):
        raise Fault(where, f"{_shown(value)} is not of the form it must have")
    return value


def _same(where: str, claimed: Any, true: Any) -> None:
    """Compare a claim with what it must be, down to the first leaf that differs."""
    if isinstance(true, dict):
        claimed = _object(claimed, where, tuple(true))
        for key, value in true.items():
            _same(f"{where}.{key}", claimed[key], value)
    elif isinstance(true, list) and isinstance(claimed, list) and len(claimed) == len(true):
        for index, value in enumerate(true):
            _same(f"{where}[{index}]", claimed[index], value)
    elif type(claimed) is not type(true) or claimed != true:  # True is 1 to == alone
        raise Fault(where, f"is {_shown(claimed)}, and must be {_shown(true)}")
