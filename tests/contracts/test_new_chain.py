from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from web3 import Web3

from bas_site.devstack import ChainNode
from bas_site.devstack.chain_nodes import chosen_chain_node
from contracts.audit import CHECKS
from contracts.models import Deposit, Token, Vault
from tests.contracts.rpc_proxy import RpcProxy, edited
from tests.contracts.world import PRICE, World, new_world
from wallets.audit import Since


@pytest.fixture
def other(world: World, tmp_path: Path) -> Iterator[ChainNode]:
    """Another chain of the same id, for the one that is on watch to be replaced by."""
    with chosen_chain_node()(tmp_path, keep=False) as node:
        node.mine(50)
        yield node


def watch_chain(*options: str) -> str:
    out = StringIO()
    call_command("watch_chain", "--once", *options, stdout=out)
    return out.getvalue()


def credited(world: World) -> str:
    player: str = world.players[0]
    world.deposit(player, 4)
    world.confirm()
    world.scan()
    assert world.credits(player) == 4
    return player


def test_nothing_happens_to_the_books_until_an_operator_accepts_the_new_chain(
    world: World, other: ChainNode, settings: Any
):
    player = credited(world)
    old = world.chain
    settings.CHAIN_RPC_URLS = [other.url]

    with pytest.raises(CommandError, match="This is not the chain that Anvil or Hardhat was"):
        watch_chain()

    assert world.credits(player) == 4
    assert world.chain.genesis_hash == old.genesis_hash
    assert world.chain.scanned_hash == old.scanned_hash
    assert "--accept-new-chain" in world.trouble


def test_the_operators_word_takes_the_old_chains_deposits_back_and_reads_the_new_one(
    world: World, other: ChainNode, settings: Any
):
    player = credited(world)
    settings.CHAIN_RPC_URLS = [other.url]

    assert "At the head, block 50." in watch_chain("--accept-new-chain")

    assert world.statuses() == ["orphaned"]
    assert world.credits(player) == 0
    assert world.trouble == ""
    genesis = Web3(Web3.HTTPProvider(other.url)).eth.get_block(0)["hash"].to_0x_hex()
    assert world.chain.genesis_hash == genesis
    assert [check.truth for check in CHECKS if check.find(Since())] == []
    # It is the chain on watch now: no more words are needed, and the old one is refused.
    watch_chain()
    settings.CHAIN_RPC_URLS = [world.chain_node.url]
    assert "first block differs" in world.failing_scan()


def test_deposits_of_the_new_chain_count_like_any(world: World, other: ChainNode, settings: Any):
    credited(world)
    settings.CHAIN_RPC_URLS = [other.url]
    watch_chain("--accept-new-chain")
    there = new_world(other)
    there.deposit(there.players[1], 7)
    there.confirm()

    there.scan()

    assert there.credits(there.players[1]) == 7
    assert world.statuses() == ["orphaned", "credited"]


def test_a_vault_that_is_back_at_its_address_with_another_price_has_that_price(
    world: World, other: ChainNode, settings: Any
):
    credited(world)
    Vault.objects.update(address=world.vault.address)
    Token.objects.filter(address="0x" + "00" * 20).update(credit_price=PRICE * 2)
    settings.CHAIN_RPC_URLS = [other.url]
    watch_chain("--accept-new-chain")
    there = new_world(other)
    assert there.vault.address == world.vault.address or Vault.objects.count() == 2

    native = Token.objects.get(vault__address=there.vault.address, address="0x" + "00" * 20)
    assert native.credit_price == PRICE


def test_a_development_chain_is_accepted_by_itself(world: World, other: ChainNode, settings: Any):
    player = credited(world)
    settings.CHAIN_RPC_URLS = [other.url]
    settings.CHAIN_ACCEPT_NEW = True

    world.scan()

    assert world.statuses() == ["orphaned"]
    assert world.credits(player) == 0


def test_deploy_vault_accepts_a_development_chain_that_started_over(
    world: World, other: ChainNode, settings: Any
):
    credited(world)
    settings.CHAIN_RPC_URLS = [other.url]
    settings.CHAIN_ACCEPT_NEW = True

    out = StringIO()
    call_command("deploy_vault", "--dev", stdout=out)

    assert "The vault is deployed at 0x" in out.getvalue()
    assert Deposit.objects.get().status == "orphaned"
    world.scan()


def test_a_word_for_a_chain_that_did_not_start_over_changes_nothing(world: World):
    player = credited(world)

    watch_chain("--accept-new-chain")

    assert world.statuses() == ["credited"]
    assert world.credits(player) == 4


def test_a_node_whose_first_block_makes_no_sense_is_no_new_chain(world: World, proxy: RpcProxy):
    credited(world)
    proxy.once("eth_getBlockByNumber", edited(lambda block: block | {"hash": "0x1"}))

    with pytest.raises(CommandError, match="a hash that is none"):
        watch_chain("--accept-new-chain")

    assert world.statuses() == ["credited"]
