"""docs/engine.md says what the engine does: its examples are run and its table is compared."""

import contextlib
import io
import json
import re
import sys
from pathlib import Path

from engine import GOD_V1, RULINGS
from engine.__main__ import main

PAGE = (Path(__file__).parents[2] / "docs" / "engine.md").read_text()


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
