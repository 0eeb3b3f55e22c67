"""Every state that a match can get to in a few events, and every event in each of them.

    python -m tests.engine.walk --deep

walks further than the tests do, and prints what it counts.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import product
from typing import Any, NamedTuple

from engine import (
    GOD_V1,
    INFLUENCES,
    Ape,
    Choice,
    IllegalEvent,
    Ruleset,
    State,
    drink,
    legal_choices,
    resign,
    resolve,
    start,
)
from tests.engine.helpers import SEATS, check_bounds, choice_json, in_round
from tests.engine.oracle import Oracle

Event = dict[str, Any]
Step = tuple[Event, str | None, State]
"""An event, the influence that was drawn in it if one was, and the state after it."""


class Level(NamedTuple):
    """What there is after so many events."""

    states: int  # different ones, met at no earlier level
    ended: int  # of these, with the match over
    choices: int  # joint choices in the others, a missed movement being a choice, too
    events: int  # that lead on, potions and resigning among them, each draw counted by itself


class Walk(NamedTuple):
    """Where to start, and how far to go."""

    name: str
    state: State
    ruleset: Ruleset
    depth: int
    deep: int


FULL = Ape(health=3, alphas=4, wilds=3, potions=1, streak=2, rounds=2, misses=2)
QUICK = Ruleset("quick", movements_per_phase=1, cycles_per_round=1, winner_refills=False)
SHORT = Ruleset("short", movements_per_phase=1, max_movements=4)
LEVEL = Ape(health=4, alphas=1, wilds=1)
WALKS = (
    Walk("from the start", start(GOD_V1), GOD_V1, depth=5, deep=6),
    Walk("all choices, all at stake", in_round(round=5, a=FULL, b=FULL), GOD_V1, depth=2, deep=3),
    Walk(
        "into sudden death",
        in_round("earth", movement=7, in_phase=1, used=INFLUENCES, a=LEVEL, b=LEVEL),
        QUICK,
        depth=3,
        deep=4,
    ),
    Walk("the whole of a short match", start(SHORT), SHORT, depth=5, deep=5),
)


class Drawn(Exception):
    """An influence is drawn: the walk has to go on with each."""


def joint_choices(state: State, ruleset: Ruleset) -> Iterator[tuple[Choice | None, Choice | None]]:
    """What the two apes may choose now, each of the other unseen; None is a missed movement."""
    if state.status == "running":
        yield from product(*((*legal_choices(state, seat, ruleset), None) for seat in SEATS))


def steps(state: State, ruleset: Ruleset) -> Iterator[Step]:
    """Every event that is legal now, with each draw that it may bring about."""
    if state.status != "running":
        return
    for a, b in joint_choices(state, ruleset):
        event = {"type": "movement", "a": choice_json(a), "b": choice_json(b)}
        for influence, after in _resolved(state, a, b, ruleset):
            yield event, influence, after
    for seat in SEATS:
        yield {"type": "resign", "ape": seat}, None, resign(state, seat)
        try:
            yield {"type": "potion", "ape": seat}, None, drink(state, seat, ruleset)
        except IllegalEvent:
            continue


def _resolved(
    state: State, a: Choice | None, b: Choice | None, ruleset: Ruleset
) -> Iterator[tuple[str | None, State]]:
    asked: list[str] = []

    def ask(left: tuple[str, ...]) -> str:
        asked.extend(left)
        raise Drawn

    try:
        yield None, resolve(state, a, b, draw=ask, ruleset=ruleset)
    except Drawn:
        for drawn in asked:
            yield (
                drawn,
                resolve(state, a, b, draw=lambda left, drawn=drawn: drawn, ruleset=ruleset),
            )


def walk(
    state: State,
    ruleset: Ruleset,
    depth: int,
    look: Callable[[State, list[Step]], None] = lambda state, steps: None,
) -> list[Level]:
    """Count what can be reached in up to `depth` events, and let every state be looked at."""
    met, level, counted = {state}, [state], []
    for _ in range(depth):
        further: list[State] = []
        choices = events = ended = 0
        for state in level:
            found = list(steps(state, ruleset))
            look(state, found)
            ended += not found
            choices += len(list(joint_choices(state, ruleset)))
            events += len(found)
            for _, _, after in found:
                if after not in met:
                    met.add(after)
                    further.append(after)
        counted.append(Level(len(level), ended, choices, events))
        level = further
    return counted


def checked_by_the_oracle(ruleset: Ruleset) -> Callable[[State, list[Step]], None]:
    """A look that keeps every bound, and compares every event with what the oracle makes of it."""
    rulings = asdict(ruleset)

    def look(state: State, found: list[Step]) -> None:
        check_bounds(state, ruleset)
        for event, drawn, after in found:
            oracle = oracle_at(state, rulings, drawn)
            oracle.apply(event)
            line = after.to_json()
            del line["used"]
            assert oracle.line(0) == {"n": 0} | line, (state, event, drawn)
            assert event["type"] == "movement" or after.movement == state.movement

    return look


def oracle_at(state: State, rulings: dict[str, Any], drawn: str | None) -> Oracle:
    """The oracle in this state."""
    oracle = Oracle(rulings, lambda left: drawn)
    for name, value in state.to_json().items():
        if name in SEATS:
            vars(oracle.apes[name]).update(value)
        elif name != "used":
            setattr(oracle, name, value)
    if state.round:
        oracle.left = [influence for influence in INFLUENCES if influence not in state.used]
    return oracle


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.engine.walk", description=__doc__)
    parser.add_argument("--deep", action="store_true", help="one event further; takes minutes")
    deep = parser.parse_args().deep
    for name, state, ruleset, *depths in WALKS:
        print(f"{name}: each event compared with the oracle, each state with its bounds")
        depth = depths[deep]
        for n, level in enumerate(walk(state, ruleset, depth, checked_by_the_oracle(ruleset))):
            told = ", ".join(f"{value:>9,} {name}" for name, value in level._asdict().items())
            print(f"  after {n} events: {told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
