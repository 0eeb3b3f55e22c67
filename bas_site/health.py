"""Whether the process lives, and whether it can serve."""

from collections.abc import Callable

import structlog
from django.core.cache import cache
from django.db import connection
from django.http import HttpRequest, JsonResponse

log = structlog.get_logger(__name__)


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _broker() -> None:
    cache.get("readyz")


CHECKS: dict[str, Callable[[], None]] = {"database": _database, "broker": _broker}


def healthz(_request: HttpRequest) -> JsonResponse:
    """The process lives; nothing else is looked at, so that a sick database restarts no server."""
    return JsonResponse({"status": "ok"})


def readyz(_request: HttpRequest) -> JsonResponse:
    """Whether each thing that a request needs answers; 503 if one does not."""
    results = {name: _passes(name, check) for name, check in CHECKS.items()}
    return JsonResponse(
        {name: "ok" if passed else "failed" for name, passed in results.items()},
        status=200 if all(results.values()) else 503,
    )


def _passes(name: str, check: Callable[[], None]) -> bool:
    try:
        check()
    except Exception:
        log.exception("not ready", check=name)
        return False
    return True
