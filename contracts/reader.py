"""Reading ranges of blocks from one node, each proven to be whole and on one chain.

Nothing here knows the database, so that the next range can be read while the last one is stored.
"""

from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings
from web3 import Web3

from contracts.events import MovedMeanwhile, RangeRefused, Seen, read_deposits
from contracts.node import Header, NodeBusy, NodeFailed, header, read_uint

# Below this depth the blocks of events are not looked up one by one: no fork reaches there, and a
# catch-up would spend its time on it.
FRESH_BLOCKS = 128
# A range with more deposits than this is followed by a smaller one: what is held in memory at once
# has a bound, however long the catch-up.
MANY_DEPOSITS = 5_000


@dataclass(frozen=True, slots=True)
class Point:
    """A block, by number and hash."""

    number: int
    hash: str


@dataclass(frozen=True, slots=True)
class Part:
    """What a node told of the blocks above one block up to another."""

    below: Point
    last: Header
    vaults: Collection[str]
    seen: list[Seen]
    # How many deposits each vault has had by the last block, where that is known.
    counts: dict[str, int]

    @property
    def blocks(self) -> int:
        """How many blocks it spans."""
        return self.last.number - self.below.number


class Reader:
    """Reads on from a block, range by range, one range ahead of whoever stores them.

    `blocks` is the size of the next range: halved when the node refuses one, grown when it gives
    one. `refusals` counts how often it refused, by cause.
    """

    def __init__(self, node: Web3, *, head: Header, vaults: Collection[str], blocks: int) -> None:
        self.node = node
        self.head = head
        self.vaults = frozenset(vaults)
        self.blocks = blocks
        self.refusals: dict[str, int] = {}

    def parts(self, below: Point, *, upto: int) -> Iterator[Part]:
        """The parts of the chain above a block, up to and including another. Raises Trouble.

        The first one is asked for as a single scan needs it; the others are read ahead.
        """
        if below.number >= upto:
            return
        part = self._next(below, upto)
        with _one_ahead() as read_ahead:
            while part.last.number < upto:
                coming = read_ahead(self._next, Point(part.last.number, part.last.hash), upto)
                yield part
                part = coming.result()
        yield part

    def shrink(self) -> None:
        """Make the next range smaller."""
        self._resize(self.blocks // 2)

    def _next(self, below: Point, upto: int) -> Part:
        """Read the next range, smaller and smaller until the node will tell it."""
        while True:
            last = min(upto, below.number + self.blocks)
            try:
                part = read_part(self.node, self.vaults, below, last, self.head)
            except NodeFailed as error:
                if last - below.number == 1 or isinstance(error, NodeBusy):
                    raise
                # Too much at once, perhaps, even if it says so by hanging up.
                self._resize((last - below.number) // 2)
                if not isinstance(error, RangeRefused):
                    raise
                self.refusals[error.cause] = self.refusals.get(error.cause, 0) + 1
                continue
            if len(part.seen) > MANY_DEPOSITS:
                self._resize(part.blocks * MANY_DEPOSITS // len(part.seen))
            elif part.blocks == self.blocks:
                self._resize(self.blocks * 5 // 4 + 1)
            return part

    def _resize(self, blocks: int) -> None:
        self.blocks = max(1, min(blocks, settings.CHAIN_MAX_BLOCK_RANGE))


@contextmanager
def _one_ahead() -> Iterator[Callable[..., Future[Part]]]:
    """A thread that reads; whoever leaves waits for it, at most as long as the node may take."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="read ahead") as pool:
        yield pool.submit


def read_part(
    node: Web3, vaults: Collection[str], below: Point, last_number: int, head: Header
) -> Part:
    """What a node tells of the blocks above one block up to another. Raises Trouble.

    The block below and the last one are the same before and after: so what was read is the whole of
    what lies between them, on their chain and on no other.
    """
    at_head = last_number == head.number
    last = head if at_head else header(node, last_number)
    seen = read_deposits(node, vaults, below.number + 1, last_number)
    counts = _counts(node, vaults, last_number) if at_head else {}
    _check_blocks(node, seen, last, head)
    if header(node, below.number).hash != below.hash or header(node, last_number).hash != last.hash:
        raise MovedMeanwhile("The chain was reorganised while it was read.")
    return Part(below=below, last=last, vaults=vaults, seen=seen, counts=counts)


def _counts(node: Web3, vaults: Collection[str], block: int) -> dict[str, int]:
    """How many deposits each vault has had. Only asked at the head, where each node knows it."""
    return {v: read_uint(node, v, "depositCount()", block=hex(block)) for v in vaults}


def _check_blocks(node: Web3, seen: list[Seen], last: Header, head: Header) -> None:
    """Make sure that fresh events are in blocks of the chain that the headers tell of."""
    for number, block_hash in {(d.block_number, d.block_hash) for d in seen}:
        if number > head.number - FRESH_BLOCKS:
            there = last.hash if number == last.number else header(node, number).hash
            if there != block_hash:
                raise MovedMeanwhile("The chain was reorganised while it was read.")
