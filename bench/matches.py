"""Matches played over HTTP, all at once, their players' streams open.

How many movements a second, and how soon a player sees the movement that the other's reveal ended;
beside the same server answering a call that reads one row. Half of the time the server holds idle
streams besides: what they change is the difference between two servers, alike but for that.

Run with `python -m bench.matches`. Servers, clients and database share the machine's cores.
"""

import argparse
import asyncio
import hashlib
import json
import logging
import os
import random
import resource
import secrets
import signal
import statistics
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bas_site.devstack.ports import HOST
from bench.live import CALL, LOCK_SECONDS, Web, call_until, open_streams, request, tables
from bench.report import say, show_aim, show_table
from bench.server import Server, throwaway_server

MATCHES, IDLE_STREAMS, ROUNDS, SECONDS = 200, 2_000, 5, 10.0
CALLERS = 16
CALLS_OF_A_MOVEMENT = 4
# Shorter than what uvicorn waits for.
KEEP_ALIVE_SECONDS = 3
CORE_MOVES = ("rock", "paper", "scissors")
RATIO_AIM, P95_AIM_MS, IDLE_AIM = 0.3, 60, 0.9


class Listener(asyncio.Protocol):
    """A player's stream, of which only the ends of movements are noted."""

    def __init__(self, request_: bytes) -> None:
        self._request = request_
        self.begun = asyncio.get_running_loop().create_future()
        self.ended_at: list[float] = []
        self._woken = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the stream."""
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Note when a movement has ended."""
        now = time.perf_counter()
        if not self.begun.done() and b"event: clock" in data:
            self.begun.set_result(None)
        for _ in range(data.count(b"event: movement")):
            self.ended_at.append(now)
            self._woken.set()

    async def movement(self, number: int) -> float:
        """Wait for the end of that movement; when it was told."""
        while len(self.ended_at) < number:
            self._woken.clear()
            await self._woken.wait()
        return self.ended_at[number - 1]


class Player:
    """A player's one connection for calls."""

    def __init__(self, match: str, side: str, token: str) -> None:
        self.match, self.side = match, side
        self.turned_away = 0
        self._head = f"Host: localhost\r\nAuthorization: Bearer {token}\r\n"
        self._link: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._used = 0.0

    async def _connected(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The connection, a new one if the server may have closed it for idleness."""
        if self._link and time.perf_counter() - self._used > KEEP_ALIVE_SECONDS:
            self._link[1].close()
            self._link = None
        self._link = self._link or await asyncio.open_connection(HOST, port)
        return self._link

    async def post(self, port: int, call: str, body: dict[str, Any]) -> dict[str, Any]:
        """Call until the server is not too busy, and return the answer. Else 200 is expected."""
        while (answer := await self._post(port, call, body)) is None:
            self.turned_away += 1
            await asyncio.sleep(1)
        return answer

    async def _post(self, port: int, call: str, body: dict[str, Any]) -> dict[str, Any] | None:
        reader, writer = await self._connected(port)
        data = json.dumps(body).encode()
        writer.write(
            f"POST /api/v1/matches/{self.match}/{call} HTTP/1.1\r\n{self._head}"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode()
            + data
        )
        head = await reader.readuntil(b"\r\n\r\n")
        (length,) = (
            int(line.split(b":")[1])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        )
        text = await reader.readexactly(length)
        self._used = time.perf_counter()
        if head.startswith(b"HTTP/1.1 503") and json.loads(text)["code"] == "busy":
            self._link = writer.close()
            return None
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(text.decode())
        return json.loads(text)


@dataclass
class Table:
    """A match that is played: its players, and ape a's stream."""

    match: str
    players: dict[str, Player]
    listener: Listener
    movement: int = 1
    over: bool = False

    async def play(self, port: int) -> float:
        """One movement by commitments; the seconds from the last reveal to the other's event."""
        choices = {}
        for side in self.players:
            salt, move = secrets.token_hex(32), random.choice(CORE_MOVES)
            text = f"bas:{self.match}:{self.movement}:{side}:{move}:none:{salt}"
            commitment = hashlib.sha256(text.encode()).hexdigest()
            choices[side] = commitment, {"movement": self.movement, "move": move, "salt": salt}
        await asyncio.gather(
            *(
                player.post(
                    port, "moves", {"movement": self.movement, "commitment": choices[side][0]}
                )
                for side, player in self.players.items()
            )
        )
        await self.players["a"].post(port, "reveals", choices["a"][1])
        sent_at = time.perf_counter()
        answer = await self.players["b"].post(port, "reveals", choices["b"][1])
        told_at = await self.listener.movement(self.movement)
        self.movement += 1
        self.over = answer["status"] != "running"
        return told_at - sent_at


@dataclass
class Turn:
    """What was played in one turn."""

    seconds: float = 0.0
    delays: list[float] = field(default_factory=list)

    @property
    def movements_per_second(self) -> float:
        """Movements that ended in a second."""
        return len(self.delays) / self.seconds


async def _sit_down(web: Web, made: Iterable[Any]) -> list[Table]:
    """The matches with both players' streams open."""
    loop = asyncio.get_running_loop()
    found = []
    for match, _, tokens in made:
        listeners = {}
        for side, token in tokens.items():
            asked = request(f"/api/v1/matches/{match}/events", token)
            _, listeners[side] = await loop.create_connection(
                lambda asked=asked: Listener(asked), HOST, web.port
            )
            await listeners[side].begun
        players = {side: Player(str(match), side, token) for side, token in tokens.items()}
        found.append(Table(str(match), players, listeners["a"]))
    return found


async def _play(web: Web, tables_: list[Table], seconds: float, rate: float = 0.0) -> Turn:
    """Play at all tables at once: as fast as it goes, or at so many movements a second in all."""
    started = time.perf_counter()
    end, turn = started + seconds, Turn()
    pause = len(tables_) / rate if rate else 0.0

    async def one(table: Table) -> None:
        # Players do not all think for the same time.
        await asyncio.sleep(random.uniform(0, pause))
        while (began := time.perf_counter()) < end and not table.over:
            turn.delays.append(await table.play(web.port))
            # Nobody waits beyond the end, or the turn would seem slower than it was.
            await asyncio.sleep(max(0.0, min(began + pause, end) - time.perf_counter()))

    await asyncio.gather(*(one(table) for table in tables_))
    turn.seconds = time.perf_counter() - started
    return turn


async def _calls_per_second(web: Web, token: str, seconds: float) -> float:
    end = time.perf_counter() + seconds
    asked = request(CALL, token)
    each = await asyncio.gather(*(call_until(web.port, asked, end) for _ in range(CALLERS)))
    return sum(map(len, each)) / seconds


async def _measure(
    server: Server, made: list[Any], matches: int, idle: int, rounds: int, seconds: float
) -> None:
    plain, laden = Web("web-plain", server), Web("web-with-idle-streams", server)
    played: dict[Web, list[Turn]] = {plain: [], laden: []}
    called: list[float] = []
    token = made[0][2]["a"]
    try:
        seats = {}
        for n, web in enumerate(played):
            web.start()
            seats[web] = await _sit_down(web, made[n * matches :][:matches])
        if idle:
            say(f"Opening {idle:,} idle streams.")
            await open_streams(laden, made[2 * matches :], idle)
        for n in range(rounds):
            called.append(await _calls_per_second(plain, token, seconds / 2))
            for web in (plain, laden) if n % 2 else (laden, plain):
                played[web].append(await _play(web, seats[web], seconds))
            speeds = " : ".join(f"{t[-1].movements_per_second:.1f}" for t in played.values())
            say(f"  round {n + 1} of {rounds}: {called[-1]:.0f} calls/s, {speeds} movements/s")
        full = statistics.median(turn.movements_per_second for turn in played[plain])
        players = [player for table in seats[plain] for player in table.players.values()]
        say(f"  {sum(player.turned_away for player in players)} calls were told to come again")
        going_on = [table for table in seats[plain] if not table.over]
        half = await _play(plain, going_on, 4 * seconds, rate=full / 2)
    finally:
        for web in played:
            web.process.kill()
    _report(matches, idle, called, played[plain], played[laden], half)


def _report(
    matches: int,
    idle: int,
    called: list[float],
    plain: list[Turn],
    laden: list[Turn],
    half: Turn,
) -> None:
    ratio = statistics.median(
        CALLS_OF_A_MOVEMENT * turn.movements_per_second / calls
        for turn, calls in zip(plain, called, strict=True)
    )
    beside_idle = statistics.median(
        a.movements_per_second / b.movements_per_second for a, b in zip(laden, plain, strict=True)
    )
    movements = statistics.median(turn.movements_per_second for turn in plain)
    show_table(
        f"{matches} matches at once, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        ["", "/s"],
        [
            [f"GET {CALL}, {CALLERS} callers", f"{statistics.median(called):.0f}"],
            ["movements", f"{movements:.1f}"],
            ["calls of the protocol", f"{CALLS_OF_A_MOVEMENT * movements:.0f}"],
            ["calls of the protocol : GET", f"{ratio:.2f}"],
            [f"movements with {idle:,} idle streams : without", f"{beside_idle:.2f}"],
        ],
    )
    show_table(
        "Milliseconds from the last reveal to the other player's event",
        ["", "movements /s", "p50", "p95", "p99"],
        [
            [
                "as fast as it goes",
                f"{movements:.1f}",
                *_cuts([d for t in plain for d in t.delays]),
            ],
            ["at half of that", f"{half.movements_per_second:.1f}", *_cuts(half.delays)],
        ],
    )
    p95 = float(_cuts(half.delays)[1])
    show_aim(f"calls of the protocol : GET, {RATIO_AIM}", "median", ratio, met=ratio >= RATIO_AIM)
    show_aim(f"p95 at half load, under {P95_AIM_MS} ms", "half load", p95, met=p95 < P95_AIM_MS)
    met = beside_idle >= IDLE_AIM
    show_aim(f"with idle streams : without, {IDLE_AIM}", "median", beside_idle, met=met)


def _cuts(seconds: list[float]) -> list[str]:
    cuts = statistics.quantiles(seconds, n=100)
    return [f"{1000 * cuts[n]:.1f}" for n in (49, 94, 98)]


def run(
    server: Server,
    *,
    matches: int = MATCHES,
    idle: int = IDLE_STREAMS,
    rounds: int = ROUNDS,
    seconds: float = SECONDS,
) -> None:
    """Make the matches, measure, print."""
    from django.conf import settings

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 2 * idle + 4096), most))
    settings.MATCH_LOCK_SECONDS = settings.MATCH_REVEAL_SECONDS = LOCK_SECONDS
    logging.getLogger("httpx").setLevel(logging.WARNING)
    say("Making matches.")
    made = tables(2 * matches, idle)
    asyncio.run(_measure(server, made, matches, idle, rounds, seconds))


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.matches",
        description="Matches played over HTTP, beside a call that reads one row.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--matches", type=int, default=MATCHES, help="at once")
    parser.add_argument("--idle", type=int, default=IDLE_STREAMS, help="idle streams besides")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="length of a turn")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with throwaway_server() as server:
        run(server, **vars(options))


if __name__ == "__main__":
    main()
