"""Lines about matches: each names the match that it is about."""

from collections.abc import Callable
from functools import partial, wraps
from typing import ParamSpec, TypeVar

import structlog
from django.db import transaction

from matches.models import Match
from wallets.db import in_transaction

P = ParamSpec("P")
R = TypeVar("R")
log = structlog.get_logger(__name__)


def about(match: Match, event: str, **facts: str) -> None:
    """Log what became of a match once it is committed: a deadline may be applied, and undone."""
    transaction.on_commit(partial(log.info, event, match=str(match.pk), **facts), robust=True)


def about_end(match: Match) -> None:
    """Log how a match has ended, once it is committed."""
    how = {"status": match.status, "ended_by": match.ended_by, "winner": match.winner}
    about(match, "match ended", **how)


def in_match(service: Callable[P, R]) -> Callable[P, R]:
    """Run a service `in_transaction`, and name its match in all that is logged meanwhile."""
    run_in_transaction = in_transaction(service)

    @wraps(service)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with structlog.contextvars.bound_contextvars(match=str(kwargs["match_id"])):
            return run_in_transaction(*args, **kwargs)

    return run
