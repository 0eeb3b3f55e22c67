"""The threat model names tests, and each of them is there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "security.md"
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")


def test_each_test_that_the_threat_model_names_is_there():
    named = NAMED.findall(PAGE.read_text())
    assert len(named) > 40
    for file, name in named:
        assert f"def {name}(" in (ROOT / "tests" / file).read_text(), f"{file}::{name}"


def test_each_attack_of_the_threat_model_names_a_test():
    rows = re.findall(r"^\|(.+)\|(.+)\|(.+)\|$", PAGE.read_text(), re.M)
    attacks = [row for row in rows if row[0].strip() not in ("attack", "---")]
    assert len(attacks) > 30
    for attack, _, shown_by in attacks:
        assert NAMED.search(shown_by), attack
