"""The vaults' `Deposited` events, read strictly from what a node says."""

import re
from collections.abc import Collection
from functools import cache, lru_cache
from typing import Any, NamedTuple

from eth_utils.address import to_checksum_address
from web3 import Web3

from contracts.artifacts import artifact
from contracts.node import NodeFailed, NodeRefused, Trouble, quantity, rpc

# What an event is made of: the player's, the token's and the deposit's topic, the data, the hashes
# of the transaction and of the block. Matched at once, it costs a tenth of six matches.
WORDS = re.compile("(?:0x[0-9a-fA-F]{64},){6}")
WORD = len("0x,") + 64
ADDRESS = re.compile("0x[0-9a-fA-F]{40}")


class MovedMeanwhile(Trouble):
    """The chain, or the cursor, moved while it was read; the next scan reads it again."""


class RangeRefused(NodeRefused):
    """The node will not tell the events of a range; it may well tell those of a smaller one."""

    cause = "range_refused"


class Seen(NamedTuple):
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


def read_deposits(node: Web3, vaults: Collection[str], first: int, last: int) -> list[Seen]:
    """The deposits in a range of blocks, each once, in the order of the chain. Raises Trouble."""
    if not vaults:
        return []
    question = {
        "address": sorted(vaults),
        "topics": [deposited_topic()],
        "fromBlock": hex(first),
        "toBlock": hex(last),
    }
    try:
        logs = rpc(node, "eth_getLogs", question)
    except NodeRefused as error:
        raise RangeRefused(str(error)) from None
    return decode(logs, vaults, first, last)


def decode(logs: Any, vaults: Collection[str], first: int, last: int) -> list[Seen]:
    """The deposits that a node's answer tells of. Raises NodeFailed if any of it can't be true.

    What was asked for is checked again: an event of any other contract is no deposit.
    """
    if not isinstance(logs, list):
        raise NodeFailed("The node answered eth_getLogs with nonsense.")
    topic = deposited_topic()
    seen = {_read(entry, topic) for entry in logs}
    if any(d.vault not in vaults or not first <= d.block_number <= last for d in seen):
        raise NodeFailed("The node answered with events that it was not asked for.")
    return sorted(seen, key=lambda d: (d.block_number, d.log_index))


def _read(entry: Any, topic: str) -> Seen:
    if not isinstance(entry, dict):
        raise NodeFailed("The node wrote an event that is none.")
    if entry.get("removed"):
        raise MovedMeanwhile("The chain was reorganised while it was read.")
    topics = entry.get("topics")
    if not isinstance(topics, list) or len(topics) != 4 or topics[0] != topic:
        raise NodeFailed("The node answered with events that it was not asked for.")
    words = f"{topics[1]},{topics[2]},{entry.get('data')},{topics[3]},"
    words += f"{entry.get('transactionHash')},{entry.get('blockHash')},"
    if not WORDS.fullmatch(words):
        raise NodeFailed("The node wrote an event that is none.")
    player, token, amount, number, tx_hash, block_hash = (
        words[at : at + WORD - 1] for at in range(0, len(words), WORD)
    )
    return Seen(
        vault=_contract(str(entry.get("address"))),
        player=_address(player),
        token=_address(token),
        amount=int(amount, 16),
        number=int(number, 16),
        tx_hash=tx_hash.lower(),
        log_index=quantity(entry.get("logIndex"), digits=7),
        block_number=quantity(entry.get("blockNumber")),
        block_hash=block_hash.lower(),
    )


@lru_cache(maxsize=1_024)
def _contract(text: str) -> str:
    if not ADDRESS.fullmatch(text):
        raise NodeFailed("The node wrote an address that is none.")
    return to_checksum_address(text)


@lru_cache(maxsize=65_536)
def _address(text: str) -> str:
    """The address at the end of a 32-byte word. The casing of EIP-55 takes a hash: kept a while."""
    if int(text, 16) >> 160:
        raise NodeFailed("The node wrote an address that is none.")
    return to_checksum_address("0x" + text[-40:])
