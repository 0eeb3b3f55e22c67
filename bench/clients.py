"""Clients that post transfers: pgbench's, and Python processes."""

import contextlib
import multiprocessing
import os
import re
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.pool import Pool

from django.db import connection

from bas_site.devstack.postgres import postgres_binaries
from bench import orm_ledger
from bench.tables import ORM
from bench.workloads import WORKLOADS, Place
from wallets import ledger
from wallets.ledger import Draft, Leg
from wallets.models import Transfer

WITHOUT_TRIGGERS = "-c session_replication_role=replica"
# Transfers that each Python client posts before the clock starts: its connection is open then, and
# what Django and Postgres make only once is made.
WARM_UP = 5
# For the pool to hand every client its order, and the clients to get warm.
HEAD_START_SECONDS = 1.0


def pgbench(script: str, *, url: str, clients: int, seconds: int, options: str = "") -> float:
    """Run a script by pgbench and return its transfers a second."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        done = subprocess.run(
            [
                *(str(postgres_binaries() / "pgbench"), "-n", "-M", "prepared", "-D", "turn=0"),
                *("-c", str(clients), "-j", str(min(clients, os.cpu_count() or 1))),
                *("-T", str(seconds), "-f", file.name, url),
            ],
            env={**os.environ, "PGOPTIONS": options},
            capture_output=True,
            text=True,
            check=False,
        )
    found = re.search(r"^tps = ([\d.]+)", done.stdout, re.MULTILINE)
    if done.returncode != 0 or found is None:
        raise RuntimeError(f"pgbench failed:\n{done.stdout}\n{done.stderr}")
    return float(found[1])


@dataclass(frozen=True, slots=True)
class Order:
    """What one Python client has to do."""

    workload: str
    place: Place
    client: int
    start_at: float
    seconds: float


@contextlib.contextmanager
def python_clients(most: int) -> Iterator[Pool]:
    """Processes that are ready to be clients; an idle one takes each order: none gets two."""
    # Forked: each has Django set up already. No connection is open at this moment.
    with multiprocessing.get_context("fork").Pool(most, _leave_interrupts_to_parent) as pool:
        yield pool


def _leave_interrupts_to_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def run_python_clients(
    pool: Pool, workload: str, place: Place, *, clients: int, seconds: float
) -> float:
    """Let Python clients post at the same time; return their transfers a second, all together."""
    start_at = time.time() + HEAD_START_SECONDS
    orders = [Order(workload, place, n, start_at, seconds) for n in range(clients)]
    return sum(pool.map(_obey, orders, chunksize=1))


def _obey(order: Order) -> float:
    """Post transfers until the time is up; return how many a second."""
    (workload,) = (workload for workload in WORKLOADS if workload.name == order.workload)
    kind = Transfer.Kind(workload.kind)
    with connection.cursor() as cursor:
        cursor.execute(f"SET search_path TO {order.place.schema}")
    turn = 0

    def post() -> None:
        nonlocal turn
        chosen = workload.choose(order.place, order.client, turn)
        legs = [Leg(chosen[move.account], move.amount) for move in workload.moves]
        key = f"bench:{uuid.uuid4()}"
        if order.place.schema == ORM:
            orm_ledger.post(key=key, kind=kind, legs=legs)
        else:
            ledger.post(Draft(key=key, kind=kind, legs=legs))
        turn += 1

    for _ in range(WARM_UP):
        post()
    time.sleep(max(0, order.start_at - time.time()))
    started = time.monotonic()
    while (spent := time.monotonic() - started) < order.seconds:
        post()
    return (turn - WARM_UP) / spent
