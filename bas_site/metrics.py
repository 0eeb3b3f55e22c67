"""`/metrics` for Prometheus.

Errors and events told are counted by the process that answers. All else is read from the database:
every web server says the same of it.
"""

import os
from collections.abc import Iterator

import structlog
from django.db import Error
from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from bas_site.health import database_answers
from bas_site.problems import ANSWERED
from contracts.metrics import ChainCollector, WithdrawalCollector
from matches.metrics import EVENT_SECONDS, MatchCollector
from wallets.metrics import LedgerCollector

log = structlog.get_logger(__name__)


class DatabaseCollector(Collector):
    """What can be read from the database, and whether all of it could."""

    COLLECTORS = (LedgerCollector(), ChainCollector(), WithdrawalCollector(), MatchCollector())

    def collect(self) -> Iterator[Metric]:
        """Without the database one figure is left, so that the processes' own are told with it."""
        up = database_answers()
        for collector in self.COLLECTORS if up else ():
            try:
                yield from collector.collect()
            except Error as error:
                log.error("not told", of=type(collector).__name__, exc_info=error)
                up = False
        yield GaugeMetricFamily("bas_database_up", "1 if it told all that is asked of it", up)


REGISTRY = CollectorRegistry()
REGISTRY.register(DatabaseCollector())
# The processes of one server count in files that they share, if it is told where.
if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
    MultiProcessCollector(REGISTRY)
else:
    REGISTRY.register(ANSWERED)
    REGISTRY.register(EVENT_SECONDS)


def metrics(_request: HttpRequest) -> HttpResponse:
    """Everything that there is to alert on."""
    return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)
