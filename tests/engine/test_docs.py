"""docs/engine.md says what the engine does: its examples are run and its table is compared.

So is the format of transcripts in docs/fairness.md.
"""

import contextlib
import io
import json
import re
import sys
from pathlib import Path

from engine import GOD_V1, RULINGS, verify
from engine.__main__ import main

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "engine.md").read_text()


def block(language):
    """The one fenced block of that language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found


def test_the_python_example_prints_what_the_page_says():
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(block("python"), {})
    assert printed.getvalue() == block("text")


def test_the_replay_example_prints_what_the_page_says(monkeypatch, capsys):
    text = io.TextIOWrapper(io.BytesIO(block("json").encode()))
    monkeypatch.setattr(sys, "stdin", text)
    assert main(["replay", "-"]) == 0
    assert capsys.readouterr().out == block("jsonl")


def test_the_table_of_rulings_has_each_one_with_its_value():
    section = PAGE[PAGE.index("## Rulings") :]
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", section, re.MULTILINE)
    assert {name: json.loads(value) for name, value in rows} == {
        name: getattr(GOD_V1, name) for name in RULINGS
    }


def test_the_format_of_a_transcript_is_written_down_as_it_is_verified():
    page = (DOCS / "fairness.md").read_text()
    rows = re.findall(r"^\| ([^|]*) \| ((?:`\w+`(?:, )?)+) \|$", page, re.MULTILINE)
    written = {name.replace("`", ""): tuple(re.findall(r"\w+", keys)) for name, keys in rows}
    example = json.loads((DOCS / "fairness-example.json").read_text())
    movement = next(event for event in example["events"] if event["type"] == "movement")
    assert written == {
        "the transcript": verify.DOCUMENT,
        "header": verify.HEADER,
        **{f"event {kind}": keys for kind, keys in verify.EVENTS.items()},
        "a choice": tuple(movement["a"]),
        "result": tuple(example["result"]),
    }
