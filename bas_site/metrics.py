"""`/metrics` for Prometheus.

Errors and events told are counted by the process that answers. All else is read from the database:
every web server says the same of it.
"""

import os

from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from bas_site.problems import ANSWERED
from contracts.metrics import ChainCollector, WithdrawalCollector
from matches.metrics import EVENT_SECONDS, MatchCollector
from wallets.metrics import LedgerCollector

REGISTRY = CollectorRegistry()
for _collector in (LedgerCollector(), ChainCollector(), WithdrawalCollector(), MatchCollector()):
    REGISTRY.register(_collector)
# The processes of one server count in files that they share, if it is told where.
if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
    MultiProcessCollector(REGISTRY)
else:
    REGISTRY.register(ANSWERED)
    REGISTRY.register(EVENT_SECONDS)


def metrics(_request: HttpRequest) -> HttpResponse:
    """Everything that there is to alert on."""
    return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)
