"""The coins that a vault takes, as the chain describes them."""

from typing import Any

from web3 import Web3
from web3.exceptions import BadFunctionCallOutput, ContractLogicError, Web3RPCError

from contracts.artifacts import artifact
from contracts.models import NATIVE, Token, Vault
from contracts.node import NodeFailed, read_uint

SYMBOL_LENGTH = 32

# What a contract that has no such view, or has it in another form, makes web3 raise.
NOT_SAID = (BadFunctionCallOutput, ContractLogicError, Web3RPCError, UnicodeError)


def learn_token(node: Web3, vault: Vault, address: str) -> Token:
    """The token of a vault; read from the chain, price included, if it is not known yet.

    The vault's owner may allow a token at any time, and never change its price. Raises Trouble.
    """
    if known := vault.tokens.filter(address=address).first():
        return known
    coin = read_coin(node, vault.address, address)
    token, _ = Token.objects.get_or_create(vault=vault, address=address, defaults=coin)
    return token


def read_coin(node: Web3, vault: str, address: str) -> dict[str, Any]:
    """A coin's fields as the chain has them. Raises Trouble."""
    price = read_uint(node, vault, "creditPrice(address)", address)
    if price == 0:
        # Not in the block that the node answers from: it is behind, or the chain was reorganised.
        raise NodeFailed(f"The node knows no price for the coin {address}.")
    if address == NATIVE:
        return {"credit_price": price, "symbol": "ETH", "decimals": 18}
    return {"credit_price": price, **_description(node, address)}


def _description(node: Web3, address: str) -> dict[str, Any]:
    """Symbol and decimals, which ERC-20 leaves optional, made fit to be shown.

    They only ever describe: no credit depends on them, so a token without them is as good.
    """
    views = node.eth.contract(address=address, abi=artifact("TestToken")["abi"]).functions
    try:
        symbol = "".join(c for c in views.symbol().call() if c.isprintable())[:SYMBOL_LENGTH]
    except NOT_SAID:
        symbol = ""
    try:
        decimals = views.decimals().call()
    except NOT_SAID:
        decimals = 0
    return {"symbol": symbol or address[:10], "decimals": decimals}
