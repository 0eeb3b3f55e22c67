"""Wallets: found or made by address, frozen and thawed."""

from django.contrib.auth.hashers import make_password
from eth_utils.address import to_checksum_address

from wallets import ledger
from wallets.db import in_transaction
from wallets.errors import Forbidden, NotFound
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


@in_transaction
def freeze_wallet(*, operator: Wallet, wallet_id: int) -> None:
    """Shut a player out: no login, no new match, no withdrawal. What the player owns stays.

    Raises Forbidden without the permission, NotFound for what is no player.
    """
    _set_active(operator, wallet_id, False)


@in_transaction
def freeze_address(address: str) -> None:
    """Shut a player out at once, by nobody's order, until an operator thaws the wallet.

    A wallet is made for an address that has none, so that it is frozen when the player comes.
    """
    Wallet.objects.filter(pk=wallet_for(address).pk).update(is_active=False)


@in_transaction
def thaw_wallet(*, operator: Wallet, wallet_id: int) -> None:
    """Let a player in again. Raises Forbidden without the permission, NotFound."""
    _set_active(operator, wallet_id, True)


def _set_active(operator: Wallet, wallet_id: int, is_active: bool) -> None:
    if not operator.has_perm("wallets.freeze_wallet"):
        raise Forbidden
    # The row's lock is the one that new matches and withdrawals hold: they come before or after.
    if not Wallet.objects.filter(pk=wallet_id, is_staff=False).update(is_active=is_active):
        raise NotFound
