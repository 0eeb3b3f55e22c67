"""The engine against an independent oracle: whole random matches, compared event by event."""

import dataclasses

from engine import GOD_V1, ruleset_with
from engine.replay import replay
from tests.engine.helpers import random_match, random_rulings, rng_of
from tests.engine.oracle import Oracle


def compare(rulings, events, draws):
    """Replay a match on both sides; return the last line."""
    document = {
        "ruleset": "god-v1",
        "rulings": rulings,
        "influences": draws,
        "events": events,
    }
    influences = iter(draws)
    oracle = Oracle(dataclasses.asdict(GOD_V1) | rulings, lambda left: next(influences))
    lines = replay(document)
    line = next(lines)
    assert line == oracle.line(0)
    for n, event in enumerate(events, start=1):
        oracle.apply(event)
        line = next(lines)
        assert line == oracle.line(n), f"after {event}"
    assert next(lines, None) is None
    assert next(influences, None) is None
    return line


def test_1000_random_matches_by_the_rules_of_record():
    seen = set()
    for seed in range(1000):
        events, draws, _ = random_match(rng_of(seed))
        line = compare({}, events, draws)
        seen.add(line["status"])
    assert seen >= {"won"}


def test_1000_random_matches_under_random_rulings():
    seen = set()
    for seed in range(1000):
        rng = rng_of(f"rulings {seed}")
        rulings = random_rulings(rng)
        misses = rng.choice((0.0, 0.03, 0.3, 0.7))
        events, draws, states = random_match(rng, ruleset_with(GOD_V1, rulings), misses=misses)
        line = compare(rulings, events, draws)
        seen.add(line["status"])
        seen.update("sudden death" for state in states if state.sudden_death)
        seen.update("later cycle" for state in states if state.cycle > rulings["cycles_per_round"])
    assert seen == {"won", "draw", "abandoned", "sudden death", "later cycle"}
