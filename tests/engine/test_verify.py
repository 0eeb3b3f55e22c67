"""`python -m engine verify`: an honest transcript passes, and no change to one does."""

import copy
import hashlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine import Choice, Ruleset
from engine.__main__ import main
from engine.replay import ReplayError, replay
from engine.verify import Fault, replay_transcript, verify
from tests.engine.helpers import random_rulings, rng_of
from tests.engine.leaves import changed, check_every_leaf, leaves
from tests.engine.transcripts import Writer

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "fairness.md"
EXAMPLE = ROOT / "docs" / "fairness-example.json"
ABSENT, ALL_KINDS = "absent", "all kinds"


def of_all_kinds():
    """A short match with every kind of event, and a movement of every kind."""
    match = Writer(rng_of(3))
    match.movement("rock", "scissors")
    match.lock("a", Choice("rock"))  # replaced by what follows
    match.movement("rock", "scissors")
    match.movement(None, "paper")
    match.lock("b", Choice("rock"))  # locked in, and never shown
    match.movement("alpha", None)
    for _ in range(3):
        match.movement("rock", "scissors")
    match.movement(Choice("rock", "alphas"), "alpha" if match.state.b.alphas else "paper")
    while match.state.a.health == 10:
        match.movement("scissors", "rock")
    match.potion("a")
    match.resign("b")
    return match.transcript()


@pytest.fixture(scope="module")
def honest():
    return of_all_kinds()


def test_every_leaf_changed_by_a_bit_is_found_and_named(honest):
    assert check_every_leaf(honest) > 1_000


def test_every_leaf_of_another_type_or_left_out_or_nulled_is_found(honest):
    for path, value in leaves(honest):
        for other in (None, 1.5, [], {}, "", True, 10**4_000, "\ud800", "é", [[[]]]):
            if other is not value and other != value:
                with pytest.raises(ReplayError):
                    verify(changed(honest, path, other))


def test_every_event_left_out_repeated_or_moved_is_found(honest):
    events = honest["events"]
    for i in range(len(events)):
        for bent in (
            events[:i] + events[i + 1 :],
            events[: i + 1] + events[i:],
            events[:i] + events[i + 1 : i + 2] + events[i : i + 1] + events[i + 2 :],
            events[:i],
        ):
            if bent != events:
                with pytest.raises(ReplayError):
                    verify(honest | {"events": bent})


def test_a_key_too_many_or_too_few_is_found_everywhere(honest):
    def objects(value, path):
        if isinstance(value, dict):
            yield value
        for inner in (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        ):
            yield from objects(inner, path)

    bent = copy.deepcopy(honest)
    for place in objects(bent, ""):
        place["more"] = 1
        with pytest.raises(ReplayError, match="more"):
            verify(bent)
        del place["more"]
        for key in list(place):
            kept = dict(place)
            del place[key]
            with pytest.raises(ReplayError):
                verify(bent)
            place.clear()
            place.update(kept)
    verify(bent)


def rechained(document):
    """The same with a hash chain that fits: what a lying server could publish."""
    match = Writer(rng_of(0))
    match.events, match.hash = [], ""
    for event in document["events"]:
        match.record({key: value for key, value in event.items() if key != "hash"})
    return document | {"events": match.events, "chain_hash": match.hash}


@pytest.mark.parametrize(
    ("lie", "where"),
    [
        ({"a": {"move": "paper"}}, "events[3].a.move"),
        ({"b": {"tribute": "wilds"}}, "events[3].b.tribute"),
        ({"b": {"salt": "00" * 32}}, "events[3].b.salt"),
        ({"movement": 2}, "events[3].movement"),
    ],
)
def test_a_lie_that_is_chained_like_the_truth_is_found_by_the_commitments(honest, lie, where):
    bent = copy.deepcopy(honest)
    event = bent["events"][3]
    for field, value in lie.items():
        event[field] = event[field] | value if isinstance(value, dict) else value
    with pytest.raises(Fault) as found:
        verify(rechained(bent))
    assert found.value.where == where


def without_hash(event):
    return {key: value for key, value in event.items() if key != "hash"}


def test_lies_about_what_was_locked_in_are_found_though_they_are_chained():
    match = Writer(rng_of(1))
    match.movement("rock", "paper")
    match.resign("a")
    honest = match.transcript()
    start, lock_a, lock_b, movement, resign = honest["events"]
    for events, reason in (
        ([start, lock_a, movement, resign], "without having been locked in"),
        ([start, lock_a, lock_b, lock_a, movement, resign], "could be changed"),
        ([start, lock_a, lock_b, movement, resign, resign], "was over"),
        ([start, lock_a, lock_b, movement], "the match goes on"),
        ([lock_a, lock_b, movement, resign], "begins with its start"),
        ([start, start, lock_a, lock_b, movement, resign], "starts once"),
        ([start, lock_a | {"movement": 2}, lock_b, movement, resign], "movement 1 was running"),
        ([start, {"type": "potion", "ape": "a", "hash": ""}, resign], "form it must have"),
    ):
        bent = honest | {"events": events}
        if "form" not in reason:
            bent = rechained(bent)
        with pytest.raises(Fault, match=reason):
            verify(bent)


def test_a_move_that_is_not_held_is_found_though_it_was_locked_in_and_chained():
    match = Writer(rng_of(1))
    a, b = match.lock("a", Choice("alpha")), match.lock("b", Choice("rock"))
    match.record({"type": "movement", "movement": 1, "a": a, "b": b})
    match.resign("a")
    with pytest.raises(Fault, match=r"events\[3\]: alpha"):
        verify(match.transcript())


def test_a_draw_that_was_bent_is_found_in_the_final_state():
    match = Writer(rng_of(1))
    match.draw = lambda left: next(i for i in left if i != Writer.draw(match, left))
    for _ in range(3):
        match.movement("rock", "rock")
    match.resign("a")
    with pytest.raises(Fault, match=r"final\.phase"):
        verify(match.transcript())


@pytest.mark.parametrize("seed", range(30))
def test_random_honest_matches_verify_and_replay_like_their_plain_form(seed):
    rng = rng_of(seed)
    ruleset = Ruleset(name="wild-v7", **random_rulings(rng)) if seed % 2 else Writer(rng).ruleset
    misses = (0.0, 0.03, 0.4)[seed % 3]
    match = Writer(
        rng, stake=rng.randrange(1, 10**9), fee_bps=rng.randrange(10_001), ruleset=ruleset
    )
    draws, honest_draw = [], match.draw
    match.draw = lambda left: draws.append(honest_draw(left)) or draws[-1]
    document = match.random(misses=misses).transcript()
    proved = verify(document)
    assert proved.result == document["result"]
    assert proved.draws == len(draws)
    if ruleset.name == "god-v1":
        plain = {
            "ruleset": "god-v1",
            "influences": draws,
            "events": [
                event for event in document["events"] if event["type"] not in ("start", "locked")
            ],
        }
        assert list(replay_transcript(document)) == list(replay(plain))


def test_every_ending_is_among_the_random_matches():
    endings = {
        verify(
            Writer(rng_of(seed), ruleset=ruleset).random(misses=misses, resigns=r).transcript()
        ).result["ended_by"]
        for seed in range(4)
        for misses, r, ruleset in (
            (0.0, 0.0, Ruleset("god-v1")),
            (0.5, 0.0, Ruleset("god-v1")),
            (0.0, 0.2, Ruleset("god-v1")),
            (0.0, 0.0, Ruleset("god-v1", max_movements=3)),
        )
    }
    assert endings == {"rounds", "missed", "resigned", "movements"}


def test_a_match_that_an_operator_voided_verifies_with_both_stakes_back():
    match = Writer(rng_of(1))
    match.movement("rock", "paper")
    match.void("Der Server fiel aus — \u0007 sorry \U0001f412")
    document = match.transcript()
    assert verify(document).result["payouts"] == {"a": "100", "b": "100"}
    assert len(list(replay_transcript(document))) == 2
    with pytest.raises(Fault, match=r"events\[4\]\.reason"):
        verify(changed(document, "events[4].reason", "another"))
    match.resign("a")
    with pytest.raises(Fault, match=r"events\[5\]: the match was over"):
        verify(match.transcript())


# The command


@pytest.fixture
def run(monkeypatch, capsys):
    def run(data, command="verify"):
        text = data if isinstance(data, bytes) else json.dumps(data).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        # The usual limit: hypothesis lifts it, and the JSON parser would run out of stack.
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(1_000)
        try:
            return main([command, "-"]), *capsys.readouterr()
        finally:
            sys.setrecursionlimit(limit)

    return run


def test_the_command_sums_an_honest_match_up(run, honest):
    status, out, err = run(honest)
    assert (status, err) == (0, "")
    assert out.startswith("OK: match 6f0c1f6e-")
    assert "won by ape a (resigned)\npot 200: 195 to ape a, 0 to ape b, fee 5\n" in out


def test_the_command_names_a_fault_and_exits_with_1(run, honest):
    bent = changed(honest, "events[3].a.salt", "00" * 32)
    assert run(bent) == (1, "", "events[3].a.salt: not what ape a had locked in\n")
    status, out, err = run(bent, "replay")
    assert (status, err) == (2, "events[3].a.salt: not what ape a had locked in\n")
    assert len(out.splitlines()) == 1


def test_what_is_no_transcript_is_one_line_and_exit_2(run, honest):
    deep = b"[" * 900 + b"]" * 900
    text = json.dumps(honest).encode()
    for data in (
        b"", b"\xff", b"[" * 200_000, b"[]", b"{}", b"null", b"1" * 10_000, deep, text[:-1],
        json.dumps(honest | {"header": "deep"}).encode().replace(b'"deep"', deep),
        json.dumps(honest | {"events": ["deep"]}).encode().replace(b'"deep"', deep),
        json.dumps(honest | {"events": []}).encode(),
        text.replace(b'"fee_bps": 250', b'"fee_bps": 250.0'),
        text.replace(b'"fee_bps": 250', b'"fee_bps": 1, "fee_bps": 250'),
        text.replace(b'"fee_bps": 250', b'"fee_bps": NaN'),
    ):  # fmt: skip
        status, out, err = run(data)
        assert (status, out, err.count("\n")) == (2, "", 1), data[:80]
        assert "Traceback" not in err
        assert len(err) < 300


def test_replay_takes_a_transcript_and_gives_a_line_for_each_event_of_the_rules(run, honest):
    status, out, err = run(honest, "replay")
    events = [e for e in honest["events"] if e["type"] not in ("start", "locked")]
    lines = [json.loads(line) for line in out.splitlines()]
    assert (status, err, [line["n"] for line in lines]) == (0, "", list(range(len(events) + 1)))
    assert lines[-1]["winner"] == "a"


def run_process(*arguments, **options):
    command = [sys.executable, "-S", "-m", "engine", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False, **options)


def test_the_command_needs_nothing_but_the_standard_library():
    done = run_process("verify", str(EXAMPLE))  # -S: without any installed package
    assert (done.returncode, done.stderr) == (0, b"")
    missing = run_process("verify", "none.json")
    assert (missing.returncode, missing.stderr.count(b"\n")) == (2, 1)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_one_line():
    command = [sys.executable, "-m", "engine", "verify", str(EXAMPLE)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert done.stderr.startswith(b"cannot write")


def example():
    """The match that docs/fairness.md explains."""
    match = Writer(rng_of(2026))
    match.movement("paper", "rock")
    match.movement("rock", None)
    match.movement("scissors", "paper")
    match.movement("rock", "wild")
    match.resign("b")
    return match.transcript()


def test_the_example_of_the_page_is_the_golden_one_and_the_page_says_what_it_prints():
    text = EXAMPLE.read_text()
    assert json.loads(text) == example()
    page = PAGE.read_text()
    assert run_process("verify", str(EXAMPLE)).stdout.decode() in page
    for event in example()["events"][1:4]:
        assert json.dumps(event) in page
    bent = text.replace('"move": "paper"', '"move": "scissors"', 1)
    told = run_process("verify", "-", input=bent.encode()).stderr.decode()
    assert told.startswith("events[3].a.move: ")
    assert told in page


def test_the_commands_of_the_page_give_what_it_says():
    page = PAGE.read_text()
    commands = [b for b in re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S) if "sha256sum" in b]
    document = example()
    digests = (
        document["events"][1]["commitment"],
        document["events"][1]["hash"],
        document["header"]["secret_hash"],
    )
    assert len(commands) == len(digests)
    for command, digest in zip(commands, digests, strict=True):
        data = b"".join(
            bytes.fromhex(text) if binary else text.encode()
            for text, binary in re.findall(r"printf %s '?([^'\s]+)'?( \| xxd -r -p)?", command)
        )
        assert hashlib.sha256(data).hexdigest() == digest
        assert digest[:8] + "…" in page
    assert [line["phase"] for line in replay_transcript(document)][-1] == "earth"
