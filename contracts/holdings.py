"""What the vaults hold on the chain. No database transaction may be open meanwhile."""

from django.utils import timezone
from web3 import Web3

from contracts.models import NATIVE, Chain, Token
from contracts.node import connect, read_uint


def held_by(chain: Chain) -> dict[Token, int]:
    """What the vaults of a chain hold of each coin, in its smallest unit. Raises NODE_ERRORS."""
    node = connect(chain_id=chain.pk)
    tokens = Token.objects.filter(vault__chain=chain).select_related("vault")
    return {token: _held(node, token) for token in tokens}


def note_holdings(chain: Chain) -> None:
    """Write down what the vaults hold, for operators to see. Raises NODE_ERRORS."""
    for token, held in held_by(chain).items():
        Token.objects.filter(pk=token.pk).update(held=held, held_at=timezone.now())


def _held(node: Web3, token: Token) -> int:
    if token.address == NATIVE:
        return node.eth.get_balance(token.vault.address)
    # Nothing where there is no such contract: on a chain that started over.
    return read_uint(node, token.address, "balanceOf(address)", token.vault.address)
