"""Hardhat's node does what Anvil does. All of these tests run on it by BAS_CHAIN_NODE=hardhat."""

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from bas_site.devstack import ChainNode, DevStackError, Hardhat
from bas_site.devstack.chain_nodes import chosen_chain_node
from bas_site.devstack.ports import HOST
from tests.contracts.world import World


@pytest.fixture
def chain(tmp_path: Path) -> Iterator[ChainNode]:
    """A Hardhat node, whichever the other tests run on."""
    with Hardhat(tmp_path) as node:
        yield node


def test_a_deposit_is_credited_and_taken_back_with_its_block(world: World):
    player = world.players[0]
    with world.undone():
        world.deposit(player, 4)
        world.confirm()
        world.scan()
        assert world.credits(player) == 4
    world.mine(5)

    world.scan()

    assert world.credits(player) == 0
    assert world.statuses() == ["orphaned"]


def test_it_listens_on_loopback_only_and_leaves_no_process(tmp_path: Path):
    with Hardhat(tmp_path) as node:
        process = psutil.Process(node.process.pid)
        tree = [process, *process.children(recursive=True)]
        listening = {
            connection.laddr.ip
            for each in tree
            for connection in each.net_connections()
            if connection.status == psutil.CONN_LISTEN
        }
    assert listening == {HOST}
    assert not any(each.is_running() for each in tree)


def test_a_chain_node_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BAS_CHAIN_NODE", "hardhat")
    assert chosen_chain_node() is Hardhat
    monkeypatch.setenv("BAS_CHAIN_NODE", "ganache")
    with pytest.raises(DevStackError, match="BAS_CHAIN_NODE=ganache is none of: anvil, hardhat"):
        chosen_chain_node()
