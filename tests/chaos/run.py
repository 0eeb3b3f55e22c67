"""A chaotic run: once all is quiet, credits equal what the chain says, and the audit is green."""

import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from django.conf import settings
from django.db import OperationalError, close_old_connections, connection

from bas_site.audit import findings
from bas_site.devstack import Services
from contracts import nodes, watcher
from contracts.models import Chain, Deposit, Node
from tests.chaos.chain import Players
from tests.chaos.faults import Faults
from tests.chaos.worker import work
from tests.contracts.rpc_proxy import running_proxy
from tests.contracts.world import new_world
from wallets.models import Account

QUIET_SECONDS = 90
CALM_SECONDS = 2


class Chaos(Exception):
    """What must never be."""


class Workers:
    """Two processes that scan, killed and replaced now and then."""

    def __init__(self, urls: list[str]) -> None:
        self.urls = urls
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["tests.chaos.worker"])
        self.kills = 0
        self.both = [self._new(), self._new()]
        self.orders = [0, 0]

    def _new(self) -> tuple[Any, Connection]:
        ours, theirs = self.context.Pipe()
        process = self.context.Process(target=work, args=(theirs, self.urls), daemon=True)
        process.start()
        theirs.close()
        return process, ours

    def order(self, place: int) -> None:
        """Have a scan made; whoever still makes one is given the order for later."""
        self.hear(place)
        self.both[place][1].send(settings.CHAIN_ID)
        self.orders[place] += 1

    def hear(self, place: int) -> None:
        """Raise what a worker met that may never be."""
        answers = self.both[place][1]
        while answers.poll():
            self.orders[place] -= 1
            if trace := answers.recv():
                raise Chaos(f"A scan broke.\n{trace}")

    def wait(self, place: int) -> None:
        """Wait a little for a worker to have done something."""
        self.both[place][1].poll(CALM_SECONDS)
        self.hear(place)

    def finish(self) -> None:
        """Wait for all that was ordered. While they scan, nobody else can."""
        for place, (_, answers) in enumerate(self.both):
            while self.orders[place]:
                if not answers.poll(QUIET_SECONDS):
                    raise Chaos(f"A scan has not come to its end in {QUIET_SECONDS} seconds.")
                self.hear(place)

    def kill(self, place: int) -> None:
        """kill -9, in the middle of whatever it does."""
        self.hear(place)
        process, answers = self.both[place]
        process.kill()
        process.join()
        answers.close()
        self.kills += 1
        self.both[place] = self._new()
        self.orders[place] = 0

    def stop(self) -> None:
        for process, answers in self.both:
            process.kill()
            process.join()
            answers.close()


def run_seed(services: Services, seed: int, deposits: int, say: Callable[[str], None]) -> Counter:
    """One seed on a vault of its own; what it was made of. Raises Chaos."""
    assert services.chain
    settings.CHAIN_RPC_URLS = [services.chain.url]
    players = Players(new_world(services.chain), random.Random(seed))
    with ExitStack() as stack:
        proxies = [stack.enter_context(running_proxy(services.chain.url)) for _ in range(2)]
        faults = Faults(proxies, players.dice, lambda: players.world.head)
        workers = Workers([proxy.url for proxy in proxies])
        stack.callback(workers.stop)
        counts = _chaos(services, players.dice, players, faults, workers, deposits)
        faults.heal()
        players.settle()
        workers.finish()
    # No watcher can, or may, get past that.
    if lost := players.lost():
        raise Chaos(f"Of its own chain the node lost {lost}.")
    _wait_until_quiet(services)
    counts += Counter(
        deposits=players.deposits,
        reorgs=players.reorgs,
        faults=faults.counts.total(),
        kills=workers.kills,
        taken_back=Deposit.objects.filter(
            vault__address=players.world.vault.address, status="orphaned", transfer__isnull=False
        ).count(),
    )
    _check(players, seed)
    kinds = ", ".join(f"{name} {times}" for name, times in sorted(faults.counts.items()))
    shown = ", ".join(f"{name} {times}" for name, times in sorted(counts.items()))
    say(f"seed {seed}: {shown}; deepest reorg {players.deepest}; faults: {kinds}")
    return counts


def _chaos(
    services: Services,
    dice: random.Random,
    players: Players,
    faults: Faults,
    workers: Workers,
    deposits: int,
) -> Counter:
    counts: Counter = Counter()
    restart_at = dice.randint(deposits // 4, deposits // 2 + 1)
    while players.deposits < deposits:
        calm = partial(_calm, players, faults, workers)
        dice.choices(
            [
                players.deposit,
                players.mine,
                players.remember,
                players.reorganise,
                faults.step,
                calm,
            ],
            weights=[10, 3, 3, 2, 10, 2],
        )[0]()
        place = dice.randrange(2)
        match dice.randrange(10):
            case 0 | 1 | 2:
                counts["lost messages"] += 1
            case 3:
                counts["doubled messages"] += 1
                for either in (0, 1, place):
                    workers.order(either)
            case 4:
                # While it scans, more often than not.
                workers.order(place)
                time.sleep(dice.random() * 0.05)
                workers.kill(place)
            case _:
                counts["messages"] += 1
                workers.order(place)
        if players.deposits >= restart_at and not counts["database restarts"]:
            counts["database restarts"] = 1
            services.postgres.stop()
            services.postgres.start()
    return counts


def _calm(players: Players, faults: Faults, workers: Workers) -> None:
    """Let a scan come to its end, so that there are credits for a reorganisation to take back."""
    faults.heal()
    players.world.mine(3)
    workers.order(0)
    workers.wait(0)


def _wait_until_quiet(services: Services) -> None:
    """Scan as beat would have it done, until there is nothing left to do."""
    assert services.chain
    settings.CHAIN_RPC_URLS = [services.chain.url]
    nodes.FIRST_REST_SECONDS = 0.01
    deadline, scans = time.monotonic() + QUIET_SECONDS, 0
    connection.close()
    Node.objects.update(rests_until=None)
    while time.monotonic() < deadline:
        close_old_connections()
        try:
            done = watcher.scan(settings.CHAIN_ID)
        except OperationalError:
            continue
        scans += done
        chain = Chain.objects.get(pk=settings.CHAIN_ID)
        if done and not chain.trouble and chain.scanned_block == chain.head_block:
            return
        time.sleep(0.05)
    raise Chaos(
        f"It never became quiet in {scans} scans: {chain.trouble!r}, block {chain.scanned_block} "
        f"of {chain.head_block}."
    )


def _check(players: Players, seed: int) -> None:
    truth = players.truth()
    vault = players.world.vault.address
    # Players of earlier seeds have what their vaults gave them.
    ours = Deposit.objects.filter(vault__address=vault).values_list("wallet__address", flat=True)
    before = Counter()
    others = Deposit.objects.exclude(vault__address=vault).filter(status="credited")
    for address, credits_ in others.values_list("wallet__address", "credits"):
        before[address] += credits_
    balances = dict(
        Account.objects.filter(kind="available").values_list("wallet__address", "balance")
    )
    for address in truth.keys() | set(ours):
        has, is_owed = balances.get(address, 0), truth.get(address, 0) + before[address]
        if has != is_owed:
            raise Chaos(f"seed {seed}: {address} has {has} credits; the chain says {is_owed}.")
    for finding in findings(whole=True):
        if not finding.is_green:
            raise Chaos(f"seed {seed}: the audit is not green: {finding}"[:2_000])
