"""What Prometheus is told of the matches; read from the database."""

from collections.abc import Iterator

from django.db.models import Min, Sum
from django.utils import timezone
from prometheus_client import Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from matches.models import Heartbeat, Match, Seat

EVENT_SECONDS = Histogram(
    "bas_event_delivery_seconds",
    "Time from an event to its being told to a stream that had told all before it",
    registry=None,
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)


class MatchCollector(Collector):
    """How many are live, and whether anybody looks after their deadlines."""

    def collect(self) -> Iterator[Metric]:
        """What waits for a sweep, and when the last one was."""
        matches = GaugeMetricFamily("bas_matches", "Matches that are live", labels=["status"])
        for status in Match.LIVE:
            matches.add_metric([status], Match.objects.filter(status=status).count())
        yield matches
        staked = Seat.objects.filter(staked__gt=0).aggregate(credits=Sum("staked"))["credits"]
        yield GaugeMetricFamily("bas_credits_staked", "Credits at stake", staked or 0)
        running = Match.objects.filter(status=Match.Status.RUNNING)
        oldest = running.aggregate(oldest=Min("deadline"))["oldest"]
        overdue = (timezone.now() - oldest).total_seconds() if oldest else 0
        yield GaugeMetricFamily(
            "bas_match_overdue_seconds",
            "For how long a deadline has passed that nobody applied",
            max(0, overdue),
        )
        heartbeat = Heartbeat.objects.first()
        yield GaugeMetricFamily(
            "bas_match_sweep_timestamp_seconds",
            "When deadlines were last looked after; 0 if never",
            heartbeat.beat_at.timestamp() if heartbeat else 0,
        )
