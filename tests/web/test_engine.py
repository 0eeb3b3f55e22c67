"""The rules and the verifier in the browser answer as the engine does."""

import json
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest

from engine import GOD_V1, Choice, IllegalEvent, Ruleset, legal_choices
from engine.replay import ReplayError
from engine.verify import Fault, verify
from tests.engine.helpers import (
    SEATS,
    choice_json,
    play_event,
    random_match,
    random_rulings,
    rng_of,
)
from tests.engine.leaves import changed, leaves, neighbours
from tests.engine.test_verify import of_all_kinds, rechained
from tests.engine.transcripts import Writer

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Put questions to the browser's modules, all in one run of Node."""
    out = tmp_path_factory.mktemp("web")
    vite = ["node_modules/.bin/vite", "build", "tests/web", "--ssr", "answers.ts"]
    subprocess.run([*vite, f"--outDir={out}", "--logLevel=warn"], cwd=ROOT, check=True)
    program = (out / "answers.js").rename(out / "answers.mjs")

    def ask(questions):
        lines = "".join(json.dumps(question) + "\n" for question in questions)
        done = subprocess.run(["node", str(program)], input=lines.encode(), capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        return [json.loads(line) for line in done.stdout.splitlines()]

    return ask


def replay_question(ruleset, events, draws):
    rulings = {name: value for name, value in asdict(ruleset).items() if name != "name"}
    return {"replay": {"rulings": rulings, "influences": draws, "events": events}}


def line(state, ruleset):
    choices = [[choice_json(c) for c in legal_choices(state, seat, ruleset)] for seat in SEATS]
    return {"state": state.to_json(), "choices": choices}


def test_two_hundred_random_matches_give_the_same_states_and_the_same_legal_choices(ask):
    questions, expected = [], []
    for seed in range(200):
        rng = rng_of(seed)
        ruleset = Ruleset(name="wild-v7", **random_rulings(rng)) if seed % 2 else GOD_V1
        misses = (0.03, 0.0, 0.3)[seed % 3]
        events, draws, states = random_match(rng, ruleset, misses=misses)
        questions.append(replay_question(ruleset, events, draws))
        expected.append([line(state, ruleset) for state in states])
    answers = ask(questions)
    assert [answer["lines"] for answer in answers] == expected
    assert not any(answer["refused"] for answer in answers)


def test_what_the_rules_refuse_is_refused_with_the_same_code(ask):
    questions, expected = [], []
    for seed in range(8):
        events, draws, states = random_match(rng_of(seed), resigns=0.02)
        at = (0, len(states) - 1, len(states) // 2)[seed % 3]
        for illegal in every_event():
            try:
                play_event(states[at], illegal, lambda left: left[0], GOD_V1)
            except IllegalEvent as error:
                questions.append(replay_question(GOD_V1, [*events[:at], illegal], draws))
                expected.append(error.code)
    assert [answer["refused"] for answer in ask(questions)] == expected
    assert set(expected) == {
        "match_over", "core_only", "not_held", "potion_in_opening", "no_potion", "full_health"
    }  # fmt: skip


def every_event():
    for move in ("rock", "wild", "alpha"):
        for tribute in (None, "wilds", "alphas"):
            for seat in SEATS:
                other = "b" if seat == "a" else "a"
                played = {seat: {"move": move, "tribute": tribute}, other: {"move": "rock"}}
                yield {"type": "movement", **{s: {"tribute": None} | played[s] for s in SEATS}}
    for seat in SEATS:
        yield {"type": "potion", "ape": seat}
        yield {"type": "resign", "ape": seat}


def told(text):
    """What Python's verifier says of a transcript, in the form of the browser's answer."""
    try:
        proved = verify(json.loads(text))
    except ReplayError as error:
        return {"fault": error.where if isinstance(error, Fault) else str(error).partition(": ")[0]}
    return {
        "events": proved.events,
        "movements": proved.movements,
        "draws": proved.draws,
        "result": proved.result,
    }


def compare(ask, documents):
    texts = [d if isinstance(d, str) else json.dumps(d) for d in documents]
    answers = ask({"verify": text} for text in texts)
    for answer in answers:
        answer.pop("code", None)
    assert answers == [told(text) for text in texts]
    return answers


def test_honest_transcripts_of_all_endings_verify(ask):
    documents = [of_all_kinds()]
    for seed in range(40):
        rng = rng_of(seed)
        ruleset = Ruleset(name="wild-v7", **random_rulings(rng)) if seed % 2 else GOD_V1
        match = Writer(rng, stake=10**30 + seed, fee_bps=rng.randrange(10_001), ruleset=ruleset)
        documents.append(match.random(misses=(0.0, 0.03, 0.4)[seed % 3]).transcript())
    voided = Writer(rng_of(1))
    voided.movement("rock", "paper")
    voided.void("Der Server fiel aus — \u0007 \u007f \u2028 \U0001f412")
    documents.append(voided.transcript())
    answers = compare(ask, documents)
    assert {answer["result"]["ended_by"] for answer in answers} == {
        "rounds", "missed", "resigned", "movements", "voided"
    }  # fmt: skip


def test_every_leaf_of_a_transcript_changed_by_a_bit_is_found_and_named_alike(ask):
    honest = of_all_kinds()
    bent = [
        changed(honest, path, o) for path, value in leaves(honest) for o in neighbours(value)[:2]
    ]
    answers = compare(ask, bent)
    assert len(answers) > 400
    assert all("fault" in answer for answer in answers)


def test_lies_that_are_chained_like_the_truth_are_found_and_named_alike(ask):
    honest = of_all_kinds()
    events = honest["events"]
    lies = [rechained(changed(honest, path, o)) for path, o in (
        ("events[3].a.move", "paper"), ("events[3].b.tribute", "wilds"),
        ("events[3].b.salt", "00" * 32), ("events[3].movement", 2),
    )]  # fmt: skip
    for i in range(len(events)):
        for other in (
            events[:i] + events[i + 1 :],
            events[: i + 1] + events[i:],
            events[:i] + events[i + 1 : i + 2] + events[i : i + 1] + events[i + 2 :],
            events[:i],
        ):
            if other not in (events, []):
                lies += [honest | {"events": other}, rechained(honest | {"events": other})]
    match = Writer(rng_of(1))
    a, b = match.lock("a", Choice("alpha")), match.lock("b", Choice("alpha"))
    match.record({"type": "movement", "movement": 1, "a": a, "b": b})
    match.resign("a")
    lies.append(match.transcript())
    found = ["fault" in answer for answer in compare(ask, lies)]
    assert found.count(True) > 100  # two locks may change places if the chain is written anew


def test_what_could_be_read_in_two_ways_is_not_read_at_all(ask):
    text = json.dumps(of_all_kinds())
    for bent in (
        text.replace('"fee_bps": 250', '"fee_bps": 1, "fee_bps": 250'),
        text.replace('"fee_bps": 250', '"fee_bps": 1, "fee\\u005fbps": 250'),
        text.replace('"fee_bps": 250', '"fee_bps": 250.0'),
        text.replace('"fee_bps": 250', '"fee_bps": 25e1'),
        text.replace('"fee_bps": 250', '"fee_bps": 9007199254740993'),
        text[:-1],
    ):
        assert ask([{"verify": bent}]) == [{"fault": "not JSON"}]
