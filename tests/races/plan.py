"""What the two players of a match do: the same plan in both processes, made of a seed alone."""

import random
from dataclasses import dataclass

ROCK, PAPER, SCISSORS = "rock", "paper", "scissors"
MISSED = None
# How a match gets to where the race begins: movements, and whether they go on and on until ape a
# needs one more win.
PRELUDES: dict[str, list[tuple[str | None, str | None]]] = {
    "at the start": [],
    # Ape a has a potion, and something to heal.
    "with a potion": [(ROCK, SCISSORS)] * 3 + [(ROCK, PAPER)],
    "b missed twice": [(ROCK, MISSED)] * 2,
    "both missed twice": [(MISSED, MISSED)] * 2,
    "one win from the end": [(ROCK, SCISSORS)] * 40,
}
LAST_HEALTH = 2
"""The last prelude stops where any win of ape a ends the match."""

LONG, SHORT = 60, 1
"""Seconds for a stage: nobody's time runs out, or it may."""
GRACE_SECONDS = 0.1
SETTINGS = {
    "MATCH_GRACE_SECONDS": GRACE_SECONDS,
    # A machine that is too busy to sweep must not put the deadlines off.
    "MATCH_OUTAGE_SECONDS": 3600,
    "LIVE_STREAMS_PER_WALLET": 1000,
}
"""Of the servers, and of the process that sweeps."""
JITTER_SECONDS = 0.003
ROUNDS_OF_A_MATCH = 4


@dataclass(frozen=True)
class Message:
    """Something that a player sends after the signal."""

    kind: str
    delay: float  # seconds; for "late" ones, before or after the deadline


@dataclass(frozen=True)
class Round:
    """One movement: what each side sends at the first signal and at the second."""

    at_lock: dict[str, list[Message]]
    at_reveal: dict[str, list[Message]]


@dataclass(frozen=True)
class Script:
    """One match."""

    prelude: str
    seconds: int
    rounds: list[Round]
    resigning: str  # the sides that resign at the end, at the same instant


# What comes with the main message, each with its odds.
BESIDE_LOCK = {"again": 0.3, "replace": 0.25, "early": 0.3, "read": 0.3, "stale": 0.1}
BESIDE_REVEAL = {"again": 0.3, "wrong": 0.25, "lock": 0.2, "read": 0.3}
AT_ANY_TIME = {"drink": 0.15, "resign": 0.02}


def script_of(seed: int, number: int, rounds: int = ROUNDS_OF_A_MATCH) -> Script:
    """The plan of a match."""
    dice = random.Random(f"{seed}:{number}")
    prelude = list(PRELUDES)[number % len(PRELUDES)]
    seconds = SHORT if "missed" in prelude or dice.random() < 0.15 else LONG
    return Script(
        prelude=prelude,
        seconds=seconds,
        rounds=[_round(dice, prelude, may_miss=seconds == SHORT) for _ in range(rounds)],
        resigning=dice.choice(("a", "b", "ab", "ab")),
    )


def _round(dice: random.Random, prelude: str, *, may_miss: bool) -> Round:
    at_lock, at_reveal = {}, {}
    for side in "ab":
        way = dice.choice(("commit", "commit", "play"))
        lock, reveal = [_message(dice, way)], [_message(dice, "reveal")]
        if may_miss:
            lock = dice.choice((lock, lock, [], [_message(dice, f"late {way}")]))
            reveal = dice.choice((reveal, [], [_message(dice, "late reveal")]))
        anytime = dict(AT_ANY_TIME)
        if prelude == "with a potion" and side == "a":
            anytime["drink"] = 0.6
        if prelude == "one win from the end":
            anytime["resign"] = 0.15
        at_lock[side] = lock + _some(dice, BESIDE_LOCK if lock else {}) + _some(dice, anytime)
        at_reveal[side] = reveal + _some(dice, BESIDE_REVEAL) + _some(dice, anytime)
    return Round(at_lock, at_reveal)


def _some(dice: random.Random, odds: dict[str, float]) -> list[Message]:
    return [_message(dice, kind) for kind, chance in odds.items() if dice.random() < chance]


def _message(dice: random.Random, kind: str) -> Message:
    if kind.startswith("late"):
        return Message(kind, dice.uniform(-0.01, 0.01))
    return Message(kind, dice.choice((0.0, 0.0, dice.uniform(0, JITTER_SECONDS))))
