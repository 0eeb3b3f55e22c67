"""What idle streams cost: memory, and what is left for a simple call that says who one is.

Two web servers, alike but for the streams that one of them holds, answer the call in turns; the
ratio is the median over the pairs of turns, so that a busy machine slows both alike. Then moves are
played in matches that are watched, and the time from the commit to the event's arrival is shown
beside the time of the call.

Run with `python -m bench.live`.
"""

import argparse
import asyncio
import logging
import resource
import signal
import statistics
import sys
import time
from dataclasses import dataclass

import httpx
import psutil

from bas_site.devstack.ports import HOST, free_port
from bas_site.devstack.processes import Process, wait_until
from bas_site.devstack.service import PROJECT
from bench.report import say, show_aim, show_table
from bench.server import Server, throwaway_server

STREAMS, ROUNDS, SECONDS, MOVES = 2_000, 30, 1.0, 100
CALLERS = 4
# Its players on two devices each, and some who watch; below the limit for a wallet.
STREAMS_OF_A_MATCH = 10
OPENING = 16  # at a time: each needs a database connection for a moment
AIM = 0.9
CALL = "/api/v1/auth/me"
# Nobody's time runs out while it is measured.
LOCK_SECONDS = 7 * 24 * 3600


class Web:
    """A uvicorn process of one worker."""

    def __init__(self, name: str, server: Server) -> None:
        self.port = free_port()
        self.process = Process(name, server.services.root)
        self._env = server.env | {"LOG_LEVEL": "WARNING"}

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [sys.executable, "-m", "uvicorn", "bas_site.asgi:application", "--host", HOST]
        command += ["--port", str(self.port), "--no-access-log", "--log-level", "warning"]
        self.process.start(command, env=self._env, cwd=PROJECT)
        wait_until(self._answers, seconds=60, process=self.process)

    def _answers(self) -> bool:
        try:
            url = f"http://{HOST}:{self.port}/healthz"
            return httpx.get(url, trust_env=False).is_success
        except httpx.TransportError:
            return False

    @property
    def memory(self) -> int:
        """The bytes that would be free if it ended."""
        return psutil.Process(self.process.pid).memory_full_info().uss

    @property
    def processor_seconds(self) -> float:
        """What it has used."""
        times = psutil.Process(self.process.pid).cpu_times()
        return times.user + times.system


class Watcher(asyncio.Protocol):
    """A reader that does as little as one can, so that what is measured is the server."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self.begun = asyncio.get_running_loop().create_future()
        self.arrivals: list[float] = []
        self.lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the stream."""
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Note when something came."""
        if b"event: locked" in data or b"event: movement" in data:
            self.arrivals.append(time.perf_counter())
        if not self.begun.done() and b"event: clock" in data:
            self.begun.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        """Note that no more will come."""
        self.lost = True
        if not self.begun.done():
            self.begun.set_exception(RuntimeError("a stream ended before it began"))


def request(path: str, token: str) -> bytes:
    """The bytes of a GET."""
    return (
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
    ).encode()


async def call_until(port: int, asked: bytes, end: float) -> list[float]:
    """Call again and again over one connection; the seconds of each."""
    reader, writer = await asyncio.open_connection(HOST, port)
    took = []
    try:
        while (started := time.perf_counter()) < end:
            writer.write(asked)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(head.decode())
            length = next(
                int(line.split(b":")[1])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length:")
            )
            await reader.readexactly(length)
            took.append(time.perf_counter() - started)
    finally:
        writer.close()
    return took


@dataclass(frozen=True)
class Turn:
    """What a server did in one turn."""

    calls_per_second: float
    processor_seconds_per_call: float


async def _turn(web: Web, request: bytes, seconds: float) -> Turn:
    started, end = web.processor_seconds, time.perf_counter() + seconds
    each = await asyncio.gather(*(call_until(web.port, request, end) for _ in range(CALLERS)))
    calls = sum(map(len, each))
    return Turn(calls / seconds, (web.processor_seconds - started) / calls)


def tables(matches: int, streams: int) -> list[tuple[object, dict[str, object], dict[str, str]]]:
    """So many running matches, and enough more for so many streams: match, wallets, tokens."""
    from django.db import connection

    from matches import lobby
    from tests.matches.helpers import player
    from wallets.login import issue_token

    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = off")  # making them is not measured
    made = []
    for n in range(matches - (-streams // STREAMS_OF_A_MATCH)):
        wallets = {side: player() for side in ("a", "b")}
        match = lobby.create_match(wallet=wallets["a"], stake=10, visibility="open")
        lobby.join_match(wallet=wallets["b"], match_id=match.pk)
        tokens = {
            side: issue_token(wallet=wallet, name="bench")[0] for side, wallet in wallets.items()
        }
        made.append((match.pk, wallets, tokens))
        if n % 50 == 49:
            say(f"  {n + 1} matches made")
    connection.close()
    return made


async def open_streams(web: Web, made: list, streams: int) -> list[Watcher]:
    """So many streams of these matches, all begun."""
    gate = asyncio.Semaphore(OPENING)
    opened = 0

    async def open_(match_id: object, token: str) -> Watcher:
        nonlocal opened
        async with gate:
            asked = request(f"/api/v1/matches/{match_id}/events", token)
            loop = asyncio.get_running_loop()
            _, watcher = await loop.create_connection(lambda: Watcher(asked), HOST, web.port)
            await watcher.begun
            opened += 1
            if opened % 500 == 0:
                say(f"  {opened} streams open")
            return watcher

    half = STREAMS_OF_A_MATCH // 2
    seats = [(match, token) for match, _, tokens in made for token in (*tokens.values(),) * half]
    return await asyncio.gather(*(open_(*seat) for seat in seats[:streams]))


def _play(match_id: object, wallet: object) -> float:
    """Lock in the first move of a match; when it was committed."""
    from django.db import connection, transaction

    from engine import Choice
    from matches import battle

    committed = []
    with transaction.atomic():
        transaction.on_commit(lambda: committed.append(time.perf_counter()))
        battle.play(wallet=wallet, match_id=match_id, movement=1, choice=Choice("rock"))
    connection.close()
    return committed[0]


async def _delays(made: list, watchers: list[Watcher], moves: int) -> list[float]:
    """The seconds from the commit of a move to its arrival at each of the match's streams."""
    delays = []
    for n, (match_id, wallets, _) in enumerate(made[:moves]):
        of_match = watchers[STREAMS_OF_A_MATCH * n :][:STREAMS_OF_A_MATCH]
        committed = await asyncio.to_thread(_play, match_id, wallets["a"])
        for watcher in of_match:
            while not watcher.arrivals:
                await asyncio.sleep(0.001)
            delays.append(watcher.arrivals[0] - committed)
    return delays


async def _measure(
    server: Server, made: list, *, streams: int, rounds: int, seconds: float, moves: int
) -> None:
    full, empty = Web("web-with-streams", server), Web("web-without", server)
    token = made[0][2]["a"]
    call = request(CALL, token)
    try:
        for web in (full, empty):
            web.start()
            await _turn(web, call, seconds)
        before = full.memory
        say(f"Opening {streams:,} streams.")
        watchers = await open_streams(full, made, streams)
        await asyncio.sleep(3)
        each = (full.memory - before) / streams
        threads = psutil.Process(full.process.pid).num_threads()
        turns: dict[Web, list[Turn]] = {full: [], empty: []}
        for n in range(rounds):
            for web in (full, empty) if n % 2 else (empty, full):
                turns[web].append(await _turn(web, call, seconds))
            pair = " : ".join(f"{turns[web][-1].calls_per_second:.0f}" for web in (full, empty))
            say(f"  round {n + 1} of {rounds}: {pair} /s")
        alone = await call_until(full.port, call, time.perf_counter() + 5)
        delays = await _delays(made, watchers, moves)
        lost = sum(watcher.lost for watcher in watchers)
    finally:
        for web in (full, empty):
            web.process.kill()
    if lost:
        raise RuntimeError(f"{lost} streams were lost")
    _report(streams, each, threads, turns[full], turns[empty], alone, delays)


def _report(
    streams: int,
    each: float,
    threads: int,
    full: list[Turn],
    empty: list[Turn],
    alone: list[float],
    delays: list[float],
) -> None:
    def medians(field: str) -> tuple[float, float, float]:
        pairs = [(getattr(a, field), getattr(b, field)) for a, b in zip(full, empty, strict=True)]
        with_, without = (statistics.median(side) for side in zip(*pairs, strict=True))
        return with_, without, statistics.median(a / b for a, b in pairs)

    calls, calls_without, ratio = medians("calls_per_second")
    effort, effort_without, effort_ratio = medians("processor_seconds_per_call")
    show_table(
        f"{streams:,} idle streams on one process",
        ["", ""],
        [
            ["memory for each stream", f"{each / 1024:.1f} KiB"],
            ["threads of the process", str(threads)],
            [f"GET {CALL}, {CALLERS} callers: with the streams", f"{calls:.0f} /s"],
            ["the same without", f"{calls_without:.0f} /s"],
            ["with : without", f"{ratio:.3f}"],
            ["processor time for each call: with", f"{1000 * effort:.2f} ms"],
            ["the same without", f"{1000 * effort_without:.2f} ms"],
            ["with : without", f"{effort_ratio:.3f}"],
        ],
    )
    show_table(
        "Milliseconds, one thing at a time, with the streams open",
        ["", "p50", "p95"],
        [
            [f"GET {CALL}", *_percentiles(alone)],
            ["from a move's commit to its event", *_percentiles(delays)],
        ],
    )
    show_aim("calls with streams : without, at least 0.9", "all rounds", ratio, met=ratio >= AIM)


def _percentiles(seconds: list[float]) -> list[str]:
    cuts = statistics.quantiles(seconds, n=20)
    return [f"{1000 * cuts[9]:.1f}", f"{1000 * cuts[18]:.1f}"]


def run(
    server: Server,
    *,
    streams: int = STREAMS,
    rounds: int = ROUNDS,
    seconds: float = SECONDS,
    moves: int = MOVES,
) -> None:
    """Make the matches, measure, print."""
    from django.conf import settings

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < streams + 500:
        raise RuntimeError(f"{most} open files are allowed: too few for {streams} streams")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(streams + 500, 4096), most))
    settings.MATCH_LOCK_SECONDS = LOCK_SECONDS
    logging.getLogger("httpx").setLevel(logging.WARNING)
    say(f"Making matches for {streams:,} streams.")
    made = tables(0, streams)
    moves = min(moves, len(made))
    asyncio.run(
        _measure(server, made, streams=streams, rounds=rounds, seconds=seconds, moves=moves)
    )


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.live",
        description="What idle streams cost.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--streams", type=int, default=STREAMS)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="pairs of turns")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="length of a turn")
    parser.add_argument("--moves", type=int, default=MOVES, help="moves whose events are timed")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with throwaway_server() as server:
        run(server, **vars(options))


if __name__ == "__main__":
    main()
