"""Ranges that operators ask to be read again: done by the watcher's worker, in the end."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import IntegrityError, transaction

from contracts import rescans, tasks
from contracts.models import Chain, Deposit, Rescan
from contracts.rescans import ask_for_rescan
from tests.contracts.rpc_proxy import RpcProxy, http_status
from tests.contracts.world import World
from wallets.errors import Forbidden
from wallets.models import Wallet


@pytest.fixture
def operator(db: None) -> Wallet:
    operator = Wallet.objects.create(username="ann", is_staff=True)
    operator.user_permissions.add(Permission.objects.get(codename="rescan_chain"))
    return operator


@pytest.fixture
def lost(world: World) -> Deposit:
    """A deposit that the chain has, and that the books have forgotten before they credited it."""
    Chain.objects.update(confirmations=1_000)
    for player in world.players[:3]:
        world.deposit(player, 2)
        world.mine(5)
    world.scan()
    lost = Deposit.objects.order_by("number")[1]
    lost.delete()
    return lost


def ask(operator: Wallet, world: World, **changes: int) -> Rescan:
    blocks = {"first": 0, "last": world.chain.scanned_block} | changes
    return ask_for_rescan(operator=operator, chain_id=world.chain.pk, **blocks)


def test_what_was_missing_is_stored_by_the_next_scan(world: World, operator: Wallet, lost: Deposit):
    asked = ask(operator, world)
    tasks.scan_chain(world.chain.pk)
    asked.refresh_from_db()
    assert (asked.missing, asked.trouble, asked.next_block) == (1, "", asked.last + 1)
    assert asked.ended_at
    assert Deposit.objects.get(number=lost.number).tx_hash == lost.tx_hash
    ended_at = asked.ended_at
    tasks.scan_chain(world.chain.pk)
    asked.refresh_from_db()
    assert asked.ended_at == ended_at


def test_a_long_range_goes_on_where_it_stopped(
    world: World,
    operator: Wallet,
    lost: Deposit,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
):
    settings.CHAIN_MAX_BLOCK_RANGE = 4
    asked = ask(operator, world)
    monkeypatch.setattr(rescans, "RUN_SECONDS", 0)
    places = []
    while not asked.ended_at and len(places) < 30:
        rescans.run_asked(world.chain.pk)
        asked.refresh_from_db()
        places.append(asked.next_block)
    assert len(places) > 2
    assert places == sorted(places)
    assert asked.missing == 1


def test_a_node_that_is_down_is_told_of_and_tried_again(
    world: World, operator: Wallet, lost: Deposit, proxy: RpcProxy
):
    asked = ask(operator, world)
    proxy.always("*", http_status(500))
    rescans.run_asked(world.chain.pk)
    asked.refresh_from_db()
    assert asked.trouble
    assert asked.ended_at is None
    proxy.heal()
    rescans.run_asked(world.chain.pk)
    asked.refresh_from_db()
    assert (asked.missing, asked.trouble) == (1, "")


def test_no_one_without_the_permission_and_no_empty_range(world: World, operator: Wallet):
    with pytest.raises(Forbidden):
        ask(Wallet.objects.create(username="bob", is_staff=True), world)
    for wrong in ({"first": -1}, {"first": 5, "last": 4}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ask(operator, world, **wrong)
    assert not Rescan.objects.exists()
