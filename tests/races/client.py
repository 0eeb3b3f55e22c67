"""One player of the race: a process that knows the protocol, and nothing of the server's code.

Everything that it sends, is answered and hears on its streams is written down, with the times.
"""

import hashlib
import http.client
import json
import multiprocessing
import random
import secrets
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.races.plan import GRACE_SECONDS, Message, Script

HOST = "127.0.0.1"
# Messages of one player that are on their way at the same time.
AT_ONCE = 6
SIGNAL_SECONDS = 120
# A movement ends within its two stages, their grace, and what a busy machine takes.
SETTLE_SECONDS = 30


@dataclass(frozen=True)
class Seat:
    """A seat at a match: its plan, its player's token and a spectator's."""

    match: str
    side: str
    script: Script
    token: str
    spectator: str


@dataclass
class Locked:
    """What this player has sent as a choice for a movement."""

    move: str
    tribute: str | None
    salt: str
    commitment: str | None = None  # none if the server makes it

    @property
    def choice(self) -> dict[str, Any]:
        return {"move": self.move, "tribute": self.tribute}


class Stuck(Exception):
    """A movement, or a stream, does not end."""


class Notebook:
    """What happened, a line of JSON each; lines of many threads do not mix."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def write(self, **line: Any) -> None:
        with self._lock:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()


def play_all(seats: Connection, ports: list[int], signal: Any, notes: Path) -> None:
    """Play the matches that come, one after the other, as the other player's process does."""
    notebook = Notebook(notes)
    with ThreadPoolExecutor(AT_ONCE) as pool, suppress(EOFError):
        while True:
            _Player(seats.recv(), ports, signal, notebook, pool).play()
            seats.send("played")


def process_of(*arguments: Any) -> multiprocessing.Process:
    """A process that plays; it shares nothing but the signal with the other's."""
    return multiprocessing.get_context("spawn").Process(target=play_all, args=arguments)


@dataclass
class _Player:
    seat: Seat
    ports: list[int]
    signal: Any
    notebook: Notebook
    pool: ThreadPoolExecutor
    sent: list[Locked] = field(default_factory=list)
    movement: int = 0  # the running one when it was last looked at; 0 once the match is over

    def play(self) -> None:
        # Each to a server of its own: what two processes do must be in order, too.
        self.port = self.ports[self.seat.side == "b"]
        streams = [self._stream("own", self.seat.token)]
        if self.seat.side == "a":
            streams.append(self._stream("spectator", self.seat.spectator))
        for number, round_ in enumerate(self.seat.script.rounds):
            self._look()
            self.dice = random.Random(f"{self.seat.match}:{self.seat.side}:{number}")
            self.sent = []
            self._together(round_.at_lock[self.seat.side])
            self._together(round_.at_reveal[self.seat.side])
            self._settle()
        ending = self.seat.side in self.seat.script.resigning
        self._together([Message("resign", 0.0)] if ending else [])
        self._settle(match=True)
        self._call("GET", "transcript")
        for stream in streams:
            stream.join(SETTLE_SECONDS)
            if stream.is_alive():
                raise Stuck(f"a stream of {self.seat.match} does not end")

    def _look(self) -> bool:
        """Whether the match is running; what is running in it is remembered."""
        table = self._call("GET", "")
        if table["status"] != "running":
            self.movement = 0
            return False
        self.movement = table["play"]["movement"]
        self.legal = [(c["move"], c["tribute"]) for c in table["play"]["legal_choices"]]
        return True

    def _seconds_left(self) -> float:
        play = self._call("GET", "")["play"]
        if not play["deadline"]:
            return 0.0
        return datetime.fromisoformat(play["deadline"]).timestamp() - time.time()

    def _together(self, messages: list[Message]) -> None:
        """Send at the same instant as the other player does, each message by itself."""
        if self.movement:
            self._prepare(messages)
        running = self.movement
        self.signal.wait(SIGNAL_SECONDS)
        if running:
            list(self.pool.map(self._send, messages))

    def _prepare(self, messages: list[Message]) -> None:
        """Make choices before the signal: what follows it has to be quick."""
        for message in messages:
            way = message.kind.removeprefix("late ")
            if way in ("commit", "play", "replace", "lock") and self.legal:
                move, tribute = self.dice.choice(self.legal)
                locked = Locked(move, tribute, secrets.token_hex(32))
                if way == "commit" or (way in ("replace", "lock") and self.dice.random() < 0.6):
                    text = f"bas:{self.seat.match}:{self.movement}:{self.seat.side}:{move}:"
                    text += f"{tribute or 'none'}:{locked.salt}"
                    locked.commitment = hashlib.sha256(text.encode()).hexdigest()
                self.sent.append(locked)

    def _send(self, message: Message) -> None:
        kind = message.kind
        wait = message.delay
        if kind.startswith("late "):
            kind = kind.removeprefix("late ")
            wait += GRACE_SECONDS + self._seconds_left()
        time.sleep(max(0.0, wait))
        mine = [locked for locked in self.sent if locked.commitment]
        match kind:
            case "commit" | "play" | "again" if self.sent:
                self._lock(self.sent[0])
            case "replace" | "lock" if self.sent:
                self._lock(self.sent[-1])
            case "stale":
                self._post("moves", {"movement": self.movement - 1 or 99, "move": "rock"}, kind)
            case "reveal" | "early":
                for locked in mine:
                    self._reveal(locked.salt, locked, kind)
            case "wrong" if mine:
                self._reveal(secrets.token_hex(32), mine[0], kind)
            case "drink":
                self._post("potions", {}, kind)
            case "resign":
                self._post("resign", {}, kind)
            case "read":
                self._call("GET", "")

    def _lock(self, locked: Locked) -> None:
        body = locked.commitment and {"commitment": locked.commitment}
        self._post("moves", {"movement": self.movement} | (body or locked.choice), "lock")

    def _reveal(self, salt: str, locked: Locked, kind: str) -> None:
        body = {"movement": self.movement, "salt": salt} | locked.choice
        self._post("reveals", body, kind)

    def _settle(self, *, match: bool = False) -> None:
        """Wait for the end of the movement, or the match; to look applies a passed deadline."""
        before, until = self.movement, time.monotonic() + SETTLE_SECONDS
        while self._look() and (match or self.movement == before):
            if time.monotonic() > until:
                raise Stuck(f"movement {before} of {self.seat.match} does not end")
            time.sleep(0.05)

    def _post(self, call: str, body: dict[str, Any], kind: str) -> None:
        self._call("POST", call, body, kind)

    def _call(
        self, method: str, call: str, body: dict[str, Any] | None = None, kind: str = "read"
    ) -> Any:
        path = f"/api/v1/matches/{self.seat.match}" + (call and f"/{call}")
        headers = {"Authorization": f"Bearer {self.seat.token}"}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body)
        link = http.client.HTTPConnection(HOST, self.port, timeout=60)
        began = time.monotonic()
        link.request(method, path, data, headers)
        answer = link.getresponse()
        text = answer.read().decode()
        ended = time.monotonic()
        link.close()
        self.notebook.write(
            source="answer",
            match=self.seat.match,
            side=self.seat.side,
            call=call or "table",
            kind=kind,
            sent=body,
            began=began,
            at=ended,
            status=answer.status,
            text=text,
        )
        return json.loads(text)

    def _stream(self, reader: str, token: str) -> threading.Thread:
        thread = threading.Thread(target=self._listen, args=(reader, token), daemon=True)
        thread.start()
        return thread

    def _listen(self, reader: str, token: str) -> None:
        path = f"/api/v1/matches/{self.seat.match}/events"
        link = socket.create_connection((HOST, self.port), timeout=SIGNAL_SECONDS)
        request = f"GET {path} HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
        link.sendall(request.encode())
        rest = b""
        while piece := link.recv(65536):
            at = time.monotonic()
            *blocks, rest = (rest + piece).split(b"\n\n")
            for block in blocks:
                self.notebook.write(
                    source="stream",
                    match=self.seat.match,
                    side=self.seat.side,
                    reader=reader,
                    at=at,
                    text=block.decode(),
                )
        link.close()
