"""Servers, players and a sweep, brought together; then the records are judged."""

import json
import multiprocessing
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import connection
from django.utils import timezone

from engine import Choice
from matches import battle, lobby, tasks
from matches.audit import CHECKS as MATCH_CHECKS
from matches.clock import latest_due
from matches.models import Match
from matches.sealing import unseal
from tests.matches.helpers import SIDES, player
from tests.matches.live_helpers import Web
from tests.races.client import Seat, process_of
from tests.races.orders import faults_of, faults_of_answers
from tests.races.plan import (
    LAST_HEALTH,
    LONG,
    PRELUDES,
    ROUNDS_OF_A_MATCH,
    SETTINGS,
    Script,
    script_of,
)
from tests.races.scan import Leak, Truth, scan, scan_logs
from wallets.audit import BEGINNING
from wallets.audit import CHECKS as LEDGER_CHECKS
from wallets.login import issue_token
from wallets.models import Wallet

SERVERS = 2
SWEEP_SECONDS = 0.2
STAKE, CREDITS = 10, 1_000_000


@dataclass
class Outcome:
    """What a run showed."""

    matches: int = 0
    rounds: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    leaks: list[Leak] = field(default_factory=list)


@dataclass(frozen=True)
class Raced:
    """A match that was raced, from which movement on."""

    match: str
    first_movement: int


def race(
    *,
    root: Path,
    valkey_url: str,
    rounds: int,
    tables: int,
    seed: int,
    say: Callable[[str], None],
    application: str = "bas_site.asgi:application",
) -> Outcome:
    """Play so many movements at so many tables at a time, and judge what was recorded.

    On the database of this process, whose settings are `SETTINGS` too.
    """
    folder = root / "races"
    folder.mkdir(exist_ok=True)
    raced: list[Raced] = []
    matches = -(-rounds // ROUNDS_OF_A_MATCH)
    with ExitStack() as stack:
        servers = [
            stack.enter_context(_server(root, valkey_url, application)) for _ in range(SERVERS)
        ]
        stack.enter_context(_sweep())
        numbers = iter(range(matches))
        each = [
            threading.Thread(
                target=_run_table,
                args=(table, numbers, seed, [web.port for web in servers], folder, raced, say),
            )
            for table in range(min(tables, matches))
        ]
        for thread in each:
            thread.start()
        for thread in each:
            thread.join()
        logs = [web.process.log for web in servers]
    if len(raced) != matches:
        raise RuntimeError(f"only {len(raced)} of {matches} matches were played")
    return _judged(raced, folder, logs, say)


@contextmanager
def _server(root: Path, valkey_url: str, application: str) -> Iterator[Web]:
    web = Web(root, valkey_url=valkey_url, LOG_JSON="1", LOG_LEVEL="DEBUG", **SETTINGS)
    web.start(application)
    try:
        yield web
    finally:
        web.process.stop()


@contextmanager
def _sweep() -> Iterator[None]:
    """What beat and a worker do, more often."""
    ended = threading.Event()

    def sweep() -> None:
        while not ended.wait(SWEEP_SECONDS):
            tasks.sweep_matches()
        connection.close()

    thread = threading.Thread(target=sweep)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _run_table(
    table: int,
    numbers: Iterator[int],
    seed: int,
    ports: list[int],
    folder: Path,
    raced: list[Raced],
    say: Callable[[str], None],
) -> None:
    """Have two processes play one match after the other."""
    wallets = {side: player(CREDITS) for side in SIDES}
    watcher = player(0)
    spawn = multiprocessing.get_context("spawn")
    signal = spawn.Barrier(len(SIDES))
    pipes = {side: spawn.Pipe() for side in SIDES}
    processes = [
        process_of(theirs, ports, signal, folder / f"table-{table}-{side}.jsonl")
        for side, (_, theirs) in pipes.items()
    ]
    for process in processes:
        process.start()
    for _, theirs in pipes.values():
        theirs.close()  # so that the end of a player's process is the end of its pipe
    try:
        for number in numbers:
            script = script_of(seed, number)
            match, first = _set_up(wallets, script)
            for side, (ours, _) in pipes.items():
                ours.send(Seat(str(match), side, script, _token(wallets[side]), _token(watcher)))
            for ours, _ in pipes.values():
                ours.recv()
            raced.append(Raced(str(match), first))
            if len(raced) % 50 == 0:
                say(f"{len(raced)} matches raced")
    except EOFError:
        say(f"a player of table {table} has broken down")
    finally:
        for ours, _ in pipes.values():
            ours.close()
        for process in processes:
            process.join(60)
            process.kill()
        connection.close()


def _token(wallet: Wallet) -> str:
    return issue_token(wallet=wallet, name="race")[0]


def _set_up(wallets: dict[str, Wallet], script: Script) -> tuple[Any, int]:
    """A match that has come to where the race begins, its clock just started."""
    made = lobby.create_match(wallet=wallets["a"], stake=STAKE, visibility="open")
    Match.objects.filter(pk=made.pk).update(lock_seconds=LONG, reveal_seconds=LONG)
    lobby.join_match(wallet=wallets["b"], match_id=made.pk)
    for choices in PRELUDES[script.prelude]:
        state = battle.state_of(Match.objects.get(pk=made.pk))
        if state.a.rounds == 2 and state.b.health <= LAST_HEALTH:
            break
        for side, move in zip(SIDES, choices, strict=True):
            if move:
                battle.play(
                    wallet=wallets[side],
                    match_id=made.pk,
                    movement=state.movement,
                    choice=Choice(move),
                )
        if None in choices:
            Match.objects.filter(pk=made.pk).update(deadline=latest_due(timezone.now()))
            battle.catch_up(match_id=made.pk)
    clock = timezone.now() + timedelta(seconds=script.seconds)
    Match.objects.filter(pk=made.pk).update(
        lock_seconds=script.seconds, reveal_seconds=script.seconds, deadline=clock
    )
    return made.pk, battle.state_of(Match.objects.get(pk=made.pk)).movement


def _judged(
    raced: list[Raced], folder: Path, logs: list[Path], say: Callable[[str], None]
) -> Outcome:
    lines = [json.loads(line) for file in folder.glob("*.jsonl") for line in file.open()]
    of_match: dict[str, list[dict[str, Any]]] = {each.match: [] for each in raced}
    for line in lines:
        of_match[line["match"]].append(line)
    outcome = Outcome(matches=len(raced))
    truths = {}
    outcome.faults += faults_of_answers(lines)
    for each in raced:
        match = Match.objects.get(pk=each.match)
        outcome.faults += faults_of(match, each.first_movement, of_match[each.match])
        outcome.counts[f"ended by {match.ended_by}"] += 1
        truths[each.match] = _truth(match, of_match[each.match])
        for event in match.events.all():
            outcome.counts[f"{event.body['type']} events"] += 1
    outcome.rounds = len(raced) * ROUNDS_OF_A_MATCH
    for line in lines:
        outcome.counts["answers" if line["source"] == "answer" else "stream messages"] += 1
        if line["source"] == "answer" and line["status"] != 200:
            outcome.counts[f"refused: {json.loads(line['text'])['code']}"] += 1
    written = [text for log in logs for text in log.read_text().splitlines()]
    outcome.counts["log lines"] = len(written)
    outcome.leaks = [*scan(lines, truths), *scan_logs(written, truths)]
    outcome.faults += _audited()
    return outcome


def _audited() -> list[str]:
    """What the audit finds in the ledger and the matches; the credits here are from no chain."""
    return [
        f"audit: {check.truth}, but: {row}"
        for check in (*LEDGER_CHECKS, *MATCH_CHECKS)
        for row in check.find(BEGINNING)
    ]


def _truth(match: Match, lines: Iterable[dict[str, Any]]) -> Truth:
    truth = Truth(secret=unseal(match.sealed_secret))
    for event in match.events.filter(body__type="movement"):
        shown = {side: event.body[side] for side in SIDES}
        truth.shown[event.body["movement"]] = {
            side: choice and {"move": choice["move"], "tribute": choice["tribute"]}
            for side, choice in shown.items()
        }
    for lock in match.lock_ins.exclude(sealed_choice=None):
        truth.salts.add(unseal(lock.sealed_choice)["salt"])
    first_sent: dict[tuple[int, str], float] = {}
    for line in lines:
        body = line.get("sent") or {}
        if "salt" in body:
            truth.salts.add(body["salt"])
        if line.get("kind") == "lock":
            key = body["movement"], line["side"]
            first_sent[key] = min(line["began"], first_sent.get(key, line["began"]))
    for movement, choices in truth.shown.items():
        times = [first_sent.get((movement, side), 0.0) for side in SIDES if choices[side]]
        truth.both_sent[movement] = max(times, default=0.0)
    return truth
