"""The watcher: reads the vaults' events from the chain and turns confirmed deposits into credits.

A scan goes from the cursor to the head in bounded ranges. Blocks are known by number *and* hash: a
scan first makes sure that the chain still has the block it stopped at, goes back to the newest one
that it still has if not, and takes back what fell out. Any scan may die at any point: what it
stored is whole, and the next one goes on from there.
"""

import time
from bisect import bisect_left
from collections.abc import Callable
from contextlib import closing

import pglock
import structlog
from django.conf import settings
from django.utils import timezone
from web3 import Web3
from web3.exceptions import Web3Exception

from contracts import nodes, redemptions
from contracts.deposits import (
    LogsMissing,
    confirmed,
    credit_confirmed,
    on_chain,
    read_again,
    rewind,
    start_over,
    store_part,
    take_back_of,
)
from contracts.events import read_deposits
from contracts.models import Chain
from contracts.node import (
    ChainStartedOver,
    Header,
    NodeRefused,
    Trouble,
    check_genesis,
    connect,
    final_block,
    header,
    no_node,
    reason,
    rpc_urls,
)
from contracts.reader import Part, Point, Reader
from contracts.tokens import learn_token

# A long catch-up is done in several scans, each well within the time that a task may take.
SCAN_SECONDS = 60
# Known blocks that are compared at once in search of the last common one.
PAGE = 1_000
MAX_BLOCK = 2**63 - 1
log = structlog.get_logger(__name__)

# Told of each part of the chain that was read and stored, and of the head.
Progress = Callable[[Part, Header], None]


class NodeBehind(Trouble):
    """The node has not seen yet what was read before."""

    cause = "behind"


class CreditsRefused(Trouble):
    """Deposits are confirmed, and the ledger will not take them."""


def scan(
    chain_id: int, *, accept_new_chain: bool = False, progress: Progress | None = None
) -> bool:
    """Scan a chain from its cursor to its head and credit what is confirmed.

    Single-flight by an advisory lock: False, with nothing done, if a scan runs already or the chain
    is paused. What goes wrong with the node is kept in `Chain.trouble` and logged, not raised.
    `accept_new_chain` is for an operator who knows that the chain started over.
    """
    with pglock.advisory(f"scan chain {chain_id}", timeout=0) as acquired:
        chain = Chain.objects.get(pk=chain_id)
        if not acquired or chain.paused:
            return False
        trouble = _by_any_node(chain, accept_new_chain, progress or (lambda _part, _head: None))
        Chain.objects.filter(pk=chain_id).update(trouble=trouble, scanned_at=timezone.now())
        if not trouble and len(rpc_urls(chain_id)) > 1:
            _try_one_that_failed(chain)
        return True


def _by_any_node(chain: Chain, accept_new_chain: bool, progress: Progress) -> str:
    """Scan by the first node that can; the trouble with the last of them if none can."""
    candidates = nodes.nodes_to_ask(chain, resting_too=accept_new_chain)
    # With nobody to ask now, what was wrong still is.
    trouble = chain.trouble if rpc_urls(chain.pk) else str(no_node(chain.pk))
    for place, url in candidates:
        try:
            node = connect(url=url, chain_id=chain.pk)
            _scan(chain, node, place, accept_new_chain or settings.CHAIN_ACCEPT_NEW, progress)
        except Web3Exception as error:
            trouble = reason(error)
            log.warning("scan stopped", chain=chain.pk, node=place, trouble=trouble)
            if isinstance(error, Trouble):
                nodes.count_failure(chain=chain, place=place, trouble=error)
            chain.refresh_from_db()
            if isinstance(error, CreditsRefused):
                return trouble  # another node would make no difference
        else:
            nodes.count_answer(chain=chain, place=place)
            return ""
    return trouble


def _try_one_that_failed(chain: Chain) -> None:
    """Ask a node that failed, and now stands behind one that answers, whether it would do again.

    It is asked for a little of all that a scan asks for, and nothing is stored of it.
    """
    failing = set(chain.nodes.filter(failures_in_a_row__gt=0).values_list("place", flat=True))
    candidates = [(place, url) for place, url in nodes.nodes_to_ask(chain) if place in failing]
    if not candidates:
        return
    place, url = candidates[0]
    try:
        node = connect(url=url, chain_id=chain.pk)
        check_genesis(node, name=chain.name, genesis_hash=chain.genesis_hash)
        head, _ = _ends(chain, node)
        if head.number < chain.scanned_block - chain.confirmations:
            raise NodeBehind(f"The node is at block {head.number}.")
        vaults = chain.vaults.values_list("address", flat=True)
        read_deposits(node, vaults, head.number, head.number)
    except Web3Exception as error:
        if isinstance(error, Trouble):
            nodes.count_failure(chain=chain, place=place, trouble=error)
    else:
        nodes.count_answer(chain=chain, place=place)


def _ends(chain: Chain, node: Web3) -> tuple[Header, int]:
    """The head, and the number of the final block; -1 where no tag is asked."""
    head = header(node, "latest")
    by_tag = chain.finality != Chain.Finality.CONFIRMATIONS
    return head, final_block(node, chain.finality, head) if by_tag else -1


def _scan(chain: Chain, node: Web3, place: int, accept_new: bool, progress: Progress) -> None:
    if accept_new:
        accept_if_new(chain, node)
    else:
        check_genesis(node, name=chain.name, genesis_hash=chain.genesis_hash)
    # Asked before anything is read, so that a node that can't tell is known at once.
    head, final = _ends(chain, node)
    rewind_if_reorganised(chain, node, head)
    Chain.objects.filter(pk=chain.pk).update(
        head_block=head.number, head_timestamp=head.timestamp, final_block=final
    )
    chain.final_block = final
    try:
        _read_to(head, chain, node, place, progress)
    except LogsMissing as error:
        if error.stored and header(node, error.stored.number).hash != error.stored.hash:
            take_back_of(chain=chain, block=error.stored)
        # Once may be a hiccup. Twice, and they may be missing from what was read long before.
        if str(error) == chain.trouble and error.since < chain.scanned_block:
            there = header(node, error.since)
            read_again(chain=chain, number=there.number, block_hash=there.hash)
        raise
    credit_confirmed(chain)
    unexplained = redemptions.settle(chain=chain)
    if refused := confirmed(chain).count():
        raise CreditsRefused(f"{refused} confirmed deposits can't be credited; the log says why.")
    if unexplained:
        raise CreditsRefused(unexplained)


def accept_if_new(chain: Chain, node: Web3) -> None:
    """Take the node's chain for the one on watch, if it is another. Raises Trouble."""
    try:
        check_genesis(node, name=chain.name, genesis_hash=chain.genesis_hash)
    except ChainStartedOver:
        start_over(chain=chain, genesis_hash=header(node, 0).hash)


def _read_to(head: Header, chain: Chain, node: Web3, place: int, progress: Progress) -> None:
    """Store what the node tells of the blocks up to the head, of one range after the other."""
    deadline = time.monotonic() + SCAN_SECONDS
    vaults = {vault.address: vault for vault in chain.vaults.all()}
    reader = Reader(node, head=head, vaults=vaults, blocks=chain.block_range)
    parts = reader.parts(Point(chain.scanned_block, chain.scanned_hash), upto=head.number)
    try:
        with closing(parts):
            while time.monotonic() < deadline and (part := next(parts, None)):
                for vault, token in {(deposit.vault, deposit.token) for deposit in part.seen}:
                    learn_token(node, vaults[vault], token)
                redemptions.apply_range(
                    chain=chain, node=node, first=part.below.number + 1, last=part.last
                )
                store_part(chain=chain, part=part)
                credit_confirmed(chain)
                progress(part, head)
    except NodeRefused:
        # What was asked beside the deposits, in a range that was small enough for those.
        reader.shrink()
        raise
    finally:
        Chain.objects.filter(pk=chain.pk).update(block_range=reader.blocks)
        chain.block_range = reader.blocks
        for cause, times in reader.refusals.items():
            nodes.count_refusals(chain=chain, place=place, cause=cause, times=times)


def rewind_if_reorganised(chain: Chain, node: Web3, head: Header) -> None:
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
