"""Many clients at once on a server of the tests' own, with the killing of both."""

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from bas_site.devstack.postgres import Postgres
from bas_site.devstack.service import PROJECT
from bas_site.devstack.services import remove_root, throwaway_root
from tests.wallets.race_client import Planned, arguments, plan

CLIENTS = 16
ACCOUNTS = 50
TRANSFERS = 10_000
CLIENT_KILLS = 10
SERVER_KILLS = 3
# So much in each account that the plan can't run out of credits.
FUNDS = 100_000
PATIENCE_SECONDS = 180
CLIENT = Path(__file__).with_name("race_client.py")

AUDIT = """
import json
from wallets.audit import BEGINNING, CHECKS
print(json.dumps([f"{check.truth}: {row}" for check in CHECKS for row in check.find(BEGINNING)]))
"""
# What a worker's periodic task does, more often than any worker would.
ROLL_UPS = """
import time
from django.db import OperationalError, connection
from wallets.ledger_upkeep import NotSettled, roll_up
print("ready", flush=True)
while True:
    try:
        roll_up()
        print("rolled up", flush=True)
    except NotSettled:
        pass
    except OperationalError as error:
        # Nothing but the loss of the server is let pass.
        if getattr(error.__cause__, "sqlstate", None) not in (None, "57P01", "57P02", "57P03"):
            raise
        connection.close()
    time.sleep(0.3)
"""


class Arena:
    """A server, a database in it with accounts in a ring, and a folder for the clients' logs."""

    def __init__(self, postgres: Postgres, database: str, folder: Path) -> None:
        self.postgres = postgres
        self.database = database
        self.folder = folder
        self.accounts: list[int] = []

    def url(self, role: str) -> str:
        return self.postgres.url(role, self.database)

    def query(self, sql: str, parameters: list | None = None) -> list[tuple]:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            cursor = connection.execute(sql, parameters)
            return cursor.fetchall() if cursor.description else []

    def open_accounts(self) -> None:
        """The house's account, and the others with credits of the vault's."""
        (vault,), (house,), *ring = self.query(
            "INSERT INTO wallets_account (asset_id, kind, key, balance, version, created_at) "
            "SELECT 'credits', CASE n WHEN 0 THEN 'vault' WHEN 1 THEN 'house' ELSE 'escrow' END, "
            "'race:' || n, 0, 0, now() FROM generate_series(0, %s) n ORDER BY n RETURNING id",
            [ACCOUNTS + 1],
        )
        self.accounts = [house, *(account for (account,) in ring)]
        funds = [
            Planned(f"funds:{account}", ((vault, -FUNDS), (account, FUNDS)))
            for account in self.accounts[1:]
        ]
        self.query(
            "SELECT FROM ledger_post(%s::text[], %s::text[], %s::text[], %s::bigint[], "
            "%s::int[], %s::bigint[], %s::numeric[])",
            arguments(funds),
        )

    def shell(self, code: str) -> subprocess.Popen[str]:
        """Run code in the project's own shell, as the application's role."""
        return subprocess.Popen(
            [sys.executable, "manage.py", "shell", "--no-imports", "-c", code],
            cwd=PROJECT,
            env=os.environ | {"DATABASE_URL": self.url("bas_app")},
            stdout=subprocess.PIPE,
            text=True,
        )

    def crash(self) -> None:
        """Kill the server and all its children at once, and start it again."""
        postmaster = psutil.Process(self.postgres.process.pid)
        for process in (postmaster, *postmaster.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        assert self.postgres.process.wait(30)
        self.postgres.start()


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    """A server that may be killed, with the project's tables in it."""
    parent = Path(os.environ.get("DEVSTACK_ROOT") or throwaway_root("test"))
    root = parent / f"race-{os.getpid()}-{time.monotonic_ns()}"
    with Postgres(root, say=lambda _: None) as server:
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
            cwd=PROJECT,
            env=os.environ | {"DATABASE_URL": server.url("bas_owner")},
            check=True,
        )
        yield server
    remove_root(root)


@pytest.fixture
def arena(postgres: Postgres, tmp_path: Path) -> Arena:
    database = f"race_{time.monotonic_ns()}"
    with postgres.connect() as connection:
        connection.execute(f"CREATE DATABASE {database} TEMPLATE bas OWNER bas_owner")
    arena = Arena(postgres, database, tmp_path)
    arena.open_accounts()
    return arena


class Race:
    """The clients, each with a log that outlives it."""

    def __init__(self, arena: Arena, *, seed: int, transfers: int) -> None:
        self.arena = arena
        self.seed = seed
        self.share = transfers // CLIENTS
        assert self.share * CLIENTS == transfers
        self.clients: dict[int, subprocess.Popen[bytes]] = {}
        self.starts: Counter[int] = Counter()
        self.acked = 0
        self._read: Counter[int] = Counter()

    @contextmanager
    def running(self) -> Iterator[None]:
        for client in range(CLIENTS):
            self.start(client)
        try:
            yield
        finally:
            for process in self.clients.values():
                process.kill()
                process.wait()

    def log(self, client: int) -> Path:
        return self.arena.folder / f"client-{client}.log"

    def start(self, client: int) -> None:
        self.starts[client] += 1
        self.clients[client] = subprocess.Popen(
            [
                *(sys.executable, CLIENT, self.log(client)),
                *map(str, (self.seed, client, self.share, *self.arena.accounts)),
            ],
            env=os.environ | {"DATABASE_URL": self.arena.url("bas_app")},
        )

    def still_running(self) -> list[int]:
        return [client for client, process in self.clients.items() if process.poll() is None]

    def progress(self) -> int:
        """How many transfers have been acknowledged so far."""
        for client in self.clients:
            with suppress(FileNotFoundError), self.log(client).open("rb") as file:
                file.seek(self._read[client])
                whole = file.read().rpartition(b"\n")[0]
                self._read[client] += len(whole)
                self.acked += sum(
                    len(line.split()) - 1
                    for line in whole.splitlines()
                    if line.startswith(b"acked ")
                )
        return self.acked

    def lines(self, word: str) -> Iterator[str]:
        for log in self.arena.folder.glob("client-*.log"):
            for line in log.read_text().splitlines():
                first, _, rest = line.partition(" ")
                if first == word:
                    yield rest

    def keys(self, word: str) -> list[str]:
        return [key for line in self.lines(word) for key in line.split()]

    def errors(self) -> list[list]:
        return [json.loads(line) for line in self.lines("error")]

    def planned(self) -> dict[str, Planned]:
        return {
            transfer.key: transfer
            for client in range(CLIENTS)
            for call in plan(self.seed, client, self.share, self.arena.accounts)
            for transfer in call
        }


def stored(arena: Arena) -> dict[str, Planned]:
    """The transfers of the race that are in the ledger; each can be there once only."""
    rows = arena.query(
        "SELECT t.key, array_agg(p.account_id ORDER BY p.id), array_agg(p.amount ORDER BY p.id) "
        "FROM wallets_transfer t JOIN wallets_posting p ON p.transfer_id = t.id "
        "WHERE t.key LIKE 'race:%%' GROUP BY t.id",
        [],
    )
    keys = [key for key, _, _ in rows]
    assert len(keys) == len(set(keys))
    return {
        key: Planned(key, tuple(zip(accounts, map(int, amounts), strict=True)))
        for key, accounts, amounts in rows
    }


def test_ten_thousand_transfers_survive_the_killing_of_clients_and_of_the_server(arena: Arena):
    seed = random.randrange(2**32)
    dice = random.Random(seed)
    race = Race(arena, seed=seed, transfers=TRANSFERS)
    # At which progress who is killed: anywhere but so late that nobody might be left.
    kills = dict.fromkeys(dice.sample(range(TRANSFERS * 9 // 10), CLIENT_KILLS), "client")
    kills |= dict.fromkeys(dice.sample(range(TRANSFERS * 9 // 10), SERVER_KILLS), "server")
    due = sorted(kills.items())
    killed: Counter[str] = Counter()
    roller = arena.shell(ROLL_UPS)
    began = time.monotonic()
    try:
        assert roller.stdout is not None
        assert roller.stdout.readline() == "ready\n"
        with race.running():
            while running := race.still_running():
                assert time.monotonic() < began + PATIENCE_SECONDS, "the race takes too long"
                if due and race.progress() >= due[0][0]:
                    _, victim = due.pop(0)
                    killed[victim] += 1
                    if victim == "server":
                        arena.crash()
                    else:
                        client = dice.choice(running)
                        race.clients[client].kill()
                        race.clients[client].wait()
                        race.start(client)
                time.sleep(0.005)
            ends = {client: process.returncode for client, process in race.clients.items()}
        seconds = time.monotonic() - began
        assert roller.poll() is None, "rolling up failed"
    finally:
        roller.kill()
    roll_ups = roller.communicate()[0].count("rolled up")
    planned, there = race.planned(), stored(arena)
    print(
        f"\n{len(there)} transfers by {CLIENTS} clients in {seconds:.1f} s; killed: "
        f"{killed['client']} clients, {killed['server']} servers; {roll_ups} roll-ups; seed {seed}"
    )
    assert race.errors() == []
    assert set(ends.values()) == {0}
    assert killed == {"client": CLIENT_KILLS, "server": SERVER_KILLS}
    assert roll_ups
    ((rolled_up,),) = arena.query(
        "SELECT min(rolled_up_to) FROM wallets_account WHERE kind = 'house'"
    )
    assert rolled_up > 0
    sent, acked = race.keys("sent"), race.keys("acked")
    assert set(acked) <= set(there) <= set(sent)
    assert there == planned
    assert len(planned) == TRANSFERS
    assert_balances_follow(arena, planned)
    audit = arena.shell(AUDIT)
    assert json.loads(audit.communicate()[0]) == []


def assert_balances_follow(arena: Arena, planned: dict[str, Planned]) -> None:
    expected = Counter(dict.fromkeys(arena.accounts, 0))
    postings: Counter[int] = Counter()
    for account in arena.accounts[1:]:
        expected[account] += FUNDS
        postings[account] += 1
    for transfer in planned.values():
        for account, amount in transfer.legs:
            expected[account] += amount
            postings[account] += 1
    rows = arena.query("SELECT id, kind, ledger_balance(id), version FROM wallets_account")
    balances = {account: int(balance) for account, _, balance, _ in rows}
    assert {account: balances[account] for account in arena.accounts} == dict(expected)
    assert sum(balances.values()) == 0
    versions = {account: version for account, kind, _, version in rows if kind == "escrow"}
    assert versions == {account: postings[account] for account in arena.accounts[1:]}


def test_the_same_race_without_the_ordered_locks_runs_into_deadlocks(arena: Arena):
    ((sql,),) = arena.query(
        "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = 'ledger_post'"
    )
    lock = sql[sql.index("PERFORM FROM wallets_account") : sql.index("written := ")]
    assert "ORDER BY a.id FOR NO KEY UPDATE" in lock
    # Each leg then locks its account when it comes to it.
    arena.query(sql.replace(lock, ""))
    race = Race(arena, seed=1, transfers=TRANSFERS)
    with race.running():
        began = time.monotonic()
        while race.still_running() and not list(race.lines("error")):
            assert time.monotonic() < began + PATIENCE_SECONDS
            time.sleep(0.05)
        deadlocks = [sqlstate for sqlstate, *_ in race.errors()].count("40P01")
    print(f"\n{deadlocks} deadlocks in {time.monotonic() - began:.1f} s")
    assert deadlocks
