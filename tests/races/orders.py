"""What was recorded is one of the legal orders of what was sent; each match was settled once."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import permutations
from typing import Any

from engine.verify import verify
from matches.models import Match
from matches.transcript import transcript
from tests.races.plan import LONG
from wallets.models import Account, Transfer

Line = Mapping[str, Any]
Events = list[tuple[int, dict[str, Any]]]

READERS = 3  # both players, and a spectator
# What a message may be answered when it lost the race.
REFUSALS = {
    "read": set(),
    "lock": {"match_not_running", "stale_movement", "too_late"},
    "stale": {"match_not_running", "stale_movement"},
    "reveal": {"match_not_running", "stale_movement", "too_late", "too_early", "wrong_reveal"},
    "early": {"match_not_running", "stale_movement", "too_late", "too_early", "wrong_reveal"},
    "wrong": {"match_not_running", "stale_movement", "too_late", "too_early", "wrong_reveal"},
    "drink": {"match_not_running", "illegal_choice"},
    "resign": {"match_not_running"},
}


def faults_of_answers(lines: Iterable[Line]) -> list[str]:
    """Answers that no order explains: an error of the server, a refusal that makes no sense."""
    return [
        f"{line['kind']} was answered {line['status']}: {line['text'][:300]}"
        for line in lines
        if line["source"] == "answer"
        and line["status"] != 200
        and (line["status"] >= 500 or _code(line) not in REFUSALS[line["kind"]])
    ]


def _code(line: Line) -> str:
    return str(json.loads(line["text"]).get("code"))


def faults_of(match: Match, first: int, lines: list[Line]) -> list[str]:
    """What is wrong with the record of a match, seen from what its players did.

    They raced from movement `first` on. Raises a Fault if the transcript does not verify.
    """
    document = transcript(match)
    verify(document)  # the chain, the commitments, the draws, the rules, the result
    raced = [
        (n, event)
        for n, event in enumerate(document["events"])
        if event["type"] != "start" and event.get("movement", first) >= first
    ]
    asked = [line for line in lines if line["source"] == "answer"]
    done = [line for line in asked if line["status"] == 200]
    found = [
        *_of_locks(raced, asked, done),
        *_of_reveals(raced, done),
        *_of_potions_and_resigning(raced, done),
        *_of_times(raced, done),
        *_of_streams(len(document["events"]), lines),
        *_of_money(match),
    ]
    if match.lock_seconds == LONG:
        found += _of_misses(raced)
    return [f"match {match.pk}: {fault}" for fault in found]


def _of_locks(events: Events, asked: list[Line], done: list[Line]) -> Iterable[str]:
    """Each commitment that was taken is recorded, and none that nobody sent."""
    locked = [event for _, event in events if event["type"] == "locked"]
    recorded = Counter((event["ape"], event["commitment"]) for event in locked)
    sent = {(line["side"], (line["sent"] or {}).get("commitment")) for line in asked}
    locks = [line for line in done if line["kind"] == "lock"]
    taken = Counter((line["side"], line["sent"].get("commitment")) for line in locks)
    for side in "ab":
        in_one_step = taken.pop((side, None), 0)
        by_server = sum(
            n for (ape, c), n in recorded.items() if ape == side and (ape, c) not in sent
        )
        if by_server > in_one_step:
            yield f"{by_server} commitments of the server's for {in_one_step} choices of ape {side}"
    for key, times in taken.items():
        if not 1 <= recorded[key] <= times:
            yield f"{key} was taken {times} times and recorded {recorded[key]} times"


def _of_reveals(events: Events, done: list[Line]) -> Iterable[str]:
    """What was revealed, and taken, is shown; unless the match ended before its movement."""
    shown = {event["movement"]: event for _, event in events if event["type"] == "movement"}
    for line in done:
        if line["kind"] in ("reveal", "early", "wrong"):
            movement, side = line["sent"]["movement"], line["side"]
            want = {name: line["sent"][name] for name in ("move", "tribute", "salt")}
            if movement in shown and shown[movement][side] != want:
                yield f"ape {side} revealed {want} in movement {movement}: {shown[movement]}"
            if line["kind"] == "wrong":
                yield f"a wrong reveal was taken in movement {movement}"


def _of_potions_and_resigning(events: Events, done: list[Line]) -> Iterable[str]:
    """They are recorded as often as they were answered."""
    for kind, message in (("potion", "drink"), ("resign", "resign")):
        recorded = Counter(event["ape"] for _, event in events if event["type"] == kind)
        answered = Counter(line["side"] for line in done if line["kind"] == message)
        for side in "ab":
            # To resign again is to be told the same.
            times = min(1, answered[side]) if kind == "resign" else answered[side]
            if recorded[side] != times:
                yield f"ape {side}: {kind} recorded {recorded[side]} times, answered {times} times"


def _of_misses(events: Events) -> Iterable[str]:
    for _, event in events:
        if event["type"] == "movement" and None in (event["a"], event["b"]):
            yield f"somebody missed movement {event['movement']}, with time enough"


def _of_times(events: Events, done: list[Line]) -> Iterable[str]:
    """What was answered before something else was sent is recorded before it."""
    places = defaultdict(list)
    for n, event in events:
        if event["type"] == "locked":
            places[event["ape"], event["commitment"]].append(n)
        elif event["type"] == "resign":
            places[event["ape"], "resign"].append(n)
        elif event["type"] == "movement":
            for side in "ab":
                if event[side]:
                    places[side, event[side]["salt"]].append(n)
    # The same message twice is one: it was sent at the first, and answered at the first answer.
    began: dict[Any, float] = {}
    answered: dict[Any, float] = {}
    for line in done:
        body = line["sent"] or {}
        what = "resign" if line["kind"] == "resign" else body.get("salt", body.get("commitment"))
        if (key := (line["side"], what)) in places:
            began[key] = min(line["began"], began.get(key, line["began"]))
            answered[key] = min(line["at"], answered.get(key, line["at"]))
    for one, other in permutations(began, 2):
        if answered[one] < began[other] and min(places[one]) > max(places[other]):
            yield f"{one} was answered before {other} was sent, but is recorded after it"


def _of_streams(count: int, lines: list[Line]) -> Iterable[str]:
    """Each reader was told every event once, in order, and then the end."""
    told = defaultdict(list)
    for line in lines:
        if line["source"] == "stream":
            ids = re.findall(r"^id: (\d+)$", line["text"], re.MULTILINE)
            told[line["side"], line["reader"]] += map(int, ids)
    if len(told) != READERS:
        yield f"{len(told)} streams were read"
    for reader, numbers in told.items():
        if numbers != list(range(count + 1)):
            yield f"{reader} was told {numbers} of {count} events"


def _of_money(match: Match) -> Iterable[str]:
    releases = Transfer.objects.filter(key=f"release:{match.pk}").count()
    left = Account.objects.get(key=f"match:{match.pk}").balance
    staked = sum(match.seats.values_list("staked", flat=True))
    if (releases, left, staked) != (1, 0, 0):
        yield f"released {releases} times, {left} left in escrow, {staked} staked"
