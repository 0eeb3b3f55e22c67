"""When a deadline counts as passed: not before its grace, and not if nobody could play.

The sweep beats once a run. A gap between two beats is an outage: whoever's time ran while it
lasted gets the whole time again, since the server can't tell who would have played.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from matches.models import Heartbeat, Match, Outage
from wallets.db import in_transaction


def latest_due(now: datetime) -> datetime:
    """Deadlines up to this one have passed, with the grace that messages get to travel."""
    return now - timedelta(seconds=settings.MATCH_GRACE_SECONDS)


def has_passed(match: Match, now: datetime) -> bool:
    """Whether the time of the running stage is up."""
    return match.deadline is not None and match.deadline <= latest_due(now)


def was_down(match: Match, now: datetime) -> bool:
    """Whether nobody could play for a part of the running stage, whose deadline has passed."""
    ended = match.deadline + timedelta(seconds=settings.MATCH_GRACE_SECONDS)
    began = match.deadline - match.stage_time
    if Outage.objects.filter(began_at__lt=ended, ended_at__gt=began).exists():
        return True
    # The first to come after an outage may be a player, before the sweep has noticed anything.
    silent = Q(beat_at__lt=min(ended, now - timedelta(seconds=settings.MATCH_OUTAGE_SECONDS)))
    return Heartbeat.objects.filter(silent).exists()


def sweep_is_late() -> bool:
    """Whether the sweep has been silent for so long that it is an outage."""
    since = timezone.now() - timedelta(seconds=settings.MATCH_OUTAGE_SECONDS)
    return not Heartbeat.objects.filter(beat_at__gt=since).exists()


@in_transaction
def beat() -> None:
    """Say that the sweep runs; write the outage down if it has not for too long."""
    now = timezone.now()
    Heartbeat.objects.get_or_create(pk=Heartbeat.ONLY, defaults={"beat_at": now})
    before = Heartbeat.objects.select_for_update().get(pk=Heartbeat.ONLY)
    if now - before.beat_at > timedelta(seconds=settings.MATCH_OUTAGE_SECONDS):
        Outage.objects.create(began_at=before.beat_at, ended_at=now)
    before.beat_at = max(now, before.beat_at)
    before.save()
