"""The playthroughs in golden/ are what the engine does, and there is one for each situation."""

import difflib

import pytest

from engine import RULINGS
from tests.engine.golden.script import FOLDER, text_of
from tests.engine.golden.situations import SITUATIONS


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_the_engine_plays_as_written(situation):
    path = FOLDER / f"{situation.name}.txt"
    written, played = path.read_text(encoding="utf-8"), text_of(situation)
    if written != played:
        lines = [text.splitlines() for text in (written, played)]
        diff = "\n".join(difflib.unified_diff(*lines, path.name, "played now", lineterm=""))
        pytest.fail(f"{diff}\n\nIf that is meant: python -m tests.engine.golden", pytrace=False)


def test_every_file_is_of_a_situation():
    assert {path.stem for path in FOLDER.glob("*.txt")} == {s.name for s in SITUATIONS}


def test_every_ruling_is_flipped():
    flipped = {
        name for situation in SITUATIONS for rulings in situation.rulings for name in rulings
    }
    assert flipped == set(RULINGS)
