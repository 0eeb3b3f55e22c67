"""Vouchers: what the signer signs, and what the vault on the chain says about it.

No database transaction may be open while a node is asked.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import structlog
from web3 import Web3
from web3.exceptions import Web3Exception

from contracts import nodes
from contracts.events import MovedMeanwhile
from contracts.models import NATIVE, Chain, Withdrawal
from contracts.node import (
    BlockUnknown,
    NodeFailed,
    Trouble,
    check_genesis,
    connect,
    header,
    no_node,
    quantity,
    reason,
    rpc,
    rpc_urls,
    word,
)

# The voucher's type in BasVault (EIP-712), field by field in the order of its hash.
TYPES = {
    "Withdraw": [
        {"name": "player", "type": "address"},
        {"name": "token", "type": "address"},
        {"name": "amount", "type": "uint256"},
        {"name": "id", "type": "uint256"},
        {"name": "deadline", "type": "uint256"},
    ]
}
DAY_SECONDS = 24 * 3600
Answer = TypeVar("Answer")
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Standing:
    """What the vault says in one block, as far as a voucher depends on it."""

    block: int
    timestamp: int
    signer: str
    paused: bool
    used: bool
    held: int
    left_today: int


def typed_data(withdrawal: Withdrawal, deadline: int) -> dict[str, Any]:
    """A voucher as EIP-712 typed data."""
    return {
        "domain": {
            "name": "BasVault",
            "version": "1",
            "chainId": withdrawal.token.vault.chain_id,
            "verifyingContract": withdrawal.token.vault.address,
        },
        "types": TYPES,
        "primaryType": "Withdraw",
        "message": fields(withdrawal, deadline),
    }


def fields(withdrawal: Withdrawal, deadline: int | None) -> dict[str, Any]:
    """A voucher's fields, in the order of the vault's arguments."""
    return {
        "player": withdrawal.wallet.address,
        "token": withdrawal.token.address,
        "amount": withdrawal.amount,
        "id": withdrawal.voucher,
        "deadline": deadline,
    }


def ask_any_node(chain: Chain, question: Callable[[Web3], Answer]) -> Answer:
    """The answer of the first node that can give it and takes no rest. Raises Trouble if none can.

    A node that fails is counted and given a rest, as it is when the watcher asks it.
    """
    trouble = "All nodes rest." if rpc_urls(chain.pk) else str(no_node(chain.pk))
    for place, url in nodes.nodes_to_ask(chain):
        try:
            node = connect(url=url, chain_id=chain.pk)
            check_genesis(node, name=chain.name, genesis_hash=chain.genesis_hash)
            answer = question(node)
        except Web3Exception as error:
            trouble = reason(error)
            log.warning("node skipped", chain=chain.pk, node=place, trouble=trouble)
            if isinstance(error, Trouble):
                nodes.count_failure(chain=chain, place=place, trouble=error)
        else:
            nodes.count_answer(chain=chain, place=place)
            return answer
    raise NodeFailed(trouble)


def check_has(node: Web3, chain: Chain) -> None:
    """Make sure that a node is on the chain that the watcher has read, and as far. Raises Trouble.

    A node that lags behind would not tell of what has left the vault since.
    """
    if header(node, chain.scanned_block).hash != chain.scanned_hash:
        raise MovedMeanwhile("The node is not on the chain that was read.")


def standing(node: Web3, withdrawal: Withdrawal) -> Standing:
    """What the vault says of a withdrawal in the newest block. Raises Trouble."""
    vault, token = withdrawal.token.vault, withdrawal.token.address
    check_has(node, vault.chain)
    head = header(node, "latest")
    if head.number < vault.chain.scanned_block:
        raise BlockUnknown("The node is behind what was read before.")
    at = hex(head.number)
    timestamp = int(head.timestamp.timestamp())

    def ask(view: str, *arguments: str | int) -> int:
        return view_uint(node, vault.address, view, *arguments, block=at)

    spent = ask("withdrawnOn(address,uint256)", token, timestamp // DAY_SECONDS)
    answer = Standing(
        block=head.number,
        timestamp=timestamp,
        signer=Web3.to_checksum_address(f"0x{ask('signer()'):040x}"),
        paused=bool(ask("paused()")),
        used=bool(ask("isUsed(uint256)", withdrawal.voucher)),
        held=_held(node, vault.address, token, at),
        left_today=ask("dailyLimit(address)", token) - spent,
    )
    if header(node, head.number).hash != head.hash:
        raise MovedMeanwhile("The chain was reorganised while it was read.")
    return answer


def _held(node: Web3, vault: str, token: str, at: str) -> int:
    """What the vault holds of a coin, in its smallest unit."""
    if token == NATIVE:
        return quantity(rpc(node, "eth_getBalance", vault, at), digits=64)
    return view_uint(node, token, "balanceOf(address)", vault, block=at)


def view_uint(node: Web3, contract: str, view: str, *arguments: str | int, block: str) -> int:
    """What a view returns in a block, as a number. Raises Trouble, also where no contract is.

    Strict, because "not used" and "nobody there" must never look the same.
    """
    words = [int(a, 16) if isinstance(a, str) else a for a in arguments]
    data = Web3.keccak(text=view)[:4] + b"".join(w.to_bytes(32) for w in words)
    call = {"to": contract, "data": Web3.to_hex(data)}
    return int(word(rpc(node, "eth_call", call, block)), 16)
