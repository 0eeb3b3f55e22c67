"""Who first paid a player's address: two that were first paid by one may be one person.

It needs a node that knows the balances of old blocks. Nothing of a match or of money hangs on it.
"""

from collections.abc import Collection

import structlog
from django.db.models import Count
from eth_utils.address import is_address, to_checksum_address
from web3 import Web3
from web3.exceptions import Web3Exception

from contracts.models import Deposit, Funding
from contracts.node import NodeFailed, connect, quantity, reason, rpc
from wallets.models import Wallet

# Whoever paid more players than this first is an exchange or a faucet, and says nothing of them.
MOST_FUNDED = 5
AT_ONCE = 20
log = structlog.get_logger(__name__)


def first_payer(node: Web3, address: str, *, upto: int) -> str:
    """Who sent the coins that ended an address's having none, in the last block or before it.

    Empty if it had some from the chain's start, or got them from within a contract. Raises Trouble.
    """
    none, some = -1, upto
    while some - none > 1:
        middle = (none + some) // 2
        balance = rpc(node, "eth_getBalance", address, hex(middle))
        none, some = (none, middle) if quantity(balance, digits=64) else (middle, some)
    block = rpc(node, "eth_getBlockByNumber", hex(some), True)
    try:
        payers = [
            sent["from"]
            for sent in block["transactions"]
            if (sent["to"] or "").lower() == address.lower() and int(sent["value"], 16)
        ]
    except (TypeError, KeyError, ValueError, AttributeError):
        raise NodeFailed("The node wrote a block that is none.") from None
    return to_checksum_address(payers[0]) if payers and is_address(payers[0]) else ""


def trace_funding(wallets: Collection[int]) -> int:
    """Look up who first paid these wallets' addresses, a few that are not known yet; how many.

    What can't be looked up now is looked up another time.
    """
    known = Funding.objects.filter(wallet__in=wallets).values_list("wallet", flat=True)
    unknown = sorted(set(wallets) - set(known))[:AT_ONCE]
    traced = 0
    for wallet in Wallet.objects.filter(pk__in=unknown):
        deposit = Deposit.objects.filter(wallet=wallet).select_related("vault").first()
        if deposit is None:
            continue
        try:
            node = connect(chain_id=deposit.vault.chain_id)
            payer = first_payer(node, wallet.address or "", upto=deposit.block_number)
        except Web3Exception as error:
            log.warning("funding not traced", wallet=wallet.pk, reason=reason(error))
            return traced
        Funding.objects.get_or_create(wallet=wallet, defaults={"payer": payer})
        traced += 1
    return traced


def payers_of(wallets: Collection[int]) -> dict[int, str]:
    """Who first paid each of these wallets, where that is known and says something."""
    found = dict(Funding.objects.filter(wallet__in=wallets).values_list("wallet", "payer"))
    few = (
        Funding.objects.filter(payer__in=set(found.values()) - {""})
        .values("payer")
        .annotate(paid=Count("pk"))
        .filter(paid__lte=MOST_FUNDED)
        .values_list("payer", flat=True)
    )
    telling = set(few)
    return {wallet: payer for wallet, payer in found.items() if payer in telling}
