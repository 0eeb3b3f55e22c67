"""Databases side by side on one server, and the same request to each in turns."""

import contextlib
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping

from django.db import connections

from bench.server import Server

# Links on a page name the host that was asked, which has to be one of ours.
HOST = "localhost"
# Django's own name of the connection that the application uses.
DEFAULT = "default"


def new_database(server: Server, name: str) -> None:
    """Create a database that the application's code can run on."""
    server.create_database(name)
    connections.settings[name] = {**connections.settings[DEFAULT], "NAME": name}


@contextlib.contextmanager
def using(database: str) -> Iterator[None]:
    """Let the application's code run on a database."""
    before = connections[DEFAULT]
    connections[DEFAULT] = connections[database]
    try:
        yield
    finally:
        connections[DEFAULT] = before


def in_turns(
    requests: Mapping[str, Callable[[], object]], *, runs: int, warm_up: int
) -> list[float]:
    """Median seconds of each database's request, in their order; those that warm up don't count."""
    seconds: dict[str, list[float]] = {database: [] for database in requests}
    for _ in range(warm_up + runs):
        for database in random.sample(list(requests), len(requests)):
            with using(database):
                started = time.perf_counter()
                requests[database]()
                seconds[database].append(time.perf_counter() - started)
    return [statistics.median(taken[warm_up:]) for taken in seconds.values()]
