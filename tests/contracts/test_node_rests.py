from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from contracts import nodes, reader
from contracts.events import deposited_topic
from contracts.models import Chain, Node
from tests.contracts.rpc_proxy import (
    KEY,
    Fault,
    RpcProxy,
    html_page,
    http_status,
    range_limit,
    result,
    rpc_error,
    running_proxy,
    silence,
    stale_head,
    truncated_json,
)
from tests.contracts.world import World
from tests.ops.promql import Scrape

CAUSES: dict[str, Fault] = {
    "http_error": http_status(502),
    "rate_limit": http_status(429),
    "time_out": silence(1),
    "not_json": html_page,
    "nonsense": result({"a": 1}),
    "range_refused": rpc_error(-32005, "query returned more than 10000 results"),
}
BUSY = (
    "rate limit exceeded",
    "Too Many Requests",
    "exceeded its compute units per second capacity",
)
TOO_MUCH = (
    "query returned more than 10000 results",
    "block range too large",
    "response size exceeded",
    "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range",
    "exceed maximum block range: 2000",
    "eth_getLogs is limited to a 10,000 range",
)


@pytest.fixture
def resting(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "FIRST_REST_SECONDS", 1_000)


def failures(world: World) -> dict[str, int]:
    counted: dict[str, int] = world.chain.nodes.get(place=1).failures
    return counted


def rest_seconds(place: int = 1) -> float:
    node = Node.objects.get(place=place)
    assert node.rests_until
    assert node.failed_at
    return float((node.rests_until - node.failed_at).total_seconds())


@pytest.mark.parametrize("cause", CAUSES)
def test_each_failure_is_counted_by_its_cause(
    world: World, proxy: RpcProxy, settings: Any, cause: str
):
    if cause == "time_out":
        settings.CHAIN_RPC_TIMEOUT_SECONDS = 0.5
    world.deposit(world.players[0])
    Chain.objects.update(block_range=1)
    proxy.always("eth_getLogs", CAUSES[cause])

    world.failing_scan()
    world.failing_scan()

    assert failures(world) == {cause: 2}
    assert KEY not in str(list(Node.objects.values()))


def test_a_half_answer_and_a_node_that_is_down_are_counted(
    world: World, proxy: RpcProxy, settings: Any
):
    proxy.always("eth_chainId", truncated_json)
    world.failing_scan()
    settings.CHAIN_RPC_URLS = ["http://127.0.0.1:9"]
    world.failing_scan()
    settings.CHAIN_RPC_URLS = [proxy.url]
    proxy.heal()
    proxy.always("eth_chainId", result("0x1"))
    world.failing_scan()

    assert failures(world) == {"not_json": 1, "unreachable": 1, "wrong_chain": 1}


@pytest.mark.parametrize("words", BUSY)
def test_a_busy_node_is_left_alone_and_its_range_kept(world: World, proxy: RpcProxy, words: str):
    world.mine(100)
    proxy.once("eth_getLogs", rpc_error(-32005, words))

    assert world.failing_scan() == "The node refused eth_getLogs (error -32005)."

    assert failures(world) == {"rate_limit": 1}
    assert world.chain.block_range == 2_000
    assert proxy.count("eth_getLogs") == 1


@pytest.mark.parametrize("words", TOO_MUCH)
def test_a_range_that_is_too_large_is_halved_by_whatever_words(
    world: World, proxy: RpcProxy, words: str
):
    world.mine(100)
    proxy.once("eth_getLogs", rpc_error(-32600, words))

    world.scan()

    assert failures(world) == {"range_refused": 1}
    assert proxy.count("eth_getLogs") >= 3


def test_retry_after_in_seconds_is_honoured(world: World, proxy: RpcProxy):
    proxy.once("eth_chainId", http_status(429, ("Retry-After", "120")))
    world.failing_scan()
    asked = len(proxy.calls)

    assert world.failing_scan() == "The node answered eth_chainId with HTTP 429."

    assert len(proxy.calls) == asked
    assert rest_seconds() == pytest.approx(120)
    Node.objects.update(rests_until=timezone.now())
    world.scan()
    assert Node.objects.get().rests_until is None


def test_retry_after_as_a_date_is_honoured_for_any_status(world: World, proxy: RpcProxy):
    until = format_datetime(timezone.now() + timedelta(seconds=100), usegmt=True)
    proxy.once("eth_chainId", http_status(503, ("Retry-After", until)))

    world.failing_scan()

    assert 90 < rest_seconds() <= 100


@pytest.mark.parametrize("header", ["soon", "-5", "Mon, 99 Foo 2026", "9" * 400, "", "1.5"])
def test_a_retry_after_that_makes_no_sense_is_none(world: World, proxy: RpcProxy, header: str):
    proxy.once("eth_chainId", http_status(429, ("Retry-After", header)))

    world.failing_scan()

    assert rest_seconds() == 0


def test_no_node_can_send_the_watcher_away_for_ever(world: World, proxy: RpcProxy):
    proxy.once("eth_chainId", http_status(429, ("Retry-After", "999999999")))

    world.failing_scan()

    assert rest_seconds() == 600


def test_rests_grow_with_each_failure_in_a_row_up_to_a_bound_and_differ(
    world: World, proxy: RpcProxy, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(nodes, "FIRST_REST_SECONDS", 1)
    proxy.always("eth_chainId", http_status(500))
    rests = []
    for _ in range(9):
        world.failing_scan()
        rests.append(rest_seconds())
        Node.objects.update(rests_until=timezone.now())

    for number, rest in enumerate(rests):
        assert min(60, 2**number) / 2 <= rest <= min(60, 2**number)
    assert len({rest / 2**number for number, rest in enumerate(rests)}) == 9
    proxy.heal()
    world.scan()
    assert Node.objects.get().failures_in_a_row == 0


def test_a_node_that_rests_is_not_asked_while_another_answers(
    world: World, proxy: RpcProxy, settings: Any, resting: None
):
    proxy.always("eth_chainId", http_status(500))
    with running_proxy(world.chain_node.url) as second:
        settings.CHAIN_RPC_URLS = [proxy.url, second.url]
        world.deposit(world.players[0], 4)
        world.confirm()
        world.scan()
        asked = len(proxy.calls)
        world.mine()
        world.scan()
        assert len(proxy.calls) == asked

    assert world.credits(world.players[0]) == 4
    assert Node.objects.get(place=2).failures == {}


def test_with_every_node_at_rest_the_trouble_stays_what_it_was(
    world: World, proxy: RpcProxy, resting: None
):
    proxy.always("eth_chainId", http_status(500))
    trouble = world.failing_scan()
    proxy.heal()

    assert world.failing_scan() == trouble


def test_a_reorg_seen_on_the_way_is_no_failure_of_the_node(world: World, proxy: RpcProxy):
    world.deposit(world.players[0])
    logs = [{"removed": True}]
    proxy.once("eth_getLogs", result(logs))

    world.failing_scan()

    assert not Node.objects.exists()


def test_many_deposits_in_a_range_make_the_next_one_smaller(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(reader, "MANY_DEPOSITS", 4)
    Chain.objects.update(block_range=30)
    for _ in range(25):
        world.deposit(world.players[0])

    world.scan()

    assert world.chain.block_range < 10
    world.confirm()
    world.scan()
    assert world.credits(world.players[0]) == 25


def test_a_range_refused_while_it_is_read_ahead_is_halved_too(
    world: World, proxy: RpcProxy, settings: Any
):
    settings.CHAIN_MAX_BLOCK_RANGE = 16
    Chain.objects.update(block_range=16)
    world.deposit(world.players[0], 4)
    world.mine(100)
    limits = iter([16, 16, 16])

    def tighter(request: Any, forward: Any) -> Any:
        if request["params"][0]["topics"] != [deposited_topic()]:
            return forward()
        return range_limit(next(limits, 5))(request, forward)

    proxy.always("eth_getLogs", tighter)

    world.scan()

    assert world.chain.scanned_block == world.head
    assert world.chain.block_range <= 7
    assert world.credits(world.players[0]) == 4
    assert failures(world)["range_refused"] >= 1


def in_a_row() -> dict[str, float]:
    """What Prometheus is told of each node's failures, by its place."""
    told = Scrape(Client().get("/metrics").content.decode())
    found = told.select("bas_chain_node_failures_in_a_row").samples
    return {dict(labels)["node"]: failures for labels, failures in found.items()}


def test_a_node_behind_one_that_answers_is_tried_again_until_it_is_well(
    world: World, proxy: RpcProxy, settings: Any, monkeypatch: pytest.MonkeyPatch
):
    with running_proxy(world.chain_node.url) as first:
        settings.CHAIN_RPC_URLS = [first.url, proxy.url]
        first.always("eth_chainId", http_status(502))
        proxy.always("eth_getLogs", http_status(502))
        world.mine()
        world.failing_scan()
        first.heal()
        world.scan()
        assert in_a_row() == {"1": 0, "2": 2}
        monkeypatch.setattr(nodes, "FIRST_REST_SECONDS", 1_000)
        world.scan()
        assert in_a_row() == {"1": 0, "2": 3}
        proxy.heal()
        asked = len(proxy.calls)
        world.scan()
        assert len(proxy.calls) == asked, "it rests"
        Node.objects.update(rests_until=timezone.now())
        world.scan()
        assert in_a_row() == {"1": 0, "2": 0}
        asked = len(proxy.calls)
        world.scan()
        assert len(proxy.calls) == asked, "it is well"


@pytest.mark.parametrize(
    ("method", "fault"),
    [
        ("eth_chainId", result("0x1")),
        ("eth_getLogs", html_page),
        ("eth_getBlockByNumber", http_status(500)),
    ],
)
def test_a_node_that_is_tried_again_and_fails_troubles_no_scan(
    world: World, proxy: RpcProxy, settings: Any, method: str, fault: Fault
):
    settings.CHAIN_RPC_URLS = [world.chain_node.url, proxy.url]
    Node.objects.create(chain=world.chain, place=2, failures_in_a_row=1)
    proxy.always(method, fault)
    world.deposit(world.players[0], 4)
    world.confirm()
    world.scan()
    assert world.credits(world.players[0]) == 4
    assert in_a_row()["2"] == 2


def test_a_node_that_is_tried_again_and_lags_behind_fails(
    world: World, proxy: RpcProxy, settings: Any
):
    settings.CHAIN_RPC_URLS = [world.chain_node.url, proxy.url]
    Node.objects.create(chain=world.chain, place=2, failures_in_a_row=1)
    stale_head(proxy, world.head)
    world.mine(1)
    world.scan()
    assert in_a_row()["2"] == 0
    Node.objects.filter(place=2).update(failures_in_a_row=1)
    world.mine(10)
    world.scan()
    assert in_a_row()["2"] == 2


def test_a_node_that_was_taken_out_of_the_settings_is_not_told_of(world: World):
    Node.objects.create(chain=world.chain, place=2, failures={"time_out": 9}, failures_in_a_row=9)
    world.scan()
    assert in_a_row() == {"1": 0}
    assert 'node="2"' not in Client().get("/metrics").content.decode()
