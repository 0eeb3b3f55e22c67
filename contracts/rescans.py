"""What an operator may ask of the watcher: read again, from a block on or a range; only look."""

import time
from collections.abc import Iterator

import pglock
from django.conf import settings
from django.utils import timezone
from web3 import Web3

from contracts import redemptions
from contracts.deposits import credit_confirmed, read_again, store_again
from contracts.models import Chain, Rescan
from contracts.node import NODE_ERRORS, Header, Trouble, check_genesis, connect, header, reason
from contracts.reader import Part, Point, Reader
from contracts.tokens import learn_token
from contracts.watcher import rewind_if_reorganised
from wallets.errors import Forbidden
from wallets.models import Wallet

# A long range is read in several runs, each well within the time that a task may take.
RUN_SECONDS = 30


class CantRescan(Trouble):
    """What is asked for can't be done now; the words say why."""


def look(chain_id: int, *, first: int | None = None) -> Iterator[tuple[Part, Header]]:
    """Read from a block (by default, from the cursor) to the head, and store nothing at all.

    Yields each part with the head. Raises Trouble.
    """
    chain = Chain.objects.get(pk=chain_id)
    node = _node(chain)
    head = header(node, "latest")
    below = Point(chain.scanned_block, chain.scanned_hash)
    if first is not None:
        below = _below(node, first)
    for part in _reader(chain, node, head).parts(below, upto=head.number):
        yield part, head


def go_back(chain_id: int, *, first: int) -> None:
    """Have the next scan read from a block on. What is stored stays, and is stored once.

    Raises Trouble, and CantRescan if the watcher has not come to that block yet.
    """
    with pglock.advisory(f"scan chain {chain_id}"):
        chain = Chain.objects.get(pk=chain_id)
        _check_read(chain, first)
        below = _below(_node(chain), first)
        read_again(chain=chain, number=below.number, block_hash=below.hash)


def rescan(chain_id: int, *, first: int, last: int) -> Iterator[tuple[Part, int]]:
    """Read a range again that the watcher has read, and store what is missing of it.

    Safe at any time: it waits for a scan that runs, and what is stored is stored once. Yields each
    part and how many deposits were missing of it. Raises Trouble, and CantRescan if the watcher has
    not come to the last block yet.
    """
    with pglock.advisory(f"scan chain {chain_id}"):
        chain = Chain.objects.get(pk=chain_id)
        _check_read(chain, last)
        node = _node(chain)
        head = header(node, "latest")
        rewind_if_reorganised(chain, node, head)
        # The chain may just have lost the end of the range.
        last = min(last, chain.scanned_block)
        vaults = {vault.address: vault for vault in chain.vaults.all()}
        for part in _reader(chain, node, head).parts(_below(node, first), upto=last):
            for vault, token in {(deposit.vault, deposit.token) for deposit in part.seen}:
                learn_token(node, vaults[vault], token)
            redemptions.apply_range(
                chain=chain, node=node, first=part.below.number + 1, last=part.last
            )
            yield part, store_again(chain=chain, part=part)
        credit_confirmed(chain)


def ask_for_rescan(*, operator: Wallet, chain_id: int, first: int, last: int) -> Rescan:
    """Have a range read again by the watcher's worker. Raises Forbidden without the permission."""
    if not operator.has_perm("contracts.rescan_chain"):
        raise Forbidden
    return Rescan.objects.create(
        chain_id=chain_id, first=first, last=last, next_block=first, asked_by=operator
    )


def run_asked(chain_id: int) -> None:
    """Go on with the rescans of a chain that were asked for, for a while.

    Single-flight. What goes wrong with the node is kept in `Rescan.trouble`, and tried again.
    """
    deadline = time.monotonic() + RUN_SECONDS
    with pglock.advisory(f"run rescans {chain_id}", timeout=0) as acquired:
        asked = Rescan.objects.filter(chain=chain_id, ended_at=None).order_by("pk")
        for each in asked if acquired else ():
            _go_on(each, deadline)
            if time.monotonic() > deadline:
                return


def _go_on(asked: Rescan, deadline: float) -> None:
    """Read one stretch after the other, at least one, until the time is over."""
    while asked.next_block <= asked.last:
        last = min(asked.next_block + settings.CHAIN_MAX_BLOCK_RANGE - 1, asked.last)
        try:
            stretch = rescan(asked.chain_id, first=asked.next_block, last=last)
            asked.missing += sum(missing for _, missing in stretch)
        except NODE_ERRORS as error:
            asked.trouble = reason(error)
            asked.save()
            return
        asked.next_block, asked.trouble = last + 1, ""
        asked.ended_at = timezone.now() if last == asked.last else None
        asked.save()
        if time.monotonic() > deadline:
            return


def _node(chain: Chain) -> Web3:
    node = connect(chain_id=chain.pk)
    check_genesis(node, name=chain.name, genesis_hash=chain.genesis_hash)
    return node


def _reader(chain: Chain, node: Web3, head: Header) -> Reader:
    vaults = chain.vaults.values_list("address", flat=True)
    return Reader(node, head=head, vaults=list(vaults), blocks=chain.block_range)


def _below(node: Web3, first: int) -> Point:
    """The block below the first one; of the first block of all, itself: no vault is in it."""
    below = header(node, max(0, first - 1))
    return Point(below.number, below.hash)


def _check_read(chain: Chain, block: int) -> None:
    if block > chain.scanned_block:
        raise CantRescan(
            f"Block {block} has not been read yet; the watcher is at block {chain.scanned_block}."
        )
