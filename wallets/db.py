"""The database transaction as the unit of work, with a bounded number of retries."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

import structlog
from django.db import DatabaseError, OperationalError, connection, transaction

from wallets.errors import IdempotencyConflict, InsufficientCredits, LedgerRefusal, Problem

P = ParamSpec("P")
R = TypeVar("R")

# serialization_failure and deadlock_detected: Postgres gave up on a transaction that may well
# succeed when it is run again. Any other error means what it says.
RETRIED_SQLSTATES = frozenset({"40001", "40P01"})
ATTEMPTS = 5
# What the ledger's own SQLSTATEs mean (wallets/sql/ledger.sql).
REFUSALS: dict[str, type[Problem]] = {
    "BA001": InsufficientCredits,
    "BA002": IdempotencyConflict,
    "BA003": LedgerRefusal,
    "BA004": LedgerRefusal,
    "BA005": LedgerRefusal,
}
log = structlog.get_logger(__name__)


def sqlstate(error: BaseException) -> str | None:
    """The SQLSTATE of a database error that Django has wrapped."""
    return getattr(error.__cause__, "sqlstate", None)


@contextmanager
def refusals_explained() -> Iterator[None]:
    """Raise the ledger's refusals as problems; they come from a call or, at the latest, at commit.

    Their messages name accounts, and go to the log alone: a player is told the problem's title.
    """
    try:
        yield
    except DatabaseError as error:
        kind = REFUSALS.get(sqlstate(error) or "")
        if kind is None:
            raise
        log.info("refused by the ledger", code=kind.code, reason=str(error).partition("\n")[0])
        raise kind from error


@contextmanager
def unhurried() -> Iterator[None]:
    """Let statements take longer than any request may."""
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        try:
            yield
        finally:
            cursor.execute("RESET statement_timeout")


def lock_until_commit(name: str) -> None:
    """Wait until no other transaction holds the lock of this name, and hold it to the end."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


def retried(function: Callable[P, R]) -> Callable[P, R]:
    """Run the function again from its start where Postgres gave up on it, at most 5 times in all.

    Inside an open transaction the error goes up to whoever opened it, since only the whole can be
    repeated. What is not one statement wants to be `in_transaction`.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if connection.in_atomic_block:
            return function(*args, **kwargs)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with refusals_explained():
                    return function(*args, **kwargs)
            except OperationalError as error:
                if sqlstate(error) not in RETRIED_SQLSTATES or attempt == ATTEMPTS:
                    raise
                log.info("transaction repeated", attempt=attempt, sqlstate=sqlstate(error))
                # Those that collided must not collide again at the same instant.
                time.sleep(random.uniform(0, 0.01 * 2**attempt))  # noqa: S311 - no secret
        raise AssertionError("unreachable")

    return run


def in_transaction(function: Callable[P, R]) -> Callable[P, R]:
    """Run the function in one transaction: the one that is open, or a new one that is `retried`."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if connection.in_atomic_block:
            return function(*args, **kwargs)
        with transaction.atomic():
            return function(*args, **kwargs)

    return retried(run)
