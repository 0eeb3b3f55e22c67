"""Deploying contracts, and putting a vault on watch."""

from typing import Any

from django.conf import settings
from web3 import Web3
from web3.contract import Contract
from web3.types import TxReceipt

from contracts.artifacts import artifact
from contracts.models import NATIVE, Chain, Token, Vault
from contracts.networks import TESTNETS
from contracts.node import Header, NodeFailed, check_genesis, header
from contracts.tokens import read_coin
from wallets.db import in_transaction


def deploy(node: Web3, deployer: str, name: str, *arguments: Any) -> tuple[Contract, int]:
    """Deploy a built contract from an account that `node` can sign for.

    Returns the contract and the number of its block. Raises NODE_ERRORS.
    """
    built = artifact(name)
    factory = node.eth.contract(abi=built["abi"], bytecode=built["bytecode"])
    receipt = mined(node, factory.constructor(*arguments).transact({"from": deployer}))
    return factory(address=receipt["contractAddress"]), receipt["blockNumber"]


def mined(node: Web3, sent: bytes) -> TxReceipt:
    """The receipt of a mined transaction. Raises NODE_ERRORS, also if it failed."""
    receipt = node.eth.wait_for_transaction_receipt(sent, poll_latency=0.1)
    if receipt["status"] != 1:
        raise NodeFailed(f"The transaction {Web3.to_hex(sent)} failed.")
    return receipt


def watch_vault(
    node: Web3,
    vault: Contract,
    *,
    block: int,
    tokens: tuple[str, ...],
    finality: str = Chain.Finality.CONFIRMATIONS,
) -> Vault:
    """Put a vault that was deployed in `block` on watch, as the one that players are sent to.

    `finality` is the policy of a chain that is not on watch yet. Prices are read from the vault,
    which fixes them for ever. Raises NODE_ERRORS, and ChainStartedOver if the node's chain is
    another one than the one that is on watch.
    """
    coins = [{"address": t, **read_coin(node, vault.address, t)} for t in (NATIVE, *tokens)]
    genesis = header(node, 0)
    known = Chain.objects.filter(pk=settings.CHAIN_ID).first()
    if known:
        check_genesis(node, name=known.name, genesis_hash=known.genesis_hash)
    return _store(vault.address, genesis, header(node, block - 1), coins, finality)


@in_transaction
def _store(
    address: str, genesis: Header, before: Header, coins: list[dict[str, Any]], finality: str
) -> Vault:
    Chain.objects.get_or_create(
        pk=settings.CHAIN_ID,
        defaults={
            "name": TESTNETS.get(settings.CHAIN_ID, f"chain {settings.CHAIN_ID}"),
            "finality": finality,
            "confirmations": settings.CHAIN_CONFIRMATIONS,
            "genesis_hash": genesis.hash,
            "scanned_block": before.number,
            "scanned_hash": before.hash,
            "block_range": settings.CHAIN_MAX_BLOCK_RANGE,
        },
    )
    # Locked, so that no scan can pass the vault's first blocks without having asked about it.
    chain = Chain.objects.select_for_update(no_key=True).get(pk=settings.CHAIN_ID)
    if chain.scanned_block > before.number:
        chain.scanned_block, chain.scanned_hash = before.number, before.hash
        chain.save(update_fields=["scanned_block", "scanned_hash"])
    chain.blocks.update_or_create(
        number=before.number, defaults={"hash": before.hash, "timestamp": before.timestamp}
    )
    chain.vaults.filter(current=True).update(current=False)
    vault, _ = Vault.objects.update_or_create(
        chain=chain,
        address=address,
        defaults={"deployed_block": before.number + 1, "current": True},
    )
    # A chain that started over may have the vault again at the same address, with other prices.
    Token.objects.bulk_create(
        (Token(vault=vault, **c) for c in coins),
        update_conflicts=True,
        unique_fields=["vault", "address"],
        update_fields=["symbol", "decimals", "credit_price"],
    )
    return vault
