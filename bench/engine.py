"""How fast the engine resolves movements, against a plain mutable loop over the same rules.

Both sides replay the same recorded matches of random legal play. Choices and draws are made
beforehand, so that what is timed is the resolving alone: on the engine's side `start`, then
`resolve` with its checks for each movement; on the other side the test oracle, which changes its
objects in place and checks nothing. The two take turns and the medians of their processor time are
compared, so that a busy machine slows both alike. What others of the kind do is measured beside
them (bench/rivals).

Run with `python -m bench.engine`.
"""

import dataclasses
import json
import random
import statistics
import time

from bench import rivals
from engine import GOD_V1, Choice, resolve, start
from tests.engine.helpers import random_match
from tests.engine.oracle import Oracle

MATCHES = 1000
TURNS = 15


def record():
    """Return the events, draws and phases of random matches: movements only, some missed."""
    rng = random.Random(20)
    matches = []
    for _ in range(MATCHES):
        events, draws, states = random_match(rng, misses=0.01, resigns=0, potions=0)
        matches.append((events, draws, [state.phase for state in states]))
    return matches


def run_engine(matches):
    """Return the processor seconds the engine takes; `matches` hold pairs of choices."""
    started = time.process_time()
    for movements, draws in matches:
        influences = iter(draws)

        def draw(left, influences=influences):
            return next(influences)

        state = start(GOD_V1)
        for a, b in movements:
            state = resolve(state, a, b, draw=draw, ruleset=GOD_V1)
    return time.process_time() - started


def run_baseline(matches):
    """Return the processor seconds the oracle takes; `matches` hold pairs of choices as dicts."""
    rulings = dataclasses.asdict(GOD_V1)
    started = time.process_time()
    for movements, draws in matches:
        influences = iter(draws)

        def draw(left, influences=influences):
            return next(influences)

        oracle = Oracle(rulings, draw)
        for a, b in movements:
            oracle.move(a, b)
    return time.process_time() - started


def run():
    """Return the engine's speed as a ratio to the baseline's, and both in movements a second."""
    matches = record()
    for_baseline = [([(e["a"], e["b"]) for e in events], draws) for events, draws, _ in matches]
    for_engine = [
        ([tuple(choice and Choice(**choice) for choice in pair) for pair in movements], draws)
        for movements, draws in for_baseline
    ]
    for_boardgame_io = [
        (movements, phases)
        for (movements, _), (_, _, phases) in zip(for_engine, matches, strict=True)
    ]
    movements = sum(len(events) for events, _, _ in matches)
    engine_seconds, baseline_seconds = [], []
    for _ in range(TURNS):
        engine_seconds.append(run_engine(for_engine))
        baseline_seconds.append(run_baseline(for_baseline))
    engine = movements / statistics.median(engine_seconds)
    baseline = movements / statistics.median(baseline_seconds)
    return {
        "movements": movements,
        "engine_movements_per_second": round(engine),
        "engine_best_movements_per_second": round(movements / min(engine_seconds)),
        "baseline_movements_per_second": round(baseline),
        "ratio": round(engine / baseline, 3),
        "boardgame_io_movements_per_second": rivals.boardgame_io(for_boardgame_io),
        "pettingzoo_movements_per_second": rivals.pettingzoo(),
    }


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
