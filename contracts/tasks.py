"""The Celery face of the watcher."""

import structlog
from celery import shared_task

from contracts import holdings, redemptions, rescans, signer, watcher
from contracts.models import Chain
from contracts.node import NODE_ERRORS, WrongChain, reason

# A scan that was asked for longer ago is of no use: the next poll asks for another.
HINT_SECONDS = 30
log = structlog.get_logger(__name__)


@shared_task
def scan_chains() -> None:
    """Hand each chain to a task of its own, so that a slow one holds up no other."""
    for chain_id in Chain.objects.filter(paused=False).values_list("pk", flat=True):
        scan_chain.apply_async((chain_id,), expires=HINT_SECONDS)


@shared_task
def scan_chain(chain_id: int) -> bool:
    """Scan one chain, and read again what operators want to be; run twice, it changes nothing."""
    scanned = watcher.scan(chain_id)
    rescans.run_asked(chain_id)
    return scanned


@shared_task
def sign_withdrawals() -> int:
    """Sign what is approved. It has a queue of its own: only the signer's process holds the key."""
    try:
        return signer.sign_approved()
    except signer.NoKey as error:
        log.error("nothing is signed", reason=str(error))
        return 0


@shared_task
def sweep_withdrawals() -> int:
    """Give back the credits of vouchers that expired unused; how many there were."""
    chains = Chain.objects.filter(paused=False)
    return sum(redemptions.give_back_expired(chain) for chain in chains)


@shared_task
def note_holdings() -> None:
    """Write down what the vaults hold; what can't be read now is read the next time."""
    for chain in Chain.objects.filter(paused=False):
        try:
            holdings.note_holdings(chain)
        except (WrongChain, *NODE_ERRORS) as error:
            log.warning("holdings not read", chain=chain.pk, reason=reason(error))
