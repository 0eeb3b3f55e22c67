"""A vault on a real chain and on watch, and the few things that a test does to it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from eth_account import Account
from eth_account.signers.local import LocalAccount
from web3 import HTTPProvider, Web3
from web3.contract import Contract

from bas_site.devstack import ChainNode
from contracts.deploy import deploy, watch_vault
from contracts.models import Chain, Deposit
from contracts.watcher import scan
from wallets import ledger
from wallets.models import Wallet

ARTIFACTS = Path(__file__).parents[2] / "contracts" / "artifacts"
PRICE = 10**15
TOKEN_PRICE = 10_000
GAS = 3_000_000
CONFIRMATIONS = 3


def load(name: str) -> dict[str, Any]:
    """The built contract of this name, one of the tests' own included."""
    path = ARTIFACTS / f"{name}.json"
    return json.loads((path if path.exists() else ARTIFACTS / "test" / path.name).read_text())


@dataclass
class World:
    chain_node: ChainNode
    node: Web3
    vault: Contract
    token: Contract
    players: list[str] = field(default_factory=list)

    @property
    def owner(self) -> str:
        return self.node.eth.accounts[0]

    @property
    def chain(self) -> Chain:
        return Chain.objects.get(pk=settings.CHAIN_ID)

    @property
    def head(self) -> int:
        return self.node.eth.block_number

    @property
    def trouble(self) -> str:
        return self.chain.trouble

    def send(self, call: Any, sender: str, value: int = 0) -> Any:
        sent = call.transact({"from": sender, "value": value, "gas": GAS})
        receipt = self.mined(sent)
        assert receipt["status"] == 1
        return receipt

    def mined(self, sent: bytes) -> Any:
        """Wait for a transaction's receipt: Anvil loses blocks if it goes back while it mines."""
        return self.node.eth.wait_for_transaction_receipt(sent, poll_latency=0.01)

    def deploy_test(self, name: str, *args: Any) -> Contract:
        built = load(name)
        factory = self.node.eth.contract(abi=built["abi"], bytecode=built["bytecode"])
        receipt = self.send(factory.constructor(*args), self.owner)
        return factory(address=receipt["contractAddress"])

    def new_vault(self, *tokens: str) -> Contract:
        """Another vault, put on watch in place of the one before."""
        vault, block = deploy(self.node, self.owner, "BasVault", self.owner, self.owner, PRICE)
        for token in tokens:
            self.send(vault.functions.allowToken(token, TOKEN_PRICE), self.owner)
        watch_vault(self.node, vault, block=block, tokens=tokens)
        return vault

    def deposit(self, player: str, credits_: int = 1, vault: Contract | None = None) -> Any:
        call = (vault or self.vault).functions.deposit()
        return self.send(call, player, credits_ * PRICE)

    def deposit_token(
        self,
        player: str,
        amount: int,
        *,
        token: Contract | None = None,
        vault: Contract | None = None,
    ) -> Any:
        token, vault = token or self.token, vault or self.vault
        self.send(token.functions.mint(player, amount), player)
        self.send(token.functions.approve(vault.address, amount), player)
        return self.send(vault.functions.depositToken(token.address, amount), player)

    def signed_deposit(self, signer: LocalAccount, credits_: int = 1) -> bytes:
        """A deposit that can be sent again after the chain forgot it."""
        fields = self.vault.functions.deposit().build_transaction(
            {
                "from": signer.address,
                "value": credits_ * PRICE,
                "gas": GAS,
                "gasPrice": 10**10,
                "nonce": 0,
                "chainId": settings.CHAIN_ID,
            }
        )
        return bytes(signer.sign_transaction(fields).raw_transaction)

    def send_raw(self, raw: bytes) -> Any:
        return self.mined(self.node.eth.send_raw_transaction(raw))

    def newcomer(self) -> LocalAccount:
        """Somebody with coins and a key of their own."""
        account: LocalAccount = Account.create()
        self.chain_node.set_balance(account.address, 10**21)
        return account

    def mine(self, blocks: int = 1) -> None:
        self.chain_node.mine(blocks)

    def confirm(self) -> None:
        """Give what is in the head block its last confirmation."""
        self.mine(CONFIRMATIONS - 1)

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Take back all that happens inside; blocks mined later are others than those."""
        snapshot = self.chain_node.rpc("evm_snapshot")
        yield
        assert self.chain_node.rpc("evm_revert", snapshot)
        self.chain_node.rpc("evm_increaseTime", 1_000)

    def scan(self) -> None:
        """Scan, and expect no trouble."""
        assert scan(settings.CHAIN_ID)
        assert self.trouble == ""

    def failing_scan(self) -> str:
        """Scan, and return the trouble that it must have met."""
        assert scan(settings.CHAIN_ID)
        assert self.trouble
        return self.trouble

    def credits(self, player: str) -> int:
        wallet = Wallet.objects.filter(address=player).first()
        return ledger.balance(ledger.player_account(wallet)) if wallet else 0

    def statuses(self) -> list[str]:
        return list(Deposit.objects.order_by("id").values_list("status", flat=True))


def new_world(chain_node: ChainNode) -> World:
    node = Web3(HTTPProvider(chain_node.url))
    owner, *players = node.eth.accounts
    vault, block = deploy(node, owner, "BasVault", owner, owner, PRICE)
    token, _ = deploy(node, owner, "TestToken", "Test dollar", "TUSD", 6)
    world = World(chain_node, node, vault, token, players)
    world.send(vault.functions.allowToken(token.address, TOKEN_PRICE), owner)
    watch_vault(node, vault, block=block, tokens=(token.address,))
    return world
