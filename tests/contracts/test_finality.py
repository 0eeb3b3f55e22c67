from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from bas_site.devstack import ChainNode, Hardhat
from bas_site.devstack.chain_nodes import chosen_chain_node
from contracts.models import Chain
from tests.contracts.rpc_proxy import (
    Fault,
    Json,
    RpcProxy,
    edited,
    result,
    rpc_error,
    running_proxy,
)
from tests.contracts.world import World

# How far below its head Anvil names a block safe, or finalized.
DEPTHS = {"safe": 32, "finalized": 64}
on_anvil = pytest.mark.skipif(
    chosen_chain_node() is Hardhat, reason="Hardhat calls its newest block safe, and finalized"
)


def of_tag(tag: str, fault: Fault) -> Fault:
    """A fault for questions about a tagged block alone."""

    def answer(request: Json, forward: Any) -> Any:
        return fault(request, forward) if request["params"][0] == tag else forward()

    return answer


@on_anvil
@pytest.mark.parametrize("tag", DEPTHS)
def test_a_deposit_counts_with_the_nodes_tag_and_not_one_block_earlier(world: World, tag: str):
    Chain.objects.update(finality=tag, confirmations=1)
    world.deposit(world.players[0], 4)
    world.mine(DEPTHS[tag] - 1)
    world.scan()
    assert world.statuses() == ["pending"]
    world.mine()

    world.scan()

    assert world.statuses() == ["credited"]
    assert world.credits(world.players[0]) == 4
    assert world.chain.final_block == world.head - DEPTHS[tag]


@on_anvil
def test_the_policy_may_be_changed_at_any_time(world: World):
    Chain.objects.update(finality="finalized")
    world.deposit(world.players[0], 4)
    world.confirm()
    world.scan()
    assert world.statuses() == ["pending"]

    Chain.objects.update(finality="confirmations")
    world.scan()

    assert world.statuses() == ["credited"]


@pytest.mark.parametrize("fault", [rpc_error(-32602, "invalid block tag"), result(None)])
def test_a_node_that_does_not_know_the_tag_is_told_of_and_nothing_counts(
    world: World, proxy: RpcProxy, fault: Fault
):
    Chain.objects.update(finality="safe")
    world.deposit(world.players[0], 4)
    world.mine(100)
    proxy.always("eth_getBlockByNumber", of_tag("safe", fault))

    trouble = world.failing_scan()

    assert trouble == (
        "The node knows no safe block. Use another node, or set the chain's finality to "
        "confirmations."
    )
    assert world.credits(world.players[0]) == 0
    assert world.chain.nodes.get().failures == {"unknown_tag": 1}
    proxy.heal()
    world.scan()
    assert world.credits(world.players[0]) == 4


@pytest.mark.parametrize(
    "lie", [{"number": hex(10**9)}, {"hash": "0x" + "11" * 32}, {"number": hex(2)}], ids=str
)
def test_a_tag_that_is_not_on_the_nodes_own_chain_is_not_believed(
    world: World, proxy: RpcProxy, lie: dict[str, str]
):
    Chain.objects.update(finality="safe")
    world.deposit(world.players[0], 4)
    proxy.always("eth_getBlockByNumber", of_tag("safe", edited(lambda block: block | lie)))

    assert world.failing_scan() == "The node names a safe block that is not on its chain."

    assert world.credits(world.players[0]) == 0


@pytest.mark.django_db
def test_deploy_vault_sets_the_policy_where_the_node_knows_the_tag(chain: ChainNode, settings: Any):
    with running_proxy(chain.url) as proxy:
        settings.CHAIN_RPC_URLS = [proxy.url]
        proxy.always(
            "eth_getBlockByNumber", of_tag("finalized", rpc_error(-32602, "unknown block tag"))
        )
        with pytest.raises(CommandError, match="knows no finalized block"):
            call_command("deploy_vault", "--dev", "--finality", "finalized", stdout=StringIO())
        assert not Chain.objects.exists()
        assert "eth_sendTransaction" not in proxy.calls
        proxy.heal()
        call_command("deploy_vault", "--dev", "--finality", "finalized", stdout=StringIO())
    assert Chain.objects.get().finality == "finalized"
