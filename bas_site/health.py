"""Whether the process lives, and whether it can serve."""

from collections.abc import Callable

import structlog
from django.core.cache import cache
from django.db import connection
from django.http import HttpRequest, JsonResponse

from bas_site.celery import app
from contracts.selectors import a_chain_is_late
from matches.clock import sweep_is_late

log = structlog.get_logger(__name__)
# A probe waits a second or so; an answer after that is none.
SECONDS = 2
NO_STORE = {"Cache-Control": "no-store"}


def _database() -> None:
    if connection.pool:
        # A request would wait for one of its connections for longer than a probe waits for us.
        connection.pool.open()
        with connection.pool.connection(timeout=SECONDS):
            pass
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _cache() -> None:
    cache.get("readyz")


def _broker() -> None:
    with app.connection_for_write(connect_timeout=SECONDS) as broker:
        broker.ensure_connection(max_retries=1, interval_start=0, timeout=SECONDS)


# Without these no request can be served.
CHECKS: dict[str, Callable[[], None]] = {
    "database": _database,
    "cache": _cache,
    "broker": _broker,
}
# When these are late, this server still serves what it can: no other one would do better.
LATE: dict[str, Callable[[], bool]] = {
    "worker": sweep_is_late,
    "chain": a_chain_is_late,
}


def healthz(_request: HttpRequest) -> JsonResponse:
    """The process lives; nothing else is looked at, so that a sick database restarts no server."""
    return JsonResponse({"status": "ok"}, headers=NO_STORE)


def readyz(_request: HttpRequest) -> JsonResponse:
    """Whether each thing that a request needs answers, 503 if one does not; and what is late."""
    results = {name: _passes(name, check) for name, check in CHECKS.items()}
    states = {name: "ok" if passed else "failed" for name, passed in results.items()}
    if results["database"]:
        states |= {name: "late" if late() else "ok" for name, late in LATE.items()}
    return JsonResponse(states, status=200 if all(results.values()) else 503, headers=NO_STORE)


def database_answers() -> bool:
    """Whether it does, soon; why not is logged."""
    return _passes("database", _database)


def _passes(name: str, check: Callable[[], None]) -> bool:
    try:
        check()
    except Exception as error:
        # Without its trace: a probe asks every few seconds, for as long as the outage lasts.
        log.error("not ready", check=name, error=type(error).__name__, reason=str(error))
        return False
    return True
