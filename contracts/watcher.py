"""The watcher: reads the vaults' events from the chain and turns confirmed deposits into credits.

A scan goes from the cursor to the head in bounded ranges. Blocks are known by number *and* hash: a
scan first makes sure that the chain still has the block it stopped at, goes back to the newest one
that it still has if not, and takes back what fell out. Any scan may die at any point: what it
stored is whole, and the next one goes on from there.
"""

from collections.abc import Iterator
from typing import Any

import pglock
import structlog
from django.conf import settings
from django.utils import timezone
from eth_utils.address import to_checksum_address
from web3 import Web3
from web3.types import LogReceipt

from contracts.artifacts import artifact
from contracts.models import Block, Chain, Deposit, Vault
from contracts.node import NODE_ERRORS, Header, WrongChain, connect, header, reason
from wallets import ledger
from wallets.accounts import wallet_for
from wallets.db import in_transaction

log = structlog.get_logger(__name__)


class ChainStartedOver(Exception):
    """The genesis block is not the one that this chain was set up with."""


class MovedMeanwhile(Exception):
    """The chain was reorganised while it was read; the next scan reads it again."""


def scan(chain_id: int) -> bool:
    """Scan a chain from its cursor to its head and credit what is confirmed.

    Single-flight by an advisory lock: False, with nothing done, if a scan runs already or the chain
    is paused. What goes wrong with the node is kept in `Chain.trouble` and logged, not raised.
    """
    with pglock.advisory(f"scan chain {chain_id}", timeout=0) as acquired:
        chain = Chain.objects.get(pk=chain_id)
        if not acquired or chain.paused:
            return False
        try:
            _scan(chain, connect())
            trouble = ""
        except (WrongChain, ChainStartedOver, MovedMeanwhile, *NODE_ERRORS) as error:
            ours = isinstance(error, ChainStartedOver | MovedMeanwhile)
            trouble = str(error) if ours else reason(error)
            log.warning("scan stopped", chain=chain_id, trouble=trouble)
        Chain.objects.filter(pk=chain_id).update(trouble=trouble, scanned_at=timezone.now())
        return True


def _scan(chain: Chain, node: Web3) -> None:
    if header(node, 0).hash != chain.genesis_hash:
        raise ChainStartedOver(
            f"This is not the chain that {chain.name} was set up with: its first block differs."
        )
    head = header(node, "latest")
    Chain.objects.filter(pk=chain.pk).update(head_block=head.number)
    _rewind_if_reorganised(chain, node, head)
    for first, last in _ranges(chain, head.number):
        _read_range(chain, node, first, last)
    credit_confirmed(chain, head.number)


def _rewind_if_reorganised(chain: Chain, node: Web3, head: Header) -> None:
    """Move the cursor back to the newest block that the chain still has."""

    def is_on_chain(number: int, block_hash: str) -> bool:
        return number <= head.number and header(node, number).hash == block_hash

    if is_on_chain(chain.scanned_block, chain.scanned_hash):
        return
    known = chain.blocks.filter(number__lt=chain.scanned_block).order_by("-number")
    ancestor = next(
        (b for b in known.iterator() if is_on_chain(b.number, b.hash)),
        Block(number=0, hash=chain.genesis_hash),
    )
    log.warning("reorganised", chain=chain.pk, was=chain.scanned_block, back_to=ancestor.number)
    _rewind(chain, ancestor.number, ancestor.hash)


@in_transaction
def _rewind(chain: Chain, number: int, block_hash: str) -> None:
    """Take back every deposit above a block, and read on from there."""
    fallen = Deposit.objects.select_for_update(no_key=True).filter(
        vault__chain=chain, block_number__gt=number
    )
    for deposit in fallen.exclude(status=Deposit.Status.ORPHANED).order_by("id"):
        if deposit.status == Deposit.Status.CREDITED:
            ledger.take_back(transfer=deposit.transfer, key=f"{_cause(deposit)}:reversed")
        deposit.status = Deposit.Status.ORPHANED
        deposit.save()
    chain.blocks.filter(number__gt=number).delete()
    chain.scanned_block, chain.scanned_hash = number, block_hash
    chain.save(update_fields=["scanned_block", "scanned_hash"])


def _ranges(chain: Chain, head: int) -> Iterator[tuple[int, int]]:
    """Ranges of blocks from the cursor to the head, of the size that the node takes now."""
    while chain.scanned_block < head:
        first = chain.scanned_block + 1
        yield first, min(head, first + chain.block_range - 1)


def _read_range(chain: Chain, node: Web3, first: int, last: int) -> None:
    """Store the deposits of a range of blocks, and move the cursor to its end."""
    vaults = {vault.address: vault for vault in chain.vaults.prefetch_related("tokens")}
    before = header(node, last)
    try:
        logs = _logs(node, list(vaults), first, last)
    except NODE_ERRORS:
        # Too much for the node, perhaps: ask for less next time.
        _resize(chain, chain.block_range // 2)
        raise
    # The same last block before and after: so these are the logs of its chain, and of no other.
    if header(node, last) != before:
        raise MovedMeanwhile("The chain was reorganised while it was read.")
    _store(chain, vaults, before, logs)
    _resize(chain, chain.block_range * 2)


def _resize(chain: Chain, blocks: int) -> None:
    chain.block_range = max(1, min(blocks, settings.CHAIN_MAX_BLOCK_RANGE))
    chain.save(update_fields=["block_range"])


def _logs(node: Web3, addresses: list[str], first: int, last: int) -> list[LogReceipt]:
    if not addresses:
        return []
    return node.eth.get_logs(
        {
            "address": [to_checksum_address(address) for address in addresses],
            "topics": [_event().topic],
            "fromBlock": first,
            "toBlock": last,
        }
    )


def _event() -> Any:
    return Web3().eth.contract(abi=artifact("BasVault")["abi"]).events.Deposited()


@in_transaction
def _store(chain: Chain, vaults: dict[str, Vault], last: Header, logs: list[LogReceipt]) -> None:
    event = _event()
    for entry in logs:
        seen = event.process_log(entry)
        vault = vaults[seen["address"]]
        token = next(t for t in vault.tokens.all() if t.address == seen["args"]["token"])
        amount = seen["args"]["amount"]
        worth = amount // token.credit_price
        Deposit.objects.get_or_create(
            vault=vault,
            block_hash=seen["blockHash"].to_0x_hex(),
            log_index=seen["logIndex"],
            defaults={
                "token": token,
                "wallet": wallet_for(seen["args"]["player"]),
                "number": seen["args"]["id"],
                "amount": amount,
                "credits": worth,
                "tx_hash": seen["transactionHash"].to_0x_hex(),
                "block_number": seen["blockNumber"],
                "status": Deposit.Status.PENDING if worth else Deposit.Status.WORTHLESS,
            },
        )
    chain.blocks.update_or_create(
        number=last.number, defaults={"hash": last.hash, "timestamp": last.timestamp}
    )
    chain.scanned_block, chain.scanned_hash = last.number, last.hash
    chain.save(update_fields=["scanned_block", "scanned_hash"])


def credit_confirmed(chain: Chain, head: int) -> int:
    """Mint the credits of each deposit that has its confirmations; how many there were."""
    ripe = Deposit.objects.filter(
        vault__chain=chain,
        status=Deposit.Status.PENDING,
        block_number__lte=head - chain.confirmations + 1,
    ).order_by("id")
    return sum(_credit(pk) for pk in ripe.values_list("pk", flat=True))


@in_transaction
def _credit(deposit_id: int) -> bool:
    """Mint a deposit's credits, in the transaction that marks it credited."""
    deposit = Deposit.objects.select_for_update(no_key=True).get(pk=deposit_id)
    if deposit.status != Deposit.Status.PENDING:
        return False
    receipt = ledger.mint(wallet=deposit.wallet, credits_=deposit.credits, key=_cause(deposit))
    deposit.transfer_id = receipt.transfer_id
    deposit.status = Deposit.Status.CREDITED
    deposit.credited_at = timezone.now()
    deposit.save()
    log.info("deposit credited", deposit=deposit.pk, credits=str(deposit.credits))
    return True


def _cause(deposit: Deposit) -> str:
    """The ledger's key of a deposit. The block's hash is part of it: a transaction that a reorg
    moves to another block is another cause, credited anew after the first was taken back."""
    return (
        f"deposit:{deposit.vault.chain_id}:{deposit.tx_hash}:{deposit.log_index}:"
        f"{deposit.block_hash}"
    )
