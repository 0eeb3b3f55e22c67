from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from web3 import Web3
from web3.contract import Contract

from contracts.deploy import deploy, mined, watch_vault
from contracts.management.deployer import deployer
from contracts.models import Chain, Vault
from contracts.node import (
    NODE_ERRORS,
    check_genesis,
    connect,
    final_block,
    header,
    reason,
)
from contracts.watcher import accept_if_new

# The development stack's test coin: six decimals, as most dollar coins have; a credit costs 1.
TEST_TOKEN = ("Test Dollar", "TUSD", 6)
TEST_TOKEN_PRICE = 10**6
# What each of the node's own accounts gets of it.
TEST_TOKENS_EACH = 10_000 * 10**6


class Command(BaseCommand):
    """Deploys a BasVault and puts it on watch."""

    help = (
        "Deploy a BasVault on the chain CHAIN_ID at CHAIN_RPC_URLS and put it on watch, as the "
        "one that players deposit to. DEPLOYER_PRIVATE_KEY signs, and owns the vault unless "
        "--owner says otherwise. A credit costs CREDIT_PRICE_WEI of the chain's coin, for ever."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Options."""
        parser.add_argument("--owner", help="the vault's owner (default: the deployer)")
        parser.add_argument("--signer", help="signs withdrawal vouchers (default: the deployer)")
        parser.add_argument(
            "--finality",
            choices=Chain.Finality.values,
            default=Chain.Finality.CONFIRMATIONS,
            help="what makes a deposit count on a chain that is not on watch yet: "
            "CHAIN_CONFIRMATIONS blocks, or the node's safe or finalized block",
        )
        parser.add_argument(
            "--dev",
            action="store_true",
            help="a development chain: the node's first account signs, a test ERC-20 is deployed "
            "too, and nothing is done if this chain's vault is already on watch",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Deploy."""
        try:
            node = connect()
            self._check_chain(node, options["finality"])
            if options["dev"] and (vault := self._deployed(node)):
                self.stdout.write(f"The vault is on watch already, at {vault.address}.")
                return
            account = deployer(node, dev=options["dev"])
            owner, signer = options["owner"] or account, options["signer"] or account
            vault, block = deploy(
                node, account, "BasVault", owner, signer, settings.CREDIT_PRICE_WEI
            )
            self.stdout.write(f"BasVault {vault.address} is in block {block}.")
            tokens = (self._test_token(node, account, vault),) if options["dev"] else ()
            watch_vault(node, vault, block=block, tokens=tokens, finality=options["finality"])
        except NODE_ERRORS as error:
            # `from None`: the cause may hold the node's URL.
            raise CommandError(reason(error)) from None
        self.stdout.write(self.style.SUCCESS(f"The vault is deployed at {vault.address}."))

    def _check_chain(self, node: Web3, finality: str) -> None:
        """Make sure that the watcher will be able to read the chain. Raises Trouble."""
        chain = Chain.objects.filter(pk=settings.CHAIN_ID).first()
        policy = chain.finality if chain else finality
        if policy != Chain.Finality.CONFIRMATIONS:
            final_block(node, policy, header(node, "latest"))
        if chain and settings.CHAIN_ACCEPT_NEW:
            accept_if_new(chain, node)

    def _deployed(self, node: Web3) -> Vault | None:
        """The vault on watch, if the chain has it. Raises ChainStartedOver, NODE_ERRORS."""
        vault = (
            Vault.objects.filter(chain=settings.CHAIN_ID, current=True)
            .select_related("chain")
            .first()
        )
        if vault is None:
            return None
        check_genesis(node, name=vault.chain.name, genesis_hash=vault.chain.genesis_hash)
        return vault if node.eth.get_code(vault.address) else None

    def _test_token(self, node: Web3, account: str, vault: Contract) -> str:
        token, _ = deploy(node, account, "TestToken", *TEST_TOKEN)
        allow = vault.functions.allowToken(token.address, TEST_TOKEN_PRICE)
        mined(node, allow.transact({"from": account}))
        for holder in node.eth.accounts:
            gift = token.functions.mint(holder, TEST_TOKENS_EACH)
            mined(node, gift.transact({"from": account}))
        return token.address
