"""The vaults' `Withdrawn` events, read strictly from what a node says."""

from collections.abc import Collection
from functools import cache
from typing import Any, NamedTuple

from eth_utils.address import to_checksum_address
from web3 import Web3

from contracts.artifacts import artifact
from contracts.events import MovedMeanwhile
from contracts.node import NodeFailed, header, quantity, rpc, word

# Below this depth the blocks of events are not looked up one by one: no fork reaches there.
FRESH_BLOCKS = 128


class Gone(NamedTuple):
    """A withdrawal as the chain tells it."""

    vault: str
    player: str
    token: str
    amount: int
    voucher: int
    tx_hash: str
    log_index: int
    block_number: int
    block_hash: str


@cache
def withdrawn_topic() -> str:
    """What marks a `Withdrawn` event: the hash of its signature in the built contract."""
    contract = Web3().eth.contract(abi=artifact("BasVault")["abi"])
    return contract.events.Withdrawn().topic


def read_withdrawn(
    node: Web3, vaults: Collection[str], first: int, last: int, *, voucher: int | None = None
) -> list[Gone]:
    """What left the vaults in a range of blocks, in the order of the chain. Raises Trouble.

    With a `voucher`, only what left against that one.
    """
    if not vaults:
        return []
    topics: list[str | None] = [withdrawn_topic()]
    if voucher is not None:
        topics += [None, None, f"0x{voucher:064x}"]
    question = {"address": sorted(vaults), "topics": topics}
    logs = rpc(node, "eth_getLogs", question | {"fromBlock": hex(first), "toBlock": hex(last)})
    if not isinstance(logs, list):
        raise NodeFailed("The node answered eth_getLogs with nonsense.")
    gone = {_read(entry) for entry in logs}
    # What was asked for is checked again: an event of any other contract is nothing.
    if any(
        e.vault not in vaults
        or not first <= e.block_number <= last
        or (voucher is not None and e.voucher != voucher)
        for e in gone
    ):
        raise NodeFailed("The node answered with events that it was not asked for.")
    return sorted(gone, key=lambda e: (e.block_number, e.log_index))


def check_blocks(node: Web3, gone: Collection[Gone], *, above: int) -> None:
    """Make sure that the events above a block are in blocks that the chain has. Raises Trouble."""
    for number, block_hash in {(e.block_number, e.block_hash) for e in gone}:
        if number > above and header(node, number).hash != block_hash:
            raise MovedMeanwhile("The chain was reorganised while it was read.")


def _read(entry: Any) -> Gone:
    if not isinstance(entry, dict):
        raise NodeFailed("The node wrote an event that is none.")
    if entry.get("removed"):
        raise MovedMeanwhile("The chain was reorganised while it was read.")
    topics = entry.get("topics")
    if not isinstance(topics, list) or len(topics) != 4 or topics[0] != withdrawn_topic():
        raise NodeFailed("The node answered with events that it was not asked for.")
    vault = entry.get("address")
    if not (isinstance(vault, str) and len(vault) == 42):
        raise NodeFailed("The node wrote an address that is none.")
    return Gone(
        vault=_address(quantity(vault, digits=40)),
        player=_address(int(word(topics[1]), 16)),
        token=_address(int(word(topics[2]), 16)),
        amount=int(word(entry.get("data")), 16),
        voucher=int(word(topics[3]), 16),
        tx_hash=word(entry.get("transactionHash")),
        log_index=quantity(entry.get("logIndex"), digits=7),
        block_number=quantity(entry.get("blockNumber")),
        block_hash=word(entry.get("blockHash")),
    )


def _address(number: int) -> str:
    if number >> 160:
        raise NodeFailed("The node wrote an address that is none.")
    return to_checksum_address(f"0x{number:040x}")
