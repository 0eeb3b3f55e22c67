from collections.abc import Iterator
from typing import Any

import pytest

from bas_site.devstack import ChainNode
from contracts import nodes
from tests.contracts.rpc_proxy import RpcProxy, running_proxy
from tests.contracts.withdraw_world import House, new_house
from tests.contracts.world import CONFIRMATIONS, World, new_world


@pytest.fixture
def world(chain: ChainNode, settings: Any, db: None, monkeypatch: pytest.MonkeyPatch) -> World:
    """A fresh vault, on watch."""
    # A node that failed is asked again at once, unless a test is about its rest.
    monkeypatch.setattr(nodes, "FIRST_REST_SECONDS", 0)
    settings.CHAIN_ACCEPT_NEW = False
    settings.CHAIN_RPC_URLS = [chain.url]
    settings.CHAIN_CONFIRMATIONS = CONFIRMATIONS
    return new_world(chain)


@pytest.fixture
def proxy(world: World, settings: Any) -> Iterator[RpcProxy]:
    """What stands between the watcher and the node."""
    with running_proxy(world.chain_node.url) as running:
        settings.CHAIN_RPC_URLS = [running.url]
        # Longer than any answer takes on a busy machine; a test of time-outs takes a short one.
        settings.CHAIN_RPC_TIMEOUT_SECONDS = 10
        yield running


@pytest.fixture
def house(world: World) -> House:
    return new_house(world)


@pytest.fixture
def ann(house: House) -> str:
    """A player with ten credits."""
    player = house.world.players[0]
    house.fund(player, 10)
    return player
