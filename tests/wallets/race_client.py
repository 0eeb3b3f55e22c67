"""One client of the race: a process that posts its part of the plan and writes down what it knows.

    python race_client.py LOG SEED CLIENT TRANSFERS ACCOUNT...

Its log has a line `sent KEY...` from before each call and a line `acked KEY...` from after its
commit, so that whoever kills it can tell what must be in the ledger, and what may be. Started again
it sends first what was never acknowledged. It uses no code of the project's, and repeats nothing
that Postgres refuses without saying so: what an application's retries would hide must show here.
"""

import json
import os
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psycopg

POST = """
    SELECT transfer_id, replayed FROM ledger_post(
        %s::text[], %s::text[], %s::text[], %s::bigint[], %s::int[], %s::bigint[], %s::numeric[])
"""
# The application's own limits (bas_site/settings.py): to run into one is an error here.
OPTIONS = "-c statement_timeout=30s -c lock_timeout=10s"
# The server went away: in the middle of something, or before anything began.
LOST = {None, "57P01", "57P02", "57P03"}
RECONNECT_SECONDS = 60
BULK = 8


@dataclass(frozen=True)
class Planned:
    """A transfer of the plan."""

    key: str
    legs: tuple[tuple[int, int], ...]


def plan(seed: int, client: int, transfers: int, accounts: list[int]) -> list[list[Planned]]:
    """The calls that one client makes, the same each time.

    The first account is the house's. The others stand in a ring, and credits go round in it, some
    to the left and some to the right, so that calls meet head on; the legs are in no order at all.
    """
    dice = random.Random(f"{seed}:{client}")
    house, *ring = accounts
    position = dice.randrange(len(ring))
    planned = []
    for number in range(transfers):
        step = dice.choice([1, 1, -1, -1, dice.randrange(1, len(ring))])
        giver, taker = ring[position], ring[(position + step) % len(ring)]
        position = (position + step) % len(ring)
        amount, fee = dice.randint(2, 9), dice.choice([-1, 1])
        legs = [(giver, -amount), (taker, amount - fee), (house, fee)]
        dice.shuffle(legs)
        planned.append(Planned(f"race:{client}:{number}", tuple(legs)))
    calls = []
    while planned:
        size = dice.randint(2, BULK) if dice.random() < 0.2 else 1
        calls.append(planned[:size])
        del planned[:size]
    return calls


def arguments(call: list[Planned]) -> list[list]:
    legs = [(place, *leg) for place, transfer in enumerate(call, 1) for leg in transfer.legs]
    return [
        [transfer.key for transfer in call],
        ["payout" for _ in call],
        ["" for _ in call],
        [None for _ in call],
        *([leg[part] for leg in legs] for part in range(3)),
    ]


class Log:
    """Lines that are in the file, whole, before the next thing happens."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            os.write(self._file, b"\n")

    def write(self, word: str, *rest: str) -> None:
        os.write(self._file, " ".join((word, *rest)).encode() + b"\n")

    def keys(self, word: str) -> set[str]:
        lines = (line.split() for line in self.path.read_text().splitlines())
        return {key for first, *keys in lines if first == word for key in keys}


class Server:
    """A connection that comes back."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.connection = self._connect()

    def _connect(self) -> psycopg.Connection:
        deadline = time.monotonic() + RECONNECT_SECONDS
        while True:
            try:
                return psycopg.connect(self.url, options=OPTIONS, connect_timeout=5)
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def post(self, call: list[Planned]) -> None:
        with self.connection.transaction():
            self.connection.execute(POST, arguments(call)).fetchall()

    def again(self) -> Self:
        self.connection.close()
        self.connection = self._connect()
        return self


def run(log: Log, server: Server, calls: list[list[Planned]]) -> None:
    sent, acked = log.keys("sent"), log.keys("acked")
    calls = [call for call in calls if call[0].key not in acked]
    calls.sort(key=lambda call: call[0].key not in sent)
    for call in calls:
        keys = [transfer.key for transfer in call]
        log.write("sent", *keys)
        while True:
            try:
                server.post(call)
                break
            except psycopg.Error as error:
                if server.connection.broken and error.sqlstate in LOST:
                    server.again()
                    continue
                log.write("error", json.dumps([error.sqlstate, str(error), keys]))
                if error.sqlstate not in ("40001", "40P01"):
                    raise
        log.write("acked", *keys)


def main(path: str, seed: str, client: str, transfers: str, *accounts: str) -> None:
    calls = plan(int(seed), int(client), int(transfers), [int(account) for account in accounts])
    run(Log(Path(path)), Server(os.environ["DATABASE_URL"]), calls)


if __name__ == "__main__":
    main(*sys.argv[1:])
