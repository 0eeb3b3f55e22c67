"""Who signs the transactions of the commands that deploy and set up vaults."""

from django.conf import settings
from django.core.management.base import CommandError
from eth_account import Account
from eth_utils.exceptions import ValidationError
from web3 import Web3
from web3.middleware import SignAndSendRawMiddlewareBuilder


def deployer(node: Web3, *, dev: bool) -> str:
    """The address that `node` signs for from now on: DEPLOYER_PRIVATE_KEY's, or with `dev` the
    node's own first account. Raises CommandError, and never shows a key."""
    if dev:
        if accounts := node.eth.accounts:
            return accounts[0]
        raise CommandError("This node signs for nobody; --dev is for development chains.")
    if not settings.DEPLOYER_PRIVATE_KEY:
        raise CommandError("Set DEPLOYER_PRIVATE_KEY, or use --dev on a development chain.")
    try:
        account = Account.from_key(settings.DEPLOYER_PRIVATE_KEY)
    except (ValueError, ValidationError):
        raise CommandError("DEPLOYER_PRIVATE_KEY is not a private key (0x, 64 digits).") from None
    node.middleware_onion.inject(SignAndSendRawMiddlewareBuilder.build(account), layer=0)
    return account.address
