"""Two web servers, two workers, two signers and two beats at once do everything once."""

import dataclasses
from collections.abc import Iterator

import httpx
import pytest

from bas_site.devstack.ports import free_port
from bas_site.devstack.processes import Process
from bas_site.devstack.service import PROJECT
from bas_site.devstack.stack import Stack
from tests.e2e.helpers import (
    Player,
    deposit,
    dice,
    play_movement,
    seated,
    sql,
    statement,
    two_more_scans,
    until,
)

from bas_client import Client, Node  # isort: skip

pytestmark = pytest.mark.xdist_group("stack")


@pytest.fixture
def second_url(stack: Stack) -> Iterator[str]:
    """A second one of each program beside the first; where the second web server is."""
    port = str(free_port())
    other = {
        str(stack.port): port,
        "worker@%h": "worker2@%h",
        "signer@%h": "signer2@%h",
        str(stack.root / "beat" / "schedule"): str(stack.root / "beat" / "schedule2"),
    }
    twins = []
    try:
        for name in ("web", "worker", "signer", "beat"):
            twins.append(twin := Process(f"{name}2", stack.root))
            command = [other.get(word, word) for word in stack.commands()[name]]
            twin.start(command, env=stack.program_env(name), cwd=PROJECT)
        url = f"http://localhost:{port}"
        until(lambda: _answers(url), "the second web server answers")
        until(lambda: _ready(stack, "worker2") and _ready(stack, "signer2"), "both workers work")
        yield url
    finally:
        for twin in twins:
            twin.stop()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", trust_env=False).is_success
    except httpx.TransportError:
        return False


def _ready(stack: Stack, name: str) -> bool:
    log = stack.log(name)
    return log.exists() and " ready." in log.read_text()


def at(player: Player, url: str) -> Player:
    """The same player, whose requests go to another web server."""
    client = Client(url)
    client.token, client.address = player.client.token, player.client.address
    return dataclasses.replace(player, client=client)


def test_two_of_each_process_do_everything_once(
    stack: Stack, rich_pair: tuple[Player, Player], second_url: str
) -> None:
    ann, bob = rich_pair
    bob = at(bob, second_url)
    with bob.client, Node(stack.env["CHAIN_RPC_URLS"]) as node:
        for credits_ in (1, 2, 4):
            deposit(stack, ann, credits_)
            deposit(stack, bob, credits_, coin=1)
        until(lambda: ann.client.credits().available == 107, "credited, seen by one server")
        until(lambda: bob.client.credits().available == 107, "credited, seen by the other")

        views, rolls = seated(40, ann, bob), dice()
        for _ in range(4):
            play_movement((ann, bob), views, rolls)
        over = bob.client.resign(views["Bob"].id)
        assert (over.status, over.winner) == ("won", "a")

        asked = [player.client.withdraw(3) for player in (ann, bob)]
        for player in (ann, bob):
            until(lambda p=player: next(p.client.withdrawals()).voucher is not None, "it is signed")
            voucher = next(player.client.withdrawals()).voucher
            node.redeem(player.account, voucher)
            until(lambda p=player: next(p.client.withdrawals()).status == "paid", "it is paid")
        two_more_scans(stack)

        # A pot of 80, a fee of 2; the deposits of 1, 2 and 4 in any order.
        bought = sorted([("deposit", 100), ("deposit", 1), ("deposit", 2), ("deposit", 4)])
        stories = [statement(ann), statement(bob)]
        assert [sorted(story[:4]) for story in stories] == [bought, bought]
        assert stories[0][4:] == [("stake", -40), ("payout", 78), ("withdrawal", -3)]
        assert stories[1][4:] == [("stake", -40), ("withdrawal", -3)]
        redeemed = "SELECT count(*) FROM contracts_redemption WHERE withdrawal_id = ANY(%s)"
        assert sql(stack, redeemed, [withdrawal.id for withdrawal in asked]) == [(2,)]
    assert "off" not in stack.manage("audit", "--full")
