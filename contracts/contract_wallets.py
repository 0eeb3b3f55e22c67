"""Whether a contract stands by a signature, asked of the chain: EIP-1271, and EIP-6492.

One `eth_call`, which changes nothing on the chain, runs `SignatureCheck` with a bounded amount of
gas and of time. What a contract says holds for the chain that is served here and for no other.
"""

from django.conf import settings
from eth_abi import decode, encode
from eth_abi.exceptions import DecodingError
from web3 import Web3

from contracts.artifacts import artifact
from contracts.node import NodeFailed, Trouble, connect, no_node, rpc, rpc_urls
from wallets.errors import ChainUnavailable

# EIP-6492: what follows a signature that comes wrapped with the call that deploys its contract.
WRAPPED = bytes.fromhex("6492" * 16)
NO_FACTORY = "0x" + "00" * 20
# What `SignatureCheck` answers.
ANSWERS = {"0x00": None, "0x01": True, "0x02": False}


def stands_by(*, address: str, digest: bytes, signature: bytes) -> bool | None:
    """Whether the contract at an address stands by a signature; None if there is no contract.

    `digest` is the 32-byte hash that was signed. The nodes are asked in turn until one answers.
    Raises ChainUnavailable if none does.
    """
    try:
        arguments = _arguments(address, digest, signature)
    except DecodingError:
        return False
    call = {
        "data": artifact("SignatureCheck")["bytecode"] + arguments.hex(),
        "gas": hex(settings.CONTRACT_WALLET_GAS),
    }
    trouble: Trouble = no_node(settings.CHAIN_ID)
    for url in rpc_urls(settings.CHAIN_ID):
        try:
            node = connect(url=url, timeout_seconds=settings.CONTRACT_WALLET_SECONDS)
            return _answer(node, call)
        except Trouble as error:
            trouble = error
    raise ChainUnavailable("It can't be asked now whether this is a contract.") from trouble


def _answer(node: Web3, call: dict[str, str]) -> bool | None:
    answer = rpc(node, "eth_call", call, "latest")
    if not (isinstance(answer, str) and answer in ANSWERS):
        raise NodeFailed("The node answered the check of a signature with nonsense.")
    return ANSWERS[answer]


def _arguments(address: str, digest: bytes, signature: bytes) -> bytes:
    """What `SignatureCheck` is made with. Raises DecodingError for a wrapper that is broken."""
    factory, factory_call = NO_FACTORY, b""
    if signature.endswith(WRAPPED):
        try:
            factory, factory_call, signature = decode(
                ["address", "bytes", "bytes"], signature.removesuffix(WRAPPED)
            )
        except OverflowError as error:
            raise DecodingError("An offset leads beyond any memory.") from error
    return encode(
        ["address", "bytes32", "bytes", "address", "bytes"],
        [address, digest, signature, factory, factory_call],
    )
