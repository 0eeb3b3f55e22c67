"""What Prometheus is told of the chains; read from the database, so every process says the same."""

from collections.abc import Iterator

from django.db.models import Count, F, Min
from django.utils import timezone
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from contracts.models import Chain, Deposit, Node, Redemption, Withdrawal
from contracts.node import rpc_urls
from contracts.selectors import (
    chains_as_read,
    credits_held,
    credits_owed,
    withdrawals_for_operators,
    withdrawals_for_the_signer,
)

GAUGES = {
    "lag_blocks": "Blocks of the chain that are not read yet",
    "lag_seconds": "Time between the last block read and the newest one",
    "head_block": "The newest block seen",
    "head_timestamp_seconds": "The newest block's time",
    "scanned_timestamp_seconds": "When the last scan ended; 0 if none has",
    "pending_deposits": "Deposits that do not count yet",
    "oldest_pending_deposit_seconds": "For how long the oldest of them has been waiting",
    "deepest_reorg_blocks": "The deepest reorganisation seen",
    "confirmations": "Blocks that make a deposit count, where no tag of the node's does",
    "paused": "1 if an operator paused the chain",
    "in_trouble": "1 if the last scan stopped",
}


class ChainCollector(Collector):
    """How the watcher fares, for each chain, and how each of its nodes has failed."""

    def collect(self) -> Iterator[Metric]:
        """One value a chain, named by its id."""
        gauges = {
            name: GaugeMetricFamily(f"bas_chain_{name}", text, labels=["chain"])
            for name, text in GAUGES.items()
        }
        reorgs = CounterMetricFamily("bas_chain_reorgs", "Reorganisations seen", labels=["chain"])
        for chain in chains_as_read():
            for name, value in _values(chain).items():
                gauges[name].add_metric([str(chain.pk)], value)
            reorgs.add_metric([str(chain.pk)], chain.reorgs)
        yield from gauges.values()
        yield reorgs
        rows = Node.objects.order_by("chain_id", "place").select_related("chain")
        # One that was taken out of the settings is asked no more.
        nodes = [node for node in rows if node.place <= len(rpc_urls(node.chain_id))]
        failures = CounterMetricFamily(
            "bas_chain_node_failures",
            "Failures of a node, known by its place among the chain's RPC URLs",
            labels=["chain", "node", "cause"],
        )
        for node in nodes:
            for cause, times in sorted(node.failures.items()):
                failures.add_metric([str(node.chain_id), str(node.place), cause], times)
        yield failures
        in_a_row = GaugeMetricFamily(
            "bas_chain_node_failures_in_a_row",
            "Failures of a node since it last answered",
            labels=["chain", "node"],
        )
        for node in nodes:
            if not node.chain.paused:
                in_a_row.add_metric([str(node.chain_id), str(node.place)], node.failures_in_a_row)
        yield in_a_row


class WithdrawalCollector(Collector):
    """What waits to be paid out, what is owed, and what the vaults have to pay it with."""

    def collect(self) -> Iterator[Metric]:
        """One value for each thing that is waited for: an operator, the signer, the chain."""
        waiting = GaugeMetricFamily(
            "bas_withdrawals_waiting", "Withdrawals that wait", labels=["status"]
        )
        oldest = GaugeMetricFamily(
            "bas_withdrawal_oldest_waiting_seconds",
            "For how long the oldest of them has been waiting",
            labels=["status"],
        )
        now, status = timezone.now(), Withdrawal.Status
        redeemed = Redemption.objects.filter(status=Redemption.Status.PENDING, trouble="")
        for name, rows in {
            status.REQUESTED: withdrawals_for_operators(),
            status.APPROVED: withdrawals_for_the_signer(),
            status.REDEEMED: redeemed.annotate(since=F("seen_at")),
        }.items():
            found = rows.aggregate(count=Count("pk"), oldest=Min("since"))
            waiting.add_metric([name], found["count"])
            since = found["oldest"]
            oldest.add_metric([name], (now - since).total_seconds() if since else 0)
        yield waiting
        yield oldest
        yield GaugeMetricFamily(
            "bas_credits_owed", "Credits that the vaults have to hold", credits_owed()
        )
        yield GaugeMetricFamily("bas_credits_held", "What they hold, in credits", credits_held())


def _values(chain: Chain) -> dict[str, float]:
    now = timezone.now()
    pending = Deposit.objects.filter(vault__chain=chain, status=Deposit.Status.PENDING).aggregate(
        count=Count("pk"), oldest=Min("seen_at")
    )
    values: dict[str, float] = {
        "lag_blocks": max(0, chain.head_block - chain.scanned_block),
        "head_block": chain.head_block,
        "pending_deposits": pending["count"],
        "deepest_reorg_blocks": chain.deepest_reorg,
        "paused": int(chain.paused),
    }
    if chain.confirmations_asked is not None:
        values["confirmations"] = chain.confirmations_asked
    if chain.paused:
        # Nobody looks at it: the rest would be told of the day when it was paused.
        return values
    values |= {
        "oldest_pending_deposit_seconds": (
            (now - pending["oldest"]).total_seconds() if pending["oldest"] else 0
        ),
        "in_trouble": int(bool(chain.trouble)),
        "scanned_timestamp_seconds": chain.scanned_at.timestamp() if chain.scanned_at else 0,
    }
    if chain.head_timestamp:
        values["head_timestamp_seconds"] = chain.head_timestamp.timestamp()
        if chain.scanned_timestamp:
            behind = (chain.head_timestamp - chain.scanned_timestamp).total_seconds()
            values["lag_seconds"] = max(0.0, behind)
    return values
