"""Deploying contracts, and putting a vault on watch."""

from typing import Any

from django.conf import settings
from web3 import Web3
from web3.contract import Contract

from contracts.artifacts import artifact
from contracts.models import NATIVE, Chain, Token, Vault
from contracts.networks import TESTNETS
from contracts.node import Header, header
from wallets.db import in_transaction


def deploy(node: Web3, deployer: str, name: str, *arguments: Any) -> tuple[Contract, int]:
    """Deploy a built contract from an account that `node` can sign for.

    Returns the contract and the number of its block. Raises NODE_ERRORS.
    """
    built = artifact(name)
    factory = node.eth.contract(abi=built["abi"], bytecode=built["bytecode"])
    sent = factory.constructor(*arguments).transact({"from": deployer})
    receipt = node.eth.wait_for_transaction_receipt(sent)
    return factory(address=receipt["contractAddress"]), receipt["blockNumber"]


def watch_vault(node: Web3, vault: Contract, *, block: int, tokens: tuple[str, ...]) -> Vault:
    """Put a vault that was deployed in `block` on watch, as the one that players are sent to.

    Prices are read from the vault, which fixes them for ever. Raises NODE_ERRORS.
    """
    coins = [
        {**_coin(node, token), "credit_price": vault.functions.creditPrice(token).call()}
        for token in (NATIVE, *tokens)
    ]
    return _store(vault.address, header(node, 0), header(node, block - 1), coins)


def _coin(node: Web3, address: str) -> dict[str, Any]:
    if address == NATIVE:
        return {"address": NATIVE, "symbol": "ETH", "decimals": 18}
    token = node.eth.contract(address=address, abi=artifact("TestToken")["abi"])
    return {
        "address": address,
        "symbol": token.functions.symbol().call()[:32],
        "decimals": token.functions.decimals().call(),
    }


@in_transaction
def _store(address: str, genesis: Header, before: Header, coins: list[dict[str, Any]]) -> Vault:
    chain, _ = Chain.objects.get_or_create(
        pk=settings.CHAIN_ID,
        defaults={
            "name": TESTNETS.get(settings.CHAIN_ID, f"chain {settings.CHAIN_ID}"),
            "confirmations": settings.CHAIN_CONFIRMATIONS,
            "genesis_hash": genesis.hash,
            "scanned_block": before.number,
            "scanned_hash": before.hash,
            "block_range": settings.CHAIN_MAX_BLOCK_RANGE,
        },
    )
    chain.vaults.filter(current=True).update(current=False)
    vault = Vault.objects.create(chain=chain, address=address, deployed_block=before.number + 1)
    Token.objects.bulk_create(Token(vault=vault, **coin) for coin in coins)
    return vault
