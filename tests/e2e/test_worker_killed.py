"""A worker that dies at any moment loses no deposit and credits none twice."""

import time
from random import Random

import pytest

from bas_site.devstack.stack import Stack
from tests.e2e.helpers import Player, deposit, sql, statement, two_more_scans, until

pytestmark = pytest.mark.xdist_group("stack")


def test_a_deposit_made_while_the_worker_is_dead_is_credited_once(
    stack: Stack, player: Player
) -> None:
    stack.kill_process("worker")
    tx_hash = deposit(stack, player, 12)
    # Time for beat to queue hints that nobody takes.
    time.sleep(3)
    assert player.client.credits().available == 0
    stack.start_process("worker")
    until(lambda: player.client.credits().available == 12, "credited by the new worker")
    two_more_scans(stack)
    assert statement(player) == [("deposit", 12)]
    assert [(d.tx_hash, d.status) for d in player.client.deposits()] == [(tx_hash, "credited")]


def test_workers_and_beats_killed_at_random_moments_credit_each_deposit_once(
    stack: Stack, player: Player
) -> None:
    dice = Random(seed := time.time_ns())
    print(f"seed {seed}")  # pytest shows it if the test fails
    bought = [1, 2, 4, 8, 16]
    for credits in bought:
        deposit(stack, player, credits, coin=dice.choice((0, 1)))
        # A worker needs a second or two to start: some die before, some after they have scanned.
        time.sleep(dice.uniform(0, 4))
        victims = dice.choice((["worker"], ["beat"], ["worker", "beat"]))
        for name in victims:
            stack.kill_process(name)
        for name in victims:
            stack.start_process(name)
    until(lambda: player.client.credits().available >= sum(bought), "all credited")
    two_more_scans(stack)
    assert sorted(statement(player)) == [("deposit", credits) for credits in bought]
    assert player.client.credits().available == sum(bought)
    # No deposit was stored twice either, credited or not.
    address = player.account.address
    query = "SELECT count(*) FROM contracts_deposit d JOIN wallets_wallet w ON w.id = d.wallet_id"
    assert sql(stack, f"{query} WHERE w.address = %s", address) == [(len(bought),)]
