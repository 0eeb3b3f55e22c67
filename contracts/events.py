"""The vaults' `Deposited` events, read strictly from what a node says."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from eth_utils.address import to_checksum_address
from web3 import Web3

from contracts.artifacts import artifact
from contracts.node import NodeFailed, NodeRefused, Trouble, quantity, rpc, word


class MovedMeanwhile(Trouble):
    """The chain, or the cursor, moved while it was read; the next scan reads it again."""


class RangeRefused(NodeRefused):
    """The node will not tell the events of a range; it may well tell those of a smaller one."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A deposit as the chain tells it."""

    vault: str
    player: str
    token: str
    amount: int
    number: int
    tx_hash: str
    log_index: int
    block_number: int
    block_hash: str


@cache
def deposited_topic() -> str:
    """What marks a `Deposited` event: the hash of its signature in the built contract."""
    contract = Web3().eth.contract(abi=artifact("BasVault")["abi"])
    return contract.events.Deposited().topic


def read_deposits(node: Web3, vaults: Iterable[str], first: int, last: int) -> list[Seen]:
    """The deposits in a range of blocks, each once, in the order of the chain. Raises Trouble."""
    addresses = sorted(vaults)
    if not addresses:
        return []
    question = {
        "address": addresses,
        "topics": [deposited_topic()],
        "fromBlock": hex(first),
        "toBlock": hex(last),
    }
    try:
        logs = rpc(node, "eth_getLogs", question)
    except NodeRefused as error:
        raise RangeRefused(str(error)) from None
    if not isinstance(logs, list):
        raise NodeFailed("The node answered eth_getLogs with nonsense.")
    seen = {_read(entry) for entry in logs}
    # What was asked for is checked again: an event of any other contract is no deposit.
    if any(d.vault not in addresses or not first <= d.block_number <= last for d in seen):
        raise NodeFailed("The node answered with events that it was not asked for.")
    return sorted(seen, key=lambda d: (d.block_number, d.log_index))


def _read(entry: Any) -> Seen:
    if not isinstance(entry, dict):
        raise NodeFailed("The node wrote an event that is none.")
    if entry.get("removed"):
        raise MovedMeanwhile("The chain was reorganised while it was read.")
    topics = entry.get("topics")
    if not isinstance(topics, list) or len(topics) != 4 or topics[0] != deposited_topic():
        raise NodeFailed("The node answered with events that it was not asked for.")
    return Seen(
        vault=_address(entry.get("address"), digits=40),
        player=_address(topics[1]),
        token=_address(topics[2]),
        amount=int(word(entry.get("data")), 16),
        number=int(word(topics[3]), 16),
        tx_hash=word(entry.get("transactionHash")),
        log_index=quantity(entry.get("logIndex"), digits=7),
        block_number=quantity(entry.get("blockNumber")),
        block_hash=word(entry.get("blockHash")),
    )


def _address(text: Any, *, digits: int = 64) -> str:
    """An address, by itself or at the end of a 32-byte word."""
    if not isinstance(text, str) or len(text) != 2 + digits or quantity(text, digits=64) >> 160:
        raise NodeFailed("The node wrote an address that is none.")
    return to_checksum_address("0x" + text[-40:])
