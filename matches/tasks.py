"""The sweep: deadlines that nobody was there to notice, and matches that nobody has joined.

And the ratings, which follow the matches that have ended.
"""

from collections.abc import Callable
from uuid import UUID

import structlog
from celery import shared_task
from django.utils import timezone

from matches import battle, clock, leaderboard, lobby
from matches.models import Match

log = structlog.get_logger(__name__)


@shared_task
def sweep_matches() -> int:
    """Apply every deadline that has passed, close what has expired; how many there were.

    Each match is a transaction of its own, so one that fails holds up none of the others.
    """
    clock.beat()
    now = timezone.now()
    running = Match.objects.filter(status=Match.Status.RUNNING)
    waiting = Match.objects.filter(status=Match.Status.OPEN)
    due = running.filter(deadline__lte=clock.latest_due(now)).values_list("pk", flat=True)
    expired = waiting.filter(created_at__lte=lobby.oldest_open(now)).values_list("pk", flat=True)
    caught_up = [_try(battle.catch_up, match_id) for match_id in due]
    closed = [_try(lobby.expire_match, match_id) for match_id in expired]
    return sum(caught_up) + sum(closed)


@shared_task
def rate_matches() -> int:
    """Rate the matches that have ended and count; how many there were."""
    return sum([_try(leaderboard.rate, match_id) for match_id in leaderboard.waiting()])


def _try(action: Callable[..., bool], match_id: UUID) -> bool:
    try:
        return action(match_id=match_id)
    except Exception:
        log.exception("match failed", match=str(match_id))
        return False
