from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from web3 import Web3

from contracts.artifacts import artifact
from contracts.deploy import mined
from contracts.management.deployer import deployer
from contracts.models import Vault
from contracts.node import NODE_ERRORS, check_genesis, connect, reason


class Command(BaseCommand):
    """Sets a vault's signer and daily limits."""

    help = (
        "Set who signs vouchers of the vault that players are sent to, and how many credits' "
        "worth of each of its coins may leave in a UTC day. DEPLOYER_PRIVATE_KEY signs, and must "
        "be the vault's owner. What is set already is left alone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Options."""
        parser.add_argument("--signer", help="the signer's address; the zero address voids all")
        parser.add_argument("--daily-credits", type=int, help="0 lets nothing leave")
        parser.add_argument("--dev", action="store_true", help="the node's first account signs")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Send what differs from what the vault has."""
        signer, credits_ = options["signer"], options["daily_credits"]
        if signer and not Web3.is_address(signer):
            raise CommandError("--signer is not an address.")
        if credits_ is not None and credits_ < 0:
            raise CommandError("--daily-credits can't be below zero.")
        vault = Vault.objects.filter(chain=settings.CHAIN_ID, current=True).first()
        if vault is None:
            raise CommandError("No vault has been deployed yet.")
        try:
            node = connect()
            check_genesis(node, name=vault.chain.name, genesis_hash=vault.chain.genesis_hash)
            self._set(node, vault, signer, credits_, deployer(node, dev=options["dev"]))
        except NODE_ERRORS as error:
            # `from None`: the cause may hold the node's URL.
            raise CommandError(reason(error)) from None

    def _set(
        self, node: Web3, vault: Vault, signer: str | None, credits_: int | None, owner: str
    ) -> None:
        contract = node.eth.contract(address=vault.address, abi=artifact("BasVault")["abi"])
        views = contract.functions
        if signer and views.signer().call() != Web3.to_checksum_address(signer):
            call = views.setSigner(Web3.to_checksum_address(signer))
            mined(node, call.transact({"from": owner}))
            self.stdout.write(f"{signer} signs from now on; older vouchers are void.")
        for token in vault.tokens.all() if credits_ is not None else ():
            limit = credits_ * token.credit_price
            if views.dailyLimit(token.address).call() != limit:
                call = views.setDailyLimit(token.address, limit)
                mined(node, call.transact({"from": owner}))
                self.stdout.write(f"{credits_} credits' worth of {token} may leave in a day.")
