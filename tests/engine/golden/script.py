"""What a situation is, and how its playthrough is written down."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine import (
    GOD_V1,
    Ape,
    Choice,
    IllegalEvent,
    Ruleset,
    State,
    drink,
    legal_choices,
    resign,
    resolve,
    ruleset_with,
    start,
)
from tests.engine.helpers import SEATS

FOLDER = Path(__file__).parent
CHOICE_WIDTH, COUNT_WIDTH = 18, 16
LOW_HEALTH = 6


@dataclass(frozen=True)
class Situation:
    """A playthrough to write down.

    An event is "rock + wilds / paper" (a's choice and b's; "-" is a missed movement), "potion a",
    "resign b", or "any": whatever is legal, while the match lasts. `draws` are used one at a time,
    then always the first that is left. It is played once under each of the `rulings`.
    """

    name: str
    title: str
    rule: str
    events: tuple[str, ...]
    given: State | None = None
    draws: tuple[str, ...] = ()
    rulings: tuple[Mapping[str, object], ...] = field(default=({},))


def text_of(situation: Situation) -> str:
    """The playthrough of a situation, as its file holds it."""
    lines = [situation.title, situation.rule]
    for rulings in situation.rulings:
        under = ", ".join(f"{name} = {_json(value)}" for name, value in rulings.items())
        lines += ["", f"=== god-v1{under and ' with ' + under}"]
        lines += _play(situation, ruleset_with(GOD_V1, rulings))
    return "\n".join(lines) + "\n"


def _json(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _play(situation: Situation, ruleset: Ruleset) -> list[str]:
    draws = iter(situation.draws)
    state = situation.given or start(ruleset)
    lines = ["at the start", *(_ape_line(seat, "", None, _of(state, seat)) for seat in SEATS)]
    for event in situation.events:
        asked: list[str] = []

        def draw(left, asked=asked):
            influence = next(draws, left[0])
            asked.append(f"drawn {influence} out of {', '.join(left)}")
            return influence

        if event == "any":
            if state.status != "running":
                break
            event = _any_event(state, ruleset)
        lines += ["", _heading(state, event)]
        try:
            after = _apply(state, event, draw, ruleset)
        except IllegalEvent as error:
            lines.append(f"  refused ({error.code}): {error.reason}")
            continue
        choices = dict(zip(SEATS, event.split(" / "), strict=True)) if " / " in event else {}
        for seat in SEATS:
            shown = choices.get(seat, "")
            before = _of(state, seat)
            lines.append(_ape_line(seat, shown.replace("-", "missed"), before, _of(after, seat)))
        lines += [f"  {told}" for told in (*_news(state, after), *asked)]
        state = after
    return lines


def _of(state: State, seat: str) -> Ape:
    return state.a if seat == "a" else state.b


def _any_event(state: State, ruleset: Ruleset) -> str:
    """A legal event that looks picked at random but is always the same."""
    for seat in SEATS:
        if _of(state, seat).potions and _of(state, seat).health <= LOW_HEALTH:
            return f"potion {seat}"
    picked = []
    for seat in SEATS:
        choices = legal_choices(state, seat, ruleset)
        digest = hashlib.sha256(f"{seat} {state.movement}".encode()).digest()
        picked.append(choices[int.from_bytes(digest) % len(choices)])
    return " / ".join(" + ".join(filter(None, choice)) for choice in picked)


def _apply(state: State, event: str, draw, ruleset: Ruleset) -> State:
    if event.startswith("potion "):
        return drink(state, event[-1], ruleset)
    if event.startswith("resign "):
        return resign(state, event[-1])
    a, b = (None if c == "-" else Choice(*c.split(" + ")) for c in event.split(" / "))
    return resolve(state, a, b, draw=draw, ruleset=ruleset)


def _heading(state: State, event: str) -> str:
    if " / " not in event:
        return event
    if state.round == 0:
        return f"movement {state.movement}: opening {state.in_phase}"
    sudden = ", sudden death" if state.sudden_death else ""
    where = f"round {state.round}, cycle {state.cycle}, {state.phase} {state.in_phase}"
    return f"movement {state.movement}: {where}{sudden}"


def _ape_line(seat: str, shown: str, before: Ape | None, after: Ape) -> str:
    """All that an ape has, and in brackets by how much an event changed it."""
    counts = []
    for name, value in after._asdict().items():
        change = value - getattr(before, name) if before else 0
        counts.append(f"{name} {value}{f' ({change:+})' if change else ''}".ljust(COUNT_WIDTH))
    return f"  {seat} {shown:{CHOICE_WIDTH}}{''.join(counts)}".rstrip()


def _news(before: State, after: State) -> list[str]:
    """What an event did beside the apes' counts."""
    news = []
    if after.outcome:
        news.append("tie" if after.outcome == "tie" else f"{after.outcome} wins the movement")
    for seat in SEATS:
        if _of(after, seat).rounds > _of(before, seat).rounds:
            news.append(f"{seat} wins round {before.round}")
    if after.sudden_death and not before.sudden_death:
        news.append("sudden death begins")
    if after.status != "running":
        winner = f" by {after.winner}" if after.winner else ""
        news.append(f"match over: {after.status}{winner}")
    elif after.round > before.round:
        news.append(f"round {after.round} begins")
    elif after.cycle > before.cycle:
        news.append(f"cycle {after.cycle} begins")
    return news
