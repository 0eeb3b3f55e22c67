"""Replay a recorded match, one line of output for each event (rules.md, section 7)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from engine.play import Draw, drink, resign, resolve, start
from engine.ruleset import RULESETS, Ruleset, RulesetError, ruleset_with
from engine.state import INFLUENCES, MOVES, TRIBUTES, Choice, IllegalEvent, Influence, Seat, State


class ReplayError(Exception):
    """Why a replay cannot start, or cannot go on; one line, fit to be shown."""


def replay(document: object) -> Iterator[dict[str, Any]]:
    """Yield the output lines of a replay: the start (`n` 0), then the state after each event.

    `document` is the parsed JSON of rules.md, section 7; keys it does not name are ignored.

    Raises `ReplayError` when the document is malformed as a whole, before the first line, or when
    an event is illegal or malformed, after the lines of the events before it.
    """
    ruleset, influences, events = _read(document)
    draws = iter(influences)

    def draw(left: tuple[Influence, ...]) -> Influence:
        influence = next(draws, None)
        if influence is None:
            raise IllegalEvent("no_draw", "draw: the influences have run out")
        return influence

    state = start(ruleset)
    yield _line(0, state)
    for index, event in enumerate(events):
        try:
            state = _apply(state, event, draw, ruleset)
        except IllegalEvent as error:
            raise ReplayError(f"events[{index}] (n {index + 1}): {error.reason}") from error
        yield _line(index + 1, state)


def _line(n: int, state: State) -> dict[str, Any]:
    line = {"n": n} | state.to_json()
    del line["used"]
    return line


def _read(document: object) -> tuple[Ruleset, list[Influence], list[object]]:
    if not isinstance(document, dict):
        raise ReplayError("the replay must be a JSON object")
    name, rulings = document.get("ruleset"), document.get("rulings", {})
    influences, events = document.get("influences"), document.get("events")
    if not isinstance(name, str) or name not in RULESETS:
        raise ReplayError(f"ruleset: unknown ruleset {_shown(name)}")
    if not isinstance(rulings, dict):
        raise ReplayError("rulings: must be an object")
    if not isinstance(influences, list):
        raise ReplayError("influences: must be a list")
    if not isinstance(events, list):
        raise ReplayError("events: must be a list")
    try:
        ruleset = ruleset_with(RULESETS[name], rulings)
    except RulesetError as error:
        raise ReplayError(f"rulings: {error}") from error
    for index, influence in enumerate(influences):
        if influence not in INFLUENCES:
            raise ReplayError(f"influences[{index}]: unknown influence {_shown(influence)}")
    return ruleset, influences, events


def _apply(state: State, event: object, draw: Draw, ruleset: Ruleset) -> State:
    if not isinstance(event, dict):
        raise _malformed("an event must be an object")
    match event.get("type"):
        case "movement":
            a, b = _choice(event, "a"), _choice(event, "b")
            return resolve(state, a, b, draw=draw, ruleset=ruleset)
        case "potion":
            return drink(state, _seat(event), ruleset)
        case "resign":
            return resign(state, _seat(event))
        case other:
            raise _malformed(f"unknown event type {_shown(other)}")


def _choice(event: Mapping[str, Any], seat: Seat) -> Choice | None:
    if seat not in event:
        raise _malformed(f'movement: "{seat}" is missing (null is a missed movement)')
    choice = event[seat]
    if choice is None:
        return None
    if not isinstance(choice, dict):
        raise _malformed(f"movement: ape {seat}'s choice must be an object or null")
    move, tribute = choice.get("move"), choice.get("tribute")
    if move not in MOVES:
        raise _malformed(f"movement: ape {seat}: unknown move {_shown(move)}")
    if tribute is not None and tribute not in TRIBUTES:
        raise _malformed(f"movement: ape {seat}: unknown tribute {_shown(tribute)}")
    return Choice(move, tribute)


def _seat(event: Mapping[str, Any]) -> Seat:
    ape = event.get("ape")
    if ape == "a" or ape == "b":
        return ape  # type: ignore[no-any-return]
    raise _malformed(f'{event["type"]}: ape must be "a" or "b", not {_shown(ape)}')


def _malformed(reason: str) -> IllegalEvent:
    return IllegalEvent("malformed", reason)


def _shown(value: object) -> str:
    """Show a value from outside in ASCII on one line, cut to a readable length."""
    try:
        text = json.dumps(value)
    except (RecursionError, ValueError):
        return "(unprintable)"
    return text if len(text) <= 40 else text[:37] + "..."
