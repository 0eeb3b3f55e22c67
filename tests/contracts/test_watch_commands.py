import io
import itertools
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from prometheus_client import CollectorRegistry, generate_latest

from contracts import watcher
from contracts.metrics import ChainCollector
from contracts.models import Chain, Deposit
from tests.contracts.rpc_proxy import KEY, RpcProxy, edited, http_status, result, running_proxy
from tests.contracts.withdraw_world import House
from tests.contracts.world import World
from wallets.models import Transfer


def run(command: str, *options: Any) -> str:
    out = io.StringIO()
    call_command(command, *map(str, options), stdout=out)
    return out.getvalue()


def lose(deposit: Deposit) -> None:
    """Have the books never have known of a deposit that counts nowhere yet."""
    assert deposit.transfer is None
    deposit.delete()


@pytest.fixture
def three(world: World) -> list[Deposit]:
    """Three deposits, read and waiting for confirmations."""
    Chain.objects.update(confirmations=1_000)
    for player in world.players[:3]:
        world.deposit(player, 2)
    world.mine(5)
    world.scan()
    return list(Deposit.objects.order_by("number"))


def test_watch_chain_catches_up_and_says_so_in_plain_lines(world: World):
    world.deposit(world.players[0], 4)
    world.confirm()

    said = run("watch_chain", "--once")

    assert said == (
        f"chain 31337: block {world.head} of {world.head}, 1 deposits\n"
        f"At the head, block {world.head}.\n"
    )
    assert world.credits(world.players[0]) == 4


def test_a_dry_run_stores_nothing(world: World):
    world.deposit(world.players[0], 4)
    world.confirm()
    before = world.chain

    said = run("watch_chain", "--dry-run")

    assert said.endswith("1 deposits, 1 of them not stored yet. Nothing was stored.\n")
    assert world.chain.scanned_block == before.scanned_block
    assert not Deposit.objects.exists()
    world.scan()
    said = run("watch_chain", "--dry-run", "--from-block", 0)
    assert said.endswith("1 deposits, 0 of them not stored yet. Nothing was stored.\n")


def test_from_block_reads_again_and_doubles_nothing(world: World, proxy: RpcProxy):
    world.deposit(world.players[0], 4)
    world.confirm()
    world.scan()
    asked = proxy.count("eth_getLogs")

    run("watch_chain", "--once", "--from-block", 1)

    assert proxy.count("eth_getLogs") > asked
    assert world.credits(world.players[0]) == 4
    assert Deposit.objects.count() == Transfer.objects.count() == 1
    assert world.chain.scanned_block == world.head


def test_from_block_finds_what_was_lost(world: World, three: list[Deposit]):
    lose(three[1])

    run("watch_chain", "--once", "--from-block", three[1].block_number)

    assert Deposit.objects.count() == 3


def test_no_command_skips_blocks(world: World):
    ahead = world.chain.scanned_block + 1
    for command in (("watch_chain", "--once", "--from-block", ahead), ("rescan", 1, ahead)):
        with pytest.raises(CommandError, match=f"Block {ahead} has not been read yet"):
            run(*command)


def test_a_fault_of_the_node_ends_the_command_without_its_url(world: World, proxy: RpcProxy):
    world.scan()
    world.mine()
    proxy.always("eth_getLogs", http_status(500))
    head = world.chain.scanned_block
    for command in (
        ("watch_chain", "--once"),
        ("watch_chain", "--dry-run"),
        ("rescan", head, head),
    ):
        with pytest.raises(CommandError, match="with HTTP 500") as refusal:
            run(*command)
        assert KEY not in str(refusal.value)
        assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


def test_a_trouble_that_does_not_hold_the_watcher_up_is_told_at_the_head(
    house: House, settings: Any, monkeypatch: pytest.MonkeyPatch
):
    """As after a restore: something left without a reason, and there is a day of blocks to read."""
    world = house.world
    settings.CHAIN_POLL_SECONDS = 0
    house.fund(world.players[0], 2)
    house.foreign(world.players[0])
    world.deposit(world.players[1], 5)
    world.mine(9)
    Chain.objects.update(block_range=2)
    # A clock by which each scan has the time for one range.
    clock = SimpleNamespace(monotonic=itertools.count(0, 50).__next__)
    monkeypatch.setattr(watcher, "time", clock)

    with pytest.raises(CommandError, match="1 redemptions have no reason"):
        run("watch_chain", "--once")

    assert world.chain.scanned_block == world.head
    assert world.credits(world.players[1]) == 5


def test_a_chain_that_is_not_on_watch_or_paused_is_told(world: World):
    for command in (("watch_chain", "--chain", 5), ("rescan", 1, 1, "--chain", 5)):
        with pytest.raises(CommandError, match="Chain 5 is not on watch"):
            run(*command)
    Chain.objects.update(paused=True)
    with pytest.raises(CommandError, match="The chain is paused"):
        run("watch_chain", "--once")


def test_rescan_stores_what_is_missing_of_a_range_and_nothing_twice(
    world: World, three: list[Deposit]
):
    cursor = world.chain.scanned_block
    lose(three[1])

    said = run("rescan", three[0].block_number, three[2].block_number)

    assert said.endswith("3 deposits; 1 of them were missing and are stored now.\n")
    assert [d.number for d in Deposit.objects.order_by("number")] == [1, 2, 3]
    assert world.chain.scanned_block == cursor
    said = run("rescan", 0, cursor)
    assert said.endswith("3 deposits; 0 of them were missing and are stored now.\n")
    Chain.objects.update(confirmations=1)
    world.scan()
    assert [world.credits(player) for player in world.players[:3]] == [2, 2, 2]


def test_rescan_takes_no_gap_for_an_answer(world: World, proxy: RpcProxy, three: list[Deposit]):
    first, last = three[0].block_number, three[2].block_number
    for logs in (
        edited(lambda logs: logs[:1] + logs[2:]),
        edited(lambda logs: logs[:2]),
        result([]),
    ):
        proxy.once("eth_getLogs", logs)
        with pytest.raises(CommandError, match="left out deposits"):
            run("rescan", first, last)
    assert Deposit.objects.count() == 3


def test_rescan_after_a_reorg_takes_back_what_fell_out(world: World):
    with world.undone():
        world.deposit(world.players[0], 4)
        world.confirm()
        world.scan()
    world.mine(10)

    run("rescan", 1, world.chain.scanned_block)

    assert world.statuses() == ["orphaned"]
    assert world.credits(world.players[0]) == 0


@pytest.mark.parametrize("command", [("rescan", 5, 4), ("rescan", -1, 4)])
def test_a_range_that_is_none_is_refused(world: World, command: tuple[Any, ...]):
    with pytest.raises((CommandError, SystemExit)):
        run(*command)


def test_two_chains_are_scanned_each_by_its_own_nodes(
    world: World, settings: Any, monkeypatch: pytest.MonkeyPatch
):
    other = Chain.objects.create(
        pk=97,
        name="elsewhere",
        confirmations=1,
        genesis_hash=world.chain.genesis_hash,
        scanned_block=0,
        scanned_hash=world.chain.genesis_hash,
        block_range=100,
    )
    world.deposit(world.players[0], 4)
    world.confirm()
    with running_proxy(world.chain_node.url) as proxy:
        monkeypatch.setenv("CHAIN_RPC_URLS_97", f" {proxy.url} ,")
        proxy.always("eth_chainId", result(hex(97)))
        assert watcher.scan(97)
        asked = len(proxy.calls)
        world.scan()
        assert len(proxy.calls) == asked

    other.refresh_from_db()
    assert (other.trouble, other.scanned_block) == ("", world.head)
    assert world.credits(world.players[0]) == 4


def test_a_chain_in_trouble_holds_up_no_other(world: World, monkeypatch: pytest.MonkeyPatch):
    Chain.objects.create(
        pk=97,
        name="elsewhere",
        confirmations=1,
        genesis_hash="0x",
        scanned_block=0,
        scanned_hash="0x",
        block_range=100,
    )
    monkeypatch.setenv("CHAIN_RPC_URLS_97", "http://127.0.0.1:9")

    with watcher.pglock.advisory("scan chain 97", timeout=0):
        world.scan()
    watcher.scan(97)

    assert Chain.objects.get(pk=97).trouble.startswith("The node can't be reached")
    assert world.trouble == ""


def served() -> dict[str, float]:
    registry = CollectorRegistry()
    registry.register(ChainCollector())
    lines = generate_latest(registry).decode().splitlines()
    return {
        name: float(value)
        for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")
    }


def test_metrics_tell_how_the_watcher_fares(world: World, proxy: RpcProxy):
    with world.undone():
        world.deposit(world.players[0])
        world.scan()
    world.mine(10)
    world.scan()
    world.deposit(world.players[0])
    world.scan()
    world.chain_node.rpc("evm_increaseTime", 100)
    world.mine(7)
    proxy.once("eth_getLogs", http_status(429))
    world.failing_scan()

    told = served()

    chain = f'chain="{settings.CHAIN_ID}"'
    assert told[f"bas_chain_lag_blocks{{{chain}}}"] == 7
    assert told[f"bas_chain_lag_seconds{{{chain}}}"] > 0
    assert told[f"bas_chain_head_block{{{chain}}}"] == world.head
    assert told[f"bas_chain_pending_deposits{{{chain}}}"] == 1
    assert told[f"bas_chain_oldest_pending_deposit_seconds{{{chain}}}"] > 0
    assert told[f"bas_chain_reorgs_total{{{chain}}}"] == 1
    assert told[f"bas_chain_deepest_reorg_blocks{{{chain}}}"] == world.chain.deepest_reorg > 0
    assert told[f"bas_chain_paused{{{chain}}}"] == 0
    assert told[f"bas_chain_in_trouble{{{chain}}}"] == 1
    failures = f'bas_chain_node_failures_total{{cause="rate_limit",{chain},node="1"}}'
    assert told[failures] == 1
    assert KEY not in str(told)
    Chain.objects.update(paused=True)
    told = served()
    assert told[f"bas_chain_paused{{{chain}}}"] == 1
    assert f"bas_chain_in_trouble{{{chain}}}" not in told


@pytest.mark.django_db
def test_metrics_of_no_chain_are_none():
    assert served() == {}
