"""What Prometheus is told of the ledger: the house's credits, and the last audit."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from wallets.models import Account, AuditRun
from wallets.selectors import standing_audit, system_credits


class LedgerCollector(Collector):
    """Credits, and whether the last audit was green."""

    def collect(self) -> Iterator[Metric]:
        """Nothing of what an audit found before there was one."""
        yield GaugeMetricFamily(
            "bas_credits_fees", "Credits of the house", system_credits(Account.Kind.FEES)
        )
        run = AuditRun.objects.order_by("started_at").last()
        if run:
            yield GaugeMetricFamily(
                "bas_audit_broken_checks",
                "Checks that failed in the last audit, or in the last of the whole history",
                standing_audit().broken,
            )
            yield GaugeMetricFamily(
                "bas_audit_unseen_checks",
                "Checks that the last audit could not make, since no node answered",
                run.unseen,
            )
        yield GaugeMetricFamily(
            "bas_audit_finished_timestamp_seconds",
            "When the last audit ended; 0 if none has",
            run.finished_at.timestamp() if run else 0,
        )
