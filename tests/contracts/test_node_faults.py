import logging
from typing import Any

import pytest

from contracts import nodes, watcher
from contracts.models import Chain, Deposit, Token
from tests.contracts.rpc_proxy import (
    KEY,
    Fault,
    RpcProxy,
    edited,
    html_page,
    http_status,
    range_limit,
    result,
    rpc_error,
    running_proxy,
    silence,
    stale_head,
    truncated_json,
    whole,
)
from tests.contracts.world import World

METHODS = ("eth_chainId", "eth_getBlockByNumber", "eth_getLogs", "eth_call")
FAULTS: dict[str, tuple[Fault, str]] = {
    "HTTP 500": (http_status(500), "with HTTP 500."),
    "HTTP 429": (http_status(429), "with HTTP 429."),
    "time-out": (silence(1), "within 0.5 seconds."),
    "truncated JSON": (truncated_json, "with what is no JSON."),
    "HTML page": (html_page, "with what is no JSON."),
    "error": (rpc_error(-32000, f"key {KEY} is over its limit"), "(error -32000)."),
    "a list": (whole([]), "nonsense."),
    "a number": (whole(7), "nonsense."),
    "nothing": (whole({"jsonrpc": "2.0", "id": 1}), "nonsense."),
    "a wrong type": (result({"a": [1]}), "none."),
}


@pytest.fixture
def waiting(world: World) -> int:
    """A deposit that the next scan would credit; gives the cursor."""
    world.deposit(world.players[0], 4)
    world.confirm()
    return world.chain.scanned_block


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_node_is_told_without_its_url_and_the_next_scan_recovers(
    world: World,
    proxy: RpcProxy,
    settings: Any,
    waiting: int,
    name: str,
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level(logging.DEBUG)
    for logger in ("httpx", "httpcore"):  # the proxy's own
        caplog.set_level(logging.WARNING, logger=logger)
    fault, words = FAULTS[name]
    if name == "time-out":
        settings.CHAIN_RPC_TIMEOUT_SECONDS = 0.5
    for method in METHODS if name != "time-out" else ("eth_getLogs",):
        proxy.always(method, fault)

        trouble = world.failing_scan()

        if name not in ("a list", "a wrong type") or method != "eth_getLogs":
            assert trouble.endswith(words) or "nonsense" in trouble, (method, trouble)
        assert world.chain.scanned_block == waiting, method
        assert not Deposit.objects.exists()
        proxy.heal()
        Chain.objects.update(block_range=2_000)
    shown = caplog.text + "".join(Chain.objects.values_list("trouble", flat=True))
    assert KEY not in shown
    assert "scan stopped" in caplog.text

    settings.CHAIN_RPC_TIMEOUT_SECONDS = 10
    world.scan()

    assert world.credits(world.players[0]) == 4


def test_a_node_that_is_down_is_trouble(world: World, settings: Any, waiting: int):
    settings.CHAIN_RPC_URLS = [f"http://127.0.0.1:9/v2/{KEY}"]

    assert world.failing_scan() == "The node can't be reached (ConnectionError)."

    settings.CHAIN_RPC_URLS = [world.chain_node.url]
    world.scan()
    assert world.credits(world.players[0]) == 4


def test_a_url_that_is_none_is_trouble_too(world: World, settings: Any):
    settings.CHAIN_RPC_URLS = [f"htp://{KEY}"]
    assert KEY not in world.failing_scan()

    settings.CHAIN_RPC_URLS = []
    assert world.failing_scan() == "CHAIN_RPC_URLS names no node."


def test_a_node_of_another_chain_is_not_read(world: World, proxy: RpcProxy, waiting: int):
    proxy.always("eth_chainId", result("0x1"))

    assert world.failing_scan() == "The node serves chain 1, not 31337."

    assert not Deposit.objects.exists()
    assert set(proxy.calls) == {"eth_chainId"}


def test_a_second_node_takes_over(
    world: World,
    proxy: RpcProxy,
    settings: Any,
    waiting: int,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(nodes, "FIRST_REST_SECONDS", 1_000)
    proxy.always("eth_getLogs", http_status(500))
    with running_proxy(world.chain_node.url) as second:
        settings.CHAIN_RPC_URLS = [proxy.url, second.url]
        world.scan()
        assert second.count("eth_getLogs")

    assert proxy.count("eth_getLogs") == 1
    assert world.credits(world.players[0]) == 4


def test_a_refused_range_is_halved_until_it_passes_and_grows_again(
    world: World, proxy: RpcProxy, waiting: int, settings: Any
):
    settings.CHAIN_MAX_BLOCK_RANGE = 40
    world.mine(60)
    proxy.always("eth_getLogs", range_limit(10))

    world.scan()

    assert world.credits(world.players[0]) == 4
    assert world.chain.scanned_block == world.head
    assert world.chain.block_range < 20
    proxy.heal()
    world.mine(120)
    world.scan()
    assert world.chain.block_range == 40


@pytest.mark.parametrize("status", [400, 413])
def test_a_range_refused_by_http_status_is_halved_too(
    world: World, proxy: RpcProxy, waiting: int, status: int
):
    proxy.once("eth_getLogs", http_status(status), http_status(status))

    world.scan()

    assert world.credits(world.players[0]) == 4
    assert proxy.count("eth_getLogs") > 3


def test_a_node_that_refuses_even_one_block_is_asked_a_bounded_number_of_times(
    world: World, proxy: RpcProxy, waiting: int
):
    world.mine(100)
    proxy.always("eth_getLogs", rpc_error(-32005, "too much"))

    assert world.failing_scan() == "The node refused eth_getLogs (error -32005)."

    assert world.chain.block_range == 1
    assert proxy.count("eth_getLogs") < 15
    proxy.heal()
    world.scan()
    assert world.credits(world.players[0]) == 4


def test_a_time_out_shrinks_the_range_of_the_next_scan(
    world: World, proxy: RpcProxy, settings: Any, waiting: int
):
    settings.CHAIN_RPC_TIMEOUT_SECONDS = 0.5
    world.mine(100)
    proxy.once("eth_getLogs", silence(1))

    world.failing_scan()

    assert world.chain.block_range < 60
    assert proxy.count("eth_getLogs") == 1


@pytest.mark.parametrize("left_out", [0, 1, 2])
def test_events_that_the_node_left_out_keep_the_cursor(
    world: World, proxy: RpcProxy, left_out: int
):
    for player in world.players[:3]:
        world.deposit(player, 2)
    world.confirm()
    cursor = world.chain.scanned_block
    proxy.once("eth_getLogs", edited(lambda logs: logs[:left_out] + logs[left_out + 1 :]))

    assert "left out deposits" in world.failing_scan()

    assert world.chain.scanned_block == cursor
    assert not Deposit.objects.exists()
    world.scan()
    assert [world.credits(player) for player in world.players[:3]] == [2, 2, 2]


@pytest.mark.parametrize("known", [0, 1])
def test_events_left_out_long_before_the_head_are_noticed_and_found(
    world: World, proxy: RpcProxy, settings: Any, known: int
):
    settings.CHAIN_MAX_BLOCK_RANGE = 10
    Chain.objects.update(block_range=10)
    for _ in range(known):
        world.deposit(world.players[1])
    world.mine(5)
    world.scan()
    world.deposit(world.players[0], 2)
    world.mine(20)
    proxy.once("eth_getLogs", result([]))

    # The range is empty as far as anybody can tell; at the head the vault's own count tells.
    assert "left out deposits" in world.failing_scan()
    assert world.credits(world.players[0]) == 0
    assert "left out deposits" in world.failing_scan()
    world.scan()

    assert world.credits(world.players[0]) == 2
    assert world.credits(world.players[1]) == known


def test_a_deposit_that_was_told_with_a_block_of_no_chain_is_taken_back_and_credited_anew(
    world: World, proxy: RpcProxy, settings: Any
):
    settings.CHAIN_MAX_BLOCK_RANGE = 10
    Chain.objects.update(block_range=10)
    world.deposit(world.players[0], 2)
    first = hex(world.head)
    world.mine(20)
    world.deposit(world.players[1], 3)
    # So deep that the blocks of events are not looked up.
    world.mine(150)
    proxy.always(
        "eth_getLogs",
        edited(
            lambda logs: [
                log | {"blockHash": "0x" + "77" * 32} for log in logs if log["blockNumber"] == first
            ]
        ),
    )

    assert "after number 1" in world.failing_scan()
    assert world.credits(world.players[0]) == 2
    proxy.heal()
    assert "after number 1" in world.failing_scan()
    assert "above block" in world.failing_scan()
    world.scan()

    assert world.statuses() == ["orphaned", "credited", "credited"]
    assert [world.credits(player) for player in world.players[:2]] == [2, 3]


def test_events_that_come_twice_or_out_of_order_are_one_deposit_each(world: World, proxy: RpcProxy):
    for player in world.players[:3]:
        world.deposit(player, 2)
    world.confirm()
    proxy.once("eth_getLogs", edited(lambda logs: logs[::-1] + logs))

    world.scan()

    assert list(Deposit.objects.order_by("id").values_list("number", flat=True)) == [1, 2, 3]
    assert [world.credits(player) for player in world.players[:3]] == [2, 2, 2]


@pytest.mark.parametrize(
    "change",
    [
        {"address": "0x" + "11" * 20},
        {"blockNumber": "0x0"},
        {"blockNumber": hex(10**9)},
        {"blockHash": "0x" + "11" * 32},
        {"removed": True},
        {"topics": []},
        {"data": "0x"},
        {"data": "0x" + "00" * 64},
        {"logIndex": None},
        {"logIndex": "0xffffffffffff"},
        {"transactionHash": "0x1"},
        {"blockNumber": "0x" + "f" * 64},
    ],
    ids=str,
)
def test_an_event_that_cant_be_true_is_not_stored(
    world: World, proxy: RpcProxy, waiting: int, change: dict[str, Any]
):
    proxy.once("eth_getLogs", edited(lambda logs: [log | change for log in logs]))

    world.failing_scan()

    assert world.chain.scanned_block == waiting
    assert not Deposit.objects.exists()
    world.scan()
    assert world.credits(world.players[0]) == 4


@pytest.mark.parametrize(
    "topics",
    [
        lambda t: [t[0].replace("f5", "f6"), *t[1:]],
        lambda t: t[:3],
        lambda t: [t[0], "0x" + "ff" * 32, *t[2:]],
        lambda t: [t[0], 7, *t[2:]],
    ],
)
def test_an_event_with_other_topics_is_not_stored(
    world: World, proxy: RpcProxy, waiting: int, topics: Any
):
    change = edited(lambda logs: [log | {"topics": topics(log["topics"])} for log in logs])
    proxy.once("eth_getLogs", change)

    world.failing_scan()

    assert not Deposit.objects.exists()


def test_no_events_of_a_block_that_the_node_does_not_have_is_no_empty_block(
    world: World, proxy: RpcProxy, waiting: int
):
    head = world.head
    stale_head(proxy, head - 3)
    proxy.once("eth_getBlockByNumber", lambda _r, forward: forward())  # the first block of all
    # The head is told by a node that is up to date, the rest by one that is not.
    proxy.once("eth_getBlockByNumber", lambda _r, forward: forward())

    world.failing_scan()

    assert world.chain.scanned_block == waiting
    proxy.heal()
    world.scan()
    assert world.credits(world.players[0]) == 4


@pytest.mark.parametrize(
    "lie",
    [
        {"number": hex(10**9)},
        {"number": "0x" + "f" * 60},
        {"timestamp": "0x" + "f" * 15},
        {"timestamp": None},
        {"hash": None},
    ],
    ids=str,
)
def test_a_head_that_cant_be_true_credits_nothing(
    world: World, proxy: RpcProxy, lie: dict[str, Any]
):
    world.deposit(world.players[0], 4)

    def block(request: Any, forward: Any) -> Any:
        answer = forward()
        if request["params"][0] == "latest":
            answer["result"] |= lie
        return answer

    proxy.always("eth_getBlockByNumber", block)

    world.failing_scan()

    assert world.credits(world.players[0]) == 0


def test_a_vault_whose_price_the_node_does_not_know_yet_is_asked_again(
    world: World, proxy: RpcProxy
):
    token = world.deploy_test("TestToken", "Late dollar", "LATE", 2)
    world.send(world.vault.functions.allowToken(token.address, 50), world.owner)
    world.deposit_token(world.players[0], 150, token=token)
    world.confirm()
    # The first call asks the vault for its count.
    proxy.once("eth_call", edited(lambda same: same), result("0x" + "00" * 32))

    assert "knows no price" in world.failing_scan()

    world.scan()
    assert world.credits(world.players[0]) == 3


@pytest.mark.parametrize("view", [2, 3])
def test_a_fault_while_a_token_is_asked_for_its_name_is_not_its_answer(
    world: World, proxy: RpcProxy, view: int
):
    token = world.deploy_test("TestToken", "Late dollar", "LATE", 2)
    world.send(world.vault.functions.allowToken(token.address, 50), world.owner)
    world.deposit_token(world.players[0], 150, token=token)
    world.confirm()
    proxy.once("eth_call", *[edited(lambda same: same)] * view, http_status(500))

    assert world.failing_scan() == "The node answered eth_call with HTTP 500."

    world.scan()
    learnt = Token.objects.get(address=token.address)
    assert (learnt.symbol, learnt.decimals) == ("LATE", 2)


def test_a_scan_asks_few_questions(world: World, proxy: RpcProxy):
    world.scan()
    idle = len(proxy.calls)
    world.scan()
    assert len(proxy.calls) - idle <= 4
    world.mine()
    world.scan()
    assert len(proxy.calls) - idle <= 4 + 10
    assert watcher.scan(world.chain.pk)
