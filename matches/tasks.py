"""The sweep: deadlines that nobody was there to notice."""

from uuid import UUID

import structlog
from celery import shared_task
from django.utils import timezone

from matches import battle
from matches.models import Match

log = structlog.get_logger(__name__)


@shared_task
def sweep_matches() -> int:
    """Apply every deadline that has passed; how many there were.

    Each match is a transaction of its own, so one that fails holds up none of the others.
    """
    due = Match.objects.filter(
        status=Match.Status.RUNNING, deadline__lte=timezone.now()
    ).values_list("pk", flat=True)
    return sum(map(_catch_up, due))


def _catch_up(match_id: UUID) -> bool:
    try:
        return battle.catch_up(match_id=match_id)
    except Exception:
        log.exception("sweep failed", match=str(match_id))
        return False
