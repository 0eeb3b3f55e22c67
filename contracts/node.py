"""Talking to a node of the chain. No database transaction may be open meanwhile."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from django.conf import settings
from web3 import HTTPProvider, Web3
from web3.exceptions import Web3Exception

# What a node that is down, slow, lying or overloaded makes web3 and its HTTP client raise.
NODE_ERRORS = (Web3Exception, OSError, ValueError)


class WrongChain(Exception):
    """The node serves another chain than the one that is asked for."""


def connect() -> Web3:
    """A connection to the node at the first of CHAIN_RPC_URLS, which must serve CHAIN_ID.

    Raises WrongChain, and NODE_ERRORS if it does not answer.
    """
    node = Web3(
        HTTPProvider(
            settings.CHAIN_RPC_URLS[0],
            request_kwargs={"timeout": settings.CHAIN_RPC_TIMEOUT_SECONDS},
        )
    )
    if (chain_id := node.eth.chain_id) != settings.CHAIN_ID:
        raise WrongChain(f"The node serves chain {chain_id}, not {settings.CHAIN_ID}.")
    return node


@dataclass(frozen=True, slots=True)
class Header:
    """What identifies a block."""

    number: int
    hash: str
    timestamp: datetime


def header(node: Web3, block: int | Literal["latest"]) -> Header:
    """The header of a block, by number or the newest. Raises NODE_ERRORS."""
    found = node.eth.get_block(block)
    return Header(
        number=found["number"],
        hash=found["hash"].to_0x_hex(),
        timestamp=datetime.fromtimestamp(found["timestamp"], UTC),
    )


def reason(error: BaseException) -> str:
    """An error in words that are safe to log and show: its message may hold the node's URL, and
    with that its key."""
    if isinstance(error, WrongChain):
        return str(error)
    return f"The node could not be asked ({type(error).__name__})."
