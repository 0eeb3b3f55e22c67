"""The Celery face of the watcher."""

from celery import shared_task

from contracts import watcher
from contracts.models import Chain

# A scan that was asked for longer ago is of no use: the next poll asks for another.
HINT_SECONDS = 30


@shared_task
def scan_chains() -> None:
    """Hand each chain to a task of its own, so that a slow one holds up no other."""
    for chain_id in Chain.objects.filter(paused=False).values_list("pk", flat=True):
        scan_chain.apply_async((chain_id,), expires=HINT_SECONDS)


@shared_task
def scan_chain(chain_id: int) -> bool:
    """Scan one chain; run twice, or at the same time, it changes nothing."""
    return watcher.scan(chain_id)
