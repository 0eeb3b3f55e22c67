"""Every answer, event and log line of a run is read for what was told too early.

A salt may stand in a transcript alone, the server's secret where the match has ended, and a choice
where a movement that is over is shown, or the choices that an ape has by its public counts.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine import Ape, State, legal_choices
from engine.ruleset import GOD_V1

WORDS = re.compile(r"\b(rock|paper|scissors|wild|alpha)\b")
TRIBUTES = ("wilds", "alphas")
HEX_32 = re.compile(r"[0-9a-fA-F]{64}")
SHOWN = re.compile(r"(play\.last_movement\.|^)[ab]\.(move|tribute)$")
LEGAL = re.compile(r"play\.legal_choices\[\d+\]\.(move|tribute)$")


@dataclass(frozen=True)
class Leak:
    """What was told too early, and where it stood."""

    what: str
    where: str


@dataclass
class Truth:
    """What one match had to hide."""

    salts: set[str] = field(default_factory=set)
    secret: str = ""
    # For a movement that was decided: the choices shown, and when both had sent theirs.
    shown: dict[int, dict[str, Any]] = field(default_factory=dict)
    both_sent: dict[int, float] = field(default_factory=dict)


def scan(lines: Iterable[Mapping[str, Any]], truths: Mapping[str, Truth]) -> Iterator[Leak]:
    """Every leak in what the players were told."""
    for line in lines:
        truth = truths[line["match"]]
        where = f"{line['source']} {line.get('call', line.get('reader'))} of {line['match']}"
        if line["source"] == "stream":
            found = _in_stream(line["text"], line["at"], truth)
        elif line["call"] == "transcript" and line["status"] == 200:
            continue
        else:
            found = _in_answer(line, truth)
        for what in (*_in_text(line["text"], truth), *found):
            yield Leak(what, where)


def scan_logs(lines: Iterable[str], truths: Mapping[str, Truth]) -> Iterator[Leak]:
    """Every leak in what the servers wrote down: there no choice may stand, however old."""
    hidden = {salt for truth in truths.values() for salt in truth.salts}
    hidden |= {truth.secret for truth in truths.values()}
    for line in lines:
        if WORDS.search(line) or hidden.intersection(HEX_32.findall(line.lower())):
            yield Leak("log", line.strip()[:200])


def _in_text(text: str, truth: Truth) -> Iterator[str]:
    if truth.salts.intersection(HEX_32.findall(text.lower())):
        yield "salt"


def _in_answer(line: Mapping[str, Any], truth: Truth) -> Iterator[str]:
    body = json.loads(line["text"])
    if line["status"] != 200:
        # A refusal may name the choice that was sent, to whoever sent it.
        sent = json.dumps(line["sent"])
        yield from ("word" for word in WORDS.findall(line["text"]) if word not in sent)
        return
    running = body["status"] == "running"
    if truth.secret in line["text"] and running:
        yield "secret"
    for path in _paths_of_choices(body):
        if not (LEGAL.search(path) or SHOWN.search(path)):
            yield "word"
    if body["play"]:
        if past := body["play"]["last_movement"]:
            yield from _early(past, line["at"], truth)
            if running and past["movement"] >= body["play"]["movement"]:
                yield "early"
        if body["play"]["legal_choices"] != _by_the_counts(body, line["side"]):
            yield "legal"


def _in_stream(block: str, at: float, truth: Truth) -> Iterator[str]:
    fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
    if "data" not in fields:
        if WORDS.search(block):
            yield "word"
        return
    data = json.loads(fields["data"])
    if truth.secret in block:
        yield "secret"
    for path in _paths_of_choices(data):
        if fields["event"] != "movement" or not SHOWN.fullmatch(path):
            yield "word"
    if fields["event"] == "movement":
        yield from _early(data, at, truth)


def _early(past: Mapping[str, Any], at: float, truth: Truth) -> Iterator[str]:
    """A movement is shown as it was decided, and not before both had sent what was decided."""
    movement = past["movement"]
    decided = {side: past[side] for side in "ab"} == truth.shown.get(movement)
    if not decided or at < truth.both_sent[movement]:
        yield "early"


def _by_the_counts(body: Mapping[str, Any], side: str) -> list[dict[str, Any]]:
    """What an ape may choose by what everybody sees of it; nothing hidden shows in it."""
    if body["status"] != "running":
        return []
    names = Ape._fields
    apes = {
        each: Ape(**{name: ape[name] for name in names})
        for each, ape in body["play"]["apes"].items()
    }
    state = State(phase=body["play"]["phase"], **apes)
    return [choice._asdict() for choice in legal_choices(state, side, GOD_V1)]


def _paths_of_choices(value: Any, path: str = "") -> Iterator[str]:
    """Where in an answer something stands that is, or names, a choice."""
    match value:
        case dict():
            for key, inner in value.items():
                place = f"{path}.{key}" if path else key
                if WORDS.fullmatch(key):
                    yield place
                yield from _paths_of_choices(inner, place)
        case list():
            for index, inner in enumerate(value):
                yield from _paths_of_choices(inner, f"{path}[{index}]")
        case str() if WORDS.search(value) or value in TRIBUTES:
            yield path
