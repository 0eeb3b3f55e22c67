"""`/metrics` for Prometheus, read from the database: every web server says the same."""

from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from contracts.metrics import ChainCollector
from wallets.models import AuditRun


class AuditCollector(Collector):
    """The last audit."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Its result and its time; nothing before the first one."""
        run = AuditRun.objects.order_by("started_at").last()
        if run is None:
            return
        yield GaugeMetricFamily(
            "bas_audit_broken_checks", "Checks that failed in the last audit", run.broken
        )
        yield GaugeMetricFamily(
            "bas_audit_finished_timestamp_seconds",
            "When the last audit ended",
            run.finished_at.timestamp(),
        )


REGISTRY = CollectorRegistry()
REGISTRY.register(AuditCollector())
REGISTRY.register(ChainCollector())


def metrics(_request: HttpRequest) -> HttpResponse:
    """Everything that there is to alert on."""
    return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)
