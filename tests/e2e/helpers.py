import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import psycopg

from bas_site.demo.story import Player, fresh_player, fund, play_movement
from bas_site.demo.strategy import BOLD, CAREFUL
from bas_site.devstack.stack import Stack

# After `bas_site.demo`, which knows where it is.
from bas_client import Match, Node  # isort: skip

__all__ = ["Player", "play_movement"]

SECONDS = 45


def until(done: Callable[[], bool], what: str, seconds: float = SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.1)


@contextmanager
def new_player(stack: Stack, name: str) -> Iterator[Player]:
    player = fresh_player(name, CAREFUL if name == "Ann" else BOLD, url=stack.url)
    with player.client:
        player.client.log_in(player.account, name="e2e", scope="money")
        yield player


def deposit(stack: Stack, player: Player, credits: int, *, coin: int = 0) -> str:
    """Deposit on the chain and return the transaction's hash; nobody waits for the worker."""
    chain = player.client.chain()
    token = chain.tokens[coin]
    with Node(stack.env["CHAIN_RPC_URLS"]) as node:
        fund(node, player, token, credits * token.credit_price)
        return node.deposit(player.account, chain, token, credits * token.credit_price)


def with_credits(stack: Stack, credits: int, *players: Player) -> None:
    for player in players:
        deposit(stack, player, credits)
    until(lambda: all(p.client.credits().available == credits for p in players), "credited")


def statement(player: Player) -> list[tuple[str, int]]:
    """What changed a player's credits, the oldest first."""
    return [(line.kind, line.amount) for line in player.client.statement()][::-1]


def two_more_scans(stack: Stack) -> None:
    """Wait until the watcher has been over the chain twice more, from its start to its end."""
    for _ in range(2):
        before = sql(stack, "SELECT scanned_at FROM contracts_chain")
        until(lambda b=before: sql(stack, "SELECT scanned_at FROM contracts_chain") != b, "a scan")


def seated(stake: int, ann: Player, bob: Player) -> dict[str, Match]:
    """A running match of the two, as each of them sees it, by name."""
    made = ann.client.create_match(stake=stake, visibility="invitation")
    joined = bob.client.join_match(made.id, invitation=made.invitation or "")
    return {ann.name: ann.client.match(made.id), bob.name: joined}


def dice() -> Random:
    return Random(20)


def sql(stack: Stack, query: str, *arguments: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(stack.env["DATABASE_SUPERUSER_URL"]) as connection:
        return connection.execute(query, arguments).fetchall()


def start_web(stack: Stack) -> None:
    stack.start_process("web")
    until(stack.healthy, "the web server answers")
