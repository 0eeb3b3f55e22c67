import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from bas_site.devstack import ChainNode
from contracts.models import Chain, Token, Vault
from contracts.networks import REAL_MONEY_CONSENT
from contracts.watcher import scan
from tests.contracts.rpc_proxy import KEY, http_status, result, running_proxy
from tests.contracts.world import World, new_world

pytestmark = pytest.mark.django_db
PROJECT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _settings(chain: ChainNode, settings: Any) -> None:
    settings.CHAIN_RPC_URLS = [chain.url]
    settings.CHAIN_ACCEPT_NEW = False
    settings.DEPLOYER_PRIVATE_KEY = ""


def deploy_vault(*options: str) -> str:
    out = StringIO()
    call_command("deploy_vault", *options, stdout=out)
    return out.getvalue()


def test_dev_deploys_a_vault_and_a_test_token_and_puts_both_on_watch(settings: Any):
    assert "The vault is deployed at 0x" in deploy_vault("--dev")

    vault = Vault.objects.get()
    assert vault.current
    assert set(vault.tokens.values_list("symbol", "decimals", "credit_price")) == {
        ("ETH", 18, settings.CREDIT_PRICE_WEI),
        ("TUSD", 6, 10**6),
    }
    chain = Chain.objects.get()
    assert (chain.pk, chain.name) == (31337, "Anvil or Hardhat")
    assert chain.scanned_block == vault.deployed_block - 1
    assert scan(chain.pk)
    chain.refresh_from_db()
    assert chain.trouble == ""


def test_dev_does_nothing_the_second_time(chain: ChainNode):
    deploy_vault("--dev")
    head = chain.rpc("eth_blockNumber")

    said = deploy_vault("--dev")

    assert said == f"The vault is on watch already, at {Vault.objects.get().address}.\n"
    assert chain.rpc("eth_blockNumber") == head


def test_dev_deploys_again_where_the_chain_lost_its_vault(chain: ChainNode):
    snapshot = chain.rpc("evm_snapshot")
    deploy_vault("--dev")
    chain.rpc("evm_revert", snapshot)

    deploy_vault("--dev")

    # The same account's first contract again: at the same address.
    assert Vault.objects.get().current
    assert Token.objects.count() == 2
    assert deploy_vault("--dev").startswith("The vault is on watch already")


def test_dev_refuses_a_chain_that_started_over(chain: ChainNode):
    deploy_vault("--dev")
    Chain.objects.update(genesis_hash="0x" + "ab" * 32)

    with pytest.raises(CommandError, match="This is not the chain that Anvil or Hardhat was"):
        deploy_vault("--dev")
    with pytest.raises(CommandError, match="This is not the chain"):
        new_vault_with_key(chain)


def new_vault_with_key(chain: ChainNode) -> str:
    from django.conf import settings
    from eth_account import Account

    account = Account.create()
    chain.set_balance(account.address, 10**20)
    settings.DEPLOYER_PRIVATE_KEY = account.key.hex()
    deploy_vault("--signer", "0x" + "11" * 20)
    return str(account.address)


def test_without_a_key_it_says_what_to_do():
    with pytest.raises(CommandError, match="Set DEPLOYER_PRIVATE_KEY, or use --dev"):
        deploy_vault()

    assert not Vault.objects.exists()


def test_a_key_that_is_none_is_never_shown(settings: Any):
    settings.DEPLOYER_PRIVATE_KEY = "0xsecret"

    with pytest.raises(CommandError, match="is not a private key") as refusal:
        deploy_vault()

    assert "secret" not in str(refusal.value)
    assert refusal.value.__suppress_context__


def test_with_a_key_the_vault_belongs_to_it(chain: ChainNode, settings: Any):
    deployer = new_vault_with_key(chain)

    world = World(chain, *_node_and_vault(chain), None)  # type: ignore[arg-type]
    assert world.vault.functions.owner().call() == deployer
    assert world.vault.functions.signer().call() == "0x" + "11" * 20
    assert list(Token.objects.values_list("symbol", flat=True)) == ["ETH"]


def _node_and_vault(chain: ChainNode) -> tuple[Any, Any]:
    from web3 import HTTPProvider, Web3

    from contracts.artifacts import artifact

    node = Web3(HTTPProvider(chain.url))
    vault = Vault.objects.get(current=True)
    return node, node.eth.contract(address=vault.address, abi=artifact("BasVault")["abi"])


def test_a_second_vault_takes_the_place_of_the_first(chain: ChainNode, settings: Any):
    new_world(chain)
    new_vault_with_key(chain)

    assert [v.current for v in Vault.objects.order_by("id")] == [False, True]
    assert Chain.objects.count() == 1


def test_a_deployer_without_coins_is_told_without_the_nodes_url(chain: ChainNode, settings: Any):
    settings.DEPLOYER_PRIVATE_KEY = "0x" + "42" * 32

    with pytest.raises(CommandError):
        deploy_vault()

    assert not Vault.objects.exists()


def test_faults_of_the_node_are_told_without_its_url(chain: ChainNode, settings: Any):
    with running_proxy(chain.url) as proxy:
        settings.CHAIN_RPC_URLS = [proxy.url]
        for method in ("eth_chainId", "eth_sendTransaction", "eth_getTransactionReceipt"):
            proxy.always(method, http_status(503))
            with pytest.raises(CommandError, match="with HTTP 503") as refusal:
                deploy_vault("--dev")
            assert KEY not in str(refusal.value)
            assert refusal.value.__suppress_context__
            proxy.heal()
        proxy.always("eth_chainId", result("0x1"))
        with pytest.raises(CommandError, match="serves chain 1, not 31337"):
            deploy_vault("--dev")
        proxy.heal()
        proxy.always("eth_accounts", result([]))
        with pytest.raises(CommandError, match="signs for nobody"):
            deploy_vault("--dev")


def start(**env: str) -> subprocess.CompletedProcess[str]:
    """Start the site's settings with these in the environment."""
    return subprocess.run(
        [sys.executable, "-c", "import bas_site.settings"],
        cwd=PROJECT,
        env={"PATH": os.environ["PATH"], "BAS_ENV": "development", "DATABASE_URL": "postgres://x/y"}
        | env,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("chain_id", ["1", "8453", "424242"])
def test_a_chain_of_real_money_is_refused_at_the_start(chain_id: str):
    done = start(CHAIN_ID=chain_id)

    assert done.returncode != 0
    assert f"CHAIN_ID {chain_id} is not a known testnet." in done.stderr
    assert REAL_MONEY_CONSENT in done.stderr


def test_real_money_is_let_in_by_nothing_but_the_whole_sentence():
    assert start(CHAIN_ID="1", REAL_MONEY="true").returncode != 0
    assert start(CHAIN_ID="1", REAL_MONEY=REAL_MONEY_CONSENT).returncode == 0
    assert start(CHAIN_ID="11155111").returncode == 0
