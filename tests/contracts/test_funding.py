"""Who sent an address its first coins, as the chain tells it."""

import pytest
from eth_utils.address import to_checksum_address

from contracts import funding
from contracts.funding import first_payer, payers_of, trace_funding
from contracts.models import Funding
from tests.contracts.rpc_proxy import RpcProxy, http_status
from tests.contracts.world import PRICE, World
from wallets.accounts import wallet_for
from wallets.models import Wallet


def pay(world: World, payer: str, to: str, value: int = 10**18) -> int:
    sent = world.node.eth.send_transaction({"from": payer, "to": to, "value": value})
    return world.mined(sent)["blockNumber"]


def an_address(n: int) -> str:
    return to_checksum_address(f"0x{n + 0xABC000:040x}")


def a_player(world: World, n: int, payer: str) -> Wallet:
    """A player whose address was paid and has deposited, as far as the books know."""
    wallet = wallet_for(an_address(n))
    pay(world, payer, wallet.address or "")
    world.deposit(world.players[8 - n % 2])
    world.scan()
    deposit = world.chain.vaults.get().deposits.order_by("pk").last()
    type(deposit).objects.filter(pk=deposit.pk).update(wallet=wallet)
    return wallet


def test_the_first_payer_is_found_among_later_ones(world: World):
    address = an_address(1)
    world.mine(7)
    pay(world, world.players[1], an_address(2))
    pay(world, world.players[2], address)
    world.mine(5)
    last = pay(world, world.players[3], address)
    assert first_payer(world.node, address, upto=last) == world.players[2]


def test_who_had_coins_from_the_start_or_out_of_a_contract_has_no_payer(world: World):
    assert first_payer(world.node, world.players[0], upto=world.head) == ""
    forwarder = world.deploy_test("Forwarder")
    address = an_address(3)
    call = forwarder.functions.multicall([(address, PRICE, b"")])
    world.send(call, world.players[0], PRICE)
    assert first_payer(world.node, address, upto=world.head) == ""


def test_players_of_one_purse_are_found_once_and_an_exchanges_are_not(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    ann, bob, eve = (a_player(world, n, world.players[1]) for n in range(3))
    stranger = wallet_for(an_address(9))
    wallets = [ann.pk, bob.pk, eve.pk, stranger.pk]
    assert trace_funding(wallets) == 3
    assert trace_funding(wallets) == 0
    assert payers_of(wallets) == dict.fromkeys((ann.pk, bob.pk, eve.pk), world.players[1])
    monkeypatch.setattr(funding, "MOST_FUNDED", 2)
    assert payers_of(wallets) == {}


def test_a_node_that_does_not_answer_is_asked_another_time(world: World, proxy: RpcProxy):
    ann = a_player(world, 0, world.players[1])
    proxy.always("eth_getBalance", http_status(500))
    assert trace_funding([ann.pk]) == 0
    assert not Funding.objects.exists()
    proxy.heal()
    assert trace_funding([ann.pk]) == 1
