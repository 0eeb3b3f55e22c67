"""The watcher: reads the vaults' events from the chain and turns confirmed deposits into credits.

A scan goes from the cursor to the head in bounded ranges. Blocks are known by number *and* hash: a
scan first makes sure that the chain still has the block it stopped at, goes back to the newest one
that it still has if not, and takes back what fell out. Any scan may die at any point: what it
stored is whole, and the next one goes on from there.
"""

import time
from bisect import bisect_left
from collections.abc import Iterable, Sequence

import pglock
import structlog
from django.conf import settings
from django.utils import timezone
from web3 import Web3
from web3.exceptions import Web3Exception

from contracts.deposits import (
    LogsMissing,
    confirmed,
    credit_confirmed,
    on_chain,
    read_again,
    rewind,
    store_range,
)
from contracts.events import MovedMeanwhile, RangeRefused, Seen, read_deposits
from contracts.models import Chain, Vault
from contracts.node import (
    Header,
    NodeFailed,
    Trouble,
    check_genesis,
    connect,
    header,
    read_uint,
    reason,
)
from contracts.tokens import learn_token

# A long catch-up is done in several scans, each well within the time that a task may take.
SCAN_SECONDS = 60
# Below this depth the blocks of events are not looked up one by one: no fork reaches there, and a
# catch-up would spend its time on it.
FRESH_BLOCKS = 128
# Known blocks that are compared at once in search of the last common one.
PAGE = 1_000
MAX_BLOCK = 2**63 - 1
log = structlog.get_logger(__name__)


class NodeBehind(Trouble):
    """The node has not seen yet what was read before."""


class CreditsRefused(Trouble):
    """Deposits are confirmed, and the ledger will not take them."""


def scan(chain_id: int) -> bool:
    """Scan a chain from its cursor to its head and credit what is confirmed.

    Single-flight by an advisory lock: False, with nothing done, if a scan runs already or the chain
    is paused. What goes wrong with the node is kept in `Chain.trouble` and logged, not raised.
    """
    with pglock.advisory(f"scan chain {chain_id}", timeout=0) as acquired:
        chain = Chain.objects.get(pk=chain_id)
        if not acquired or chain.paused:
            return False
        trouble = _scan_by_any_node(chain)
        Chain.objects.filter(pk=chain_id).update(trouble=trouble, scanned_at=timezone.now())
        return True


def _scan_by_any_node(chain: Chain) -> str:
    """Scan by the first node that can; the trouble with the last of them if none can."""
    trouble = "CHAIN_RPC_URLS names no node."
    for number, url in enumerate(settings.CHAIN_RPC_URLS, start=1):
        try:
            _scan(chain, connect(url=url, chain_id=chain.pk))
        except Web3Exception as error:
            trouble = reason(error)
            log.warning("scan stopped", chain=chain.pk, node=number, trouble=trouble)
            chain.refresh_from_db()
        else:
            return ""
    return trouble


def _scan(chain: Chain, node: Web3) -> None:
    check_genesis(node, name=chain.name, genesis_hash=chain.genesis_hash)
    head = header(node, "latest")
    _rewind_if_reorganised(chain, node, head)
    Chain.objects.filter(pk=chain.pk).update(head_block=head.number)
    try:
        _read_to(head, chain, node)
    except LogsMissing as error:
        # Once may be a hiccup. Twice, and they may be missing from what was read long before.
        if str(error) == chain.trouble and error.since < chain.scanned_block:
            there = header(node, error.since)
            read_again(chain=chain, number=there.number, block_hash=there.hash)
        raise
    credit_confirmed(chain)
    if refused := confirmed(chain).count():
        raise CreditsRefused(f"{refused} confirmed deposits can't be credited; the log says why.")


def _read_to(head: Header, chain: Chain, node: Web3) -> None:
    """Read ranges of blocks up to the head, of the size that the node takes now."""
    deadline = time.monotonic() + SCAN_SECONDS
    while chain.scanned_block < head.number and time.monotonic() < deadline:
        first = chain.scanned_block + 1
        last = min(head.number, first + chain.block_range - 1)
        try:
            _read_range(chain, node, first, last, head)
        except NodeFailed as error:
            if last > first:
                # Too much at once, perhaps, even if it says so by hanging up.
                _resize(chain, (last - first + 1) // 2)
                if isinstance(error, RangeRefused):
                    continue
            raise
        if last - first + 1 == chain.block_range:
            _resize(chain, chain.block_range * 5 // 4 + 1)
        credit_confirmed(chain)


def _resize(chain: Chain, blocks: int) -> None:
    chain.block_range = max(1, min(blocks, settings.CHAIN_MAX_BLOCK_RANGE))
    chain.save(update_fields=["block_range"])


def _read_range(chain: Chain, node: Web3, first: int, last: int, head: Header) -> None:
    """Store the deposits of a range of blocks, and move the cursor to its end. Raises Trouble."""
    vaults = {vault.address: vault for vault in chain.vaults.all()}
    before = head if last == head.number else header(node, last)
    seen = read_deposits(node, vaults, first, last)
    for vault, token in {(deposit.vault, deposit.token) for deposit in seen}:
        learn_token(node, vaults[vault], token)
    counts = _counts(node, vaults.values(), last) if last == head.number else {}
    _check_blocks(node, seen, before, head)
    # The block below and the last one, the same before and after: so what was read is the whole of
    # what lies between them, on their chain and on no other.
    if (
        header(node, chain.scanned_block).hash != chain.scanned_hash
        or header(node, last).hash != before.hash
    ):
        raise MovedMeanwhile("The chain was reorganised while it was read.")
    store_range(chain=chain, asked=vaults.keys(), seen=seen, last=before, counts=counts)


def _counts(node: Web3, vaults: Iterable[Vault], block: int) -> dict[str, int]:
    """How many deposits each vault has had. Only asked at the head, where each node knows it."""
    return {
        v.address: read_uint(node, v.address, "depositCount()", block=hex(block)) for v in vaults
    }


def _check_blocks(node: Web3, seen: Sequence[Seen], last: Header, head: Header) -> None:
    """Make sure that fresh events are in blocks of the chain that the headers tell of."""
    blocks = {(d.block_number, d.block_hash) for d in seen}
    for number, block_hash in blocks:
        if number > head.number - FRESH_BLOCKS:
            there = last.hash if number == last.number else header(node, number).hash
            if there != block_hash:
                raise MovedMeanwhile("The chain was reorganised while it was read.")


def _rewind_if_reorganised(chain: Chain, node: Web3, head: Header) -> None:
    """Go back to the newest known block that the chain still has, if it left the one known last.

    Raises NodeBehind if the node's chain ends below that and is the same up to there: that is a
    node that lags behind, and nothing is taken back for it.
    """

    def is_on_chain(point: tuple[int, str]) -> bool:
        number, block_hash = point
        return number <= head.number and header(node, number).hash == block_hash

    known = _known_blocks(chain)
    if not known or is_on_chain(known[0]):
        return
    newest, _ = known[0]
    if newest > head.number and all(is_on_chain(b) for b in _known_blocks(chain, head.number)[:1]):
        raise NodeBehind(f"The node is at block {head.number}; block {newest} was read before.")
    number, block_hash = 0, chain.genesis_hash
    while known:
        if is_on_chain(known[-1]):
            # Newest first; where one is on the chain, so is every older one.
            number, block_hash = known[bisect_left(known, True, key=is_on_chain)]
            break
        known = _known_blocks(chain, known[-1][0] - 1)
    log.warning("reorganised", chain=chain.pk, was=newest, back_to=number)
    rewind(chain=chain, number=number, block_hash=block_hash)


def _known_blocks(chain: Chain, newest: int = MAX_BLOCK) -> list[tuple[int, str]]:
    """A page of the blocks that are known by hash, newest first, from a number downwards.

    The cursor is never above them.
    """
    blocks = chain.blocks.filter(number__lte=newest).values_list("number", "hash")
    deposits = on_chain(chain).filter(block_number__lte=newest)
    both = blocks.union(deposits.values_list("block_number", "block_hash"))
    return list(both.order_by("-number")[:PAGE])
