"""Wallets: found or made by address."""

from django.contrib.auth.hashers import make_password
from eth_utils.address import to_checksum_address

from wallets import ledger
from wallets.db import in_transaction
from wallets.models import Wallet


@in_transaction
def wallet_for(address: str) -> Wallet:
    """The wallet of an address in any casing; made, with an empty account, if it is new."""
    wallet, created = Wallet.objects.get_or_create(
        address=to_checksum_address(address), defaults={"password": make_password(None)}
    )
    if created:
        ledger.player_account(wallet)
    return wallet
