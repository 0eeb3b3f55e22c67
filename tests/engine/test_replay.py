"""`python -m engine replay`: the replay format of rules.md, section 7, and what it refuses."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.__main__ import main
from tests.engine.helpers import random_match, rng_of

ROOT = Path(__file__).parents[2]
ROCK = {"move": "rock"}
TIE = {"type": "movement", "a": ROCK, "b": ROCK}
A_WINS = {"type": "movement", "a": ROCK, "b": {"move": "scissors", "tribute": None}}


def document(*events, **fields):
    usual = {"ruleset": "god-v1", "influences": ["sun", "water", "moon", "earth", "sun"]}
    return usual | {"events": list(events)} | fields


def run_process(text, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "engine", *(arguments or ("replay", "-"))],
        input=text if isinstance(text, bytes) else text.encode(),
        capture_output=True,
        cwd=ROOT,
        check=False,
    )


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command in this process: exit status, lines out, text on standard error."""

    def run(text):
        data = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        status = main(["replay", "-"])
        out, err = capsys.readouterr()
        return status, out.splitlines(), err

    return run


def test_the_lines_have_the_keys_and_the_order_of_the_rules_page(run):
    status, lines, err = run(json.dumps(document(A_WINS, A_WINS, TIE, A_WINS)))
    assert (status, err) == (0, "")
    assert lines[4] == (
        '{"n": 4, "status": "running", "winner": null, "round": 1, "phase": "sun", "movement": 5, '
        '"in_phase": 2, "cycle": 1, "sudden_death": false, '
        '"a": {"health": 10, "alphas": 2, "wilds": 0, "potions": 0, "streak": 1, "rounds": 0, '
        '"misses": 0}, '
        '"b": {"health": 8, "alphas": 0, "wilds": 3, "potions": 0, "streak": 0, "rounds": 0, '
        '"misses": 0}, "outcome": "a"}'
    )


def test_the_first_line_is_the_start_and_each_event_adds_one(run):
    _, lines, _ = run(json.dumps(document(TIE, TIE, TIE)))
    rows = [json.loads(line) for line in lines]
    places = [
        (row["n"], row["outcome"], row["phase"], row["movement"], row["in_phase"]) for row in rows
    ]
    assert places == [
        (0, None, "opening", 1, 1),
        (1, "tie", "opening", 2, 2),
        (2, "tie", "opening", 3, 3),
        (3, "tie", "sun", 4, 1),
    ]
    assert [(row["round"], row["cycle"]) for row in rows] == [(0, 0)] * 3 + [(1, 1)]


def test_misses_potions_and_resigning_are_events(run):
    hurt = {"type": "movement", "a": None, "b": ROCK}
    events = [A_WINS, A_WINS, A_WINS, hurt, {"type": "potion", "ape": "a"}]
    status, lines, _ = run(json.dumps(document(*events, {"type": "resign", "ape": "b"})))
    missed, healed, resigned = (json.loads(line) for line in lines[-3:])
    assert status == 0
    assert (missed["a"]["health"], missed["a"]["misses"], missed["outcome"]) == (8, 1, "b")
    assert (healed["a"]["health"], healed["a"]["potions"], healed["outcome"]) == (10, 0, None)
    assert (resigned["status"], resigned["winner"], resigned["outcome"]) == ("won", "a", None)
    assert resigned["movement"] == healed["movement"] == missed["movement"]


def test_rulings_are_applied(run):
    status, lines, _ = run(json.dumps(document(TIE, rulings={"max_movements": 1})))
    assert (status, json.loads(lines[-1])["status"]) == (0, "draw")


def test_a_match_without_events_has_one_line_and_needs_no_influences(run):
    status, lines, _ = run(json.dumps(document(influences=[])))
    assert (status, len(lines)) == (0, 1)


def test_whole_random_matches_replay_through_the_command(run):
    for seed in range(20):
        events, draws, states = random_match(rng_of(seed))
        status, lines, _ = run(json.dumps(document(*events, influences=draws)))
        assert status == 0
        assert len(lines) == len(states)
        assert json.loads(lines[-1])["winner"] == states[-1].winner


# Illegal and malformed events: the lines before, then one line that names the event.

IN_THE_ROUND = [A_WINS, A_WINS, A_WINS]
BAD_EVENTS = [
    (
        [*IN_THE_ROUND, {"type": "movement", "a": {"move": "wild"}, "b": ROCK}],
        "events[3] (n 4): wild: ape a holds 0 wilds",
    ),
    (
        [{"type": "movement", "a": ROCK, "b": {"move": "alpha"}}],
        "events[0] (n 1): alpha: ape b may play only bare core moves in the opening",
    ),
    ([*IN_THE_ROUND, {"type": "potion", "ape": "a"}], "events[3] (n 4): potion: ape a is at"),
    ([*IN_THE_ROUND, {"type": "potion", "ape": "b"}], "events[3] (n 4): potion: ape b holds 0"),
    ([{"type": "potion", "ape": "b"}], "events[0] (n 1): potion: none may be drunk in the opening"),
    ([{"type": "resign", "ape": "a"}, TIE], "events[1] (n 2): the match is over"),
    ([TIE] * 8 + [TIE] * 20, "events[22] (n 23): draw: the influences have run out"),
    ([{"type": "movement", "a": {"move": "lizard"}, "b": ROCK}], 'unknown move "lizard"'),
    ([{"type": "movement", "a": {"move": "pa\nper\u2028"}, "b": ROCK}], r'"pa\nper\u2028"'),
    ([{"type": "movement", "a": {"move": ["rock"]}, "b": ROCK}], 'unknown move ["rock"]'),
    ([{"type": "movement", "a": {}, "b": ROCK}], "events[0] (n 1): movement: ape a: unknown move"),
    ([{"type": "movement", "a": "rock", "b": ROCK}], "ape a's choice must be an object or null"),
    ([{"type": "movement", "a": ROCK, "b": ROCK | {"tribute": "gold"}}], 'tribute "gold"'),
    ([{"type": "movement", "a": ROCK, "b": ROCK | {"tribute": {}}}], "unknown tribute {}"),
    ([{"type": "movement", "a": ROCK, "b": ROCK | {"tribute": False}}], "unknown tribute false"),
    ([{"type": "movement", "a": ROCK}], 'movement: "b" is missing'),
    ([{"type": "movement", "b": ROCK}], 'movement: "a" is missing'),
    ([{"type": "dance"}], 'unknown event type "dance"'),
    ([{"type": ["movement"]}], "unknown event type"),
    ([{}], "unknown event type null"),
    ([None], "an event must be an object"),
    ([TIE, 7], "events[1] (n 2): an event must be an object"),
    ([[TIE]], "an event must be an object"),
    ([{"type": "potion"}], 'potion: ape must be "a" or "b", not null'),
    ([{"type": "resign", "ape": "c"}], 'resign: ape must be "a" or "b", not "c"'),
    ([{"type": "resign", "ape": "x" * 100_000}], "xxx..."),
]


@pytest.mark.parametrize(("events", "reason"), BAD_EVENTS)
def test_an_illegal_event_stops_the_replay_after_the_lines_before_it(run, events, reason):
    influences = ["sun", "water", "moon", "earth"]
    status, lines, err = run(json.dumps(document(*events, influences=influences)))
    assert status == 2
    assert err.startswith("events[")
    assert reason in err
    assert err.count("\n") == 1
    assert len(err) < 200
    index = int(err[len("events[") : err.index("]")])
    assert f"events[{index}] (n {index + 1}): " in err
    assert [json.loads(line)["n"] for line in lines] == list(range(index + 1))


def test_an_influence_that_repeats_within_a_cycle_is_an_illegal_event(run):
    repeated = document(*[TIE] * 8, influences=["sun", "sun"])
    status, lines, err = run(json.dumps(repeated))
    assert (status, len(lines)) == (2, 8)
    assert err == "events[7] (n 8): draw: sun is not among water, moon, earth\n"


@pytest.mark.parametrize("nesting", ["[", '{"a":'])
def test_a_document_that_is_nested_too_deeply_is_one_line(nesting):
    # In a process of its own: hypothesis lifts the recursion limit of this one, which is what
    # keeps the JSON parser from running out of stack.
    done = run_process(nesting * 200_000)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"not JSON that can be read: nested too deeply\n"


# Documents that are wrong as a whole: nothing on standard output.


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("\x00", "not JSON"),
        (b"\xff\xfe\xff", "not JSON"),
        (b'{"ruleset": "\xe9"}', "not JSON"),
        ("1" * 10_000, "not JSON that can be read"),
        ("NaN", "NaN is not a number"),
        ("[]", "must be a JSON object"),
        ("null", "must be a JSON object"),
        ("3", "must be a JSON object"),
        ("{}", "unknown ruleset null"),
        (document(ruleset="god-v2"), 'ruleset: unknown ruleset "god-v2"'),
        (document(ruleset=["god-v1"]), "ruleset: unknown ruleset"),
        (document(ruleset=None), "ruleset: unknown ruleset null"),
        (document(rulings=[]), "rulings: must be an object"),
        (document(rulings=None), "rulings: must be an object"),
        (document(rulings={"gravity": 1}), "rulings: unknown ruling 'gravity'"),
        (document(rulings={"gr\n\u2028" * 50: 1}), r"rulings: unknown ruling 'gr\n\u2028"),
        (document(rulings={"name": "x"}), "rulings: unknown ruling 'name'"),
        (document(rulings={"max_movements": True}), "rulings: max_movements must be"),
        (document(rulings={"max_movements": 0}), "rulings: max_movements must be"),
        (document(rulings={"max_movements": 10**1000}), "rulings: max_movements must be"),
        (document(rulings={"max_movements": 4.0}), "rulings: max_movements must be"),
        (document(rulings={"winner_refills": 1}), "rulings: winner_refills must be"),
        (document(rulings={"sun_wild_steals": {}}), "rulings: sun_wild_steals must be"),
        (document(influences="sun"), "influences: must be a list"),
        (document(influences=["sun", "fire"]), 'influences[1]: unknown influence "fire"'),
        (document(influences=[["sun"]]), "influences[0]: unknown influence"),
        (document(influences=["opening"]), "influences[0]: unknown influence"),
        ({"ruleset": "god-v1", "events": []}, "influences: must be a list"),
        ({"ruleset": "god-v1", "influences": []}, "events: must be a list"),
        (document(events={}), "events: must be a list"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else None,
)
def test_a_malformed_document_is_refused_before_the_first_line(run, text, reason):
    status, lines, err = run(json.dumps(text) if isinstance(text, dict) else text)
    assert (status, lines) == (2, [])
    assert reason in err
    assert err.count("\n") == 1
    assert len(err) < 300


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_number_that_is_none_is_refused(run, number):
    text = json.dumps(document(rulings={"max_movements": 0})).replace(": 0}", f": {number}}}")
    status, lines, err = run(text)
    assert (status, lines, err.count("\n")) == (2, [], 1)


def test_a_deeply_nested_value_is_refused_wherever_it_stands(run):
    deep = "[" * 900 + "]" * 900
    for place in ("events", "influences", "rulings", "ruleset"):
        text = json.dumps(document(**{place: "deep"})).replace('"deep"', deep)
        status, _, err = run(text)
        assert (status, err.count("\n")) == (2, 1)


# The command itself, in a process of its own


def test_the_command_reads_a_file_and_exits_with_0(tmp_path):
    file = tmp_path / "match.json"
    file.write_text(json.dumps(document(A_WINS)))
    done = run_process("", "replay", str(file))
    assert (done.returncode, done.stderr) == (0, b"")
    assert [json.loads(line)["n"] for line in done.stdout.splitlines()] == [0, 1]


def test_the_command_reads_standard_input_and_exits_with_2_on_an_illegal_event():
    done = run_process(json.dumps(document(TIE, {"type": "dance"})))
    assert done.returncode == 2
    assert done.stderr == b'events[1] (n 2): unknown event type "dance"\n'
    assert len(done.stdout.splitlines()) == 2


@pytest.mark.parametrize("text", [b"", b"\xff", b"[" * 200_000, b"{}", b"1" * 10_000])
def test_the_command_never_shows_a_traceback(text):
    done = run_process(text)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert b"Traceback" not in done.stderr


def test_a_file_that_cannot_be_read_is_one_line(tmp_path):
    for path in (tmp_path / "none.json", tmp_path, "nul\\0"):
        done = run_process("", "replay", str(path))
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
        assert done.stderr.startswith(b"cannot read")


def test_a_reader_that_leaves_early_causes_no_traceback(tmp_path):
    rulings = {"max_movements": 20_000}
    influences = ["sun", "water", "moon", "earth"] * 2000
    file = tmp_path / "long.json"
    file.write_text(json.dumps(document(*[TIE] * 20_000, rulings=rulings, influences=influences)))
    command = [sys.executable, "-m", "engine", "replay", str(file)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as process:
        assert process.stdout.readline().startswith(b'{"n": 0')
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "engine", "replay", "-"],
            input=json.dumps(document()).encode(),
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"cannot write")
    assert done.stderr.count(b"\n") == 1


def test_help_names_the_subcommand():
    assert b"replay" in run_process("", "--help").stdout
    assert b"FILE" in run_process("", "replay", "--help").stdout
    assert run_process("", "dance").returncode == 2
