"""The watcher's catch-up beside bare reads and beside a plain loop, and how soon it credits."""

import random
import resource
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import psutil

from bench.report import say, show_aim, show_table, stdout
from bench.server import Server

# A block's gas holds about a thousand deposits.
PER_TRANSACTION = 400
GAS = 29_000_000
WALLETS = 50
CONFIRMATIONS = 3
POLL_SECONDS = 1.0
AIM_OF_RAW, AIM_OF_PLAIN = 3.0, 15.0


@dataclass(frozen=True, slots=True)
class Cost:
    """What a deposit took: time on the clock, and processor time of all who worked on it."""

    seconds: float
    processor_seconds: float


class Meter:
    """Measures work of this process, of the node, and of Postgres on our connections."""

    def __init__(self, server: Server) -> None:
        self._node = psutil.Process(server.services.chain.process.pid)
        self._postgres = psutil.Process(server.services.postgres.process.pid)

    def cost(self, deposits: int, work: Callable[[], object]) -> Cost:
        """The cost of a deposit, of so many."""
        started, used = time.perf_counter(), self._processor_seconds()
        work()
        seconds, used = time.perf_counter() - started, self._processor_seconds() - used
        return Cost(seconds / deposits, used / deposits)

    def _processor_seconds(self) -> float:
        backends = self._postgres.children()
        return sum(_processor_seconds(p) for p in (psutil.Process(), self._node, *backends))


def _processor_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@dataclass(frozen=True, slots=True)
class Found:
    """What was measured; the costs are those of a deposit."""

    deposits: int
    watcher: Cost
    raw: Cost
    plain: Cost
    early_megabytes: float
    late_megabytes: float
    latencies: list[float]


def run(server: Server, *, deposits: int = 100_000, sample: int = 2_000, live: int = 100) -> None:
    """Measure and print: the plain loop over a `sample`, the latency of `live` deposits."""
    from contracts.models import Chain, Deposit
    from tests.contracts.world import new_world

    meter = Meter(server)
    world = new_world(server.services.chain)
    Chain.objects.update(confirmations=CONFIRMATIONS)
    _make_deposits(world, deposits)
    world.mine(CONFIRMATIONS)
    ranges: list[tuple[int, int]] = []
    megabytes: list[float] = []
    say("watcher: catching up")
    watcher = meter.cost(deposits, lambda: _catch_up(world, ranges, megabytes))
    made = Deposit.objects.filter(status="credited").count()
    if made != deposits:
        raise RuntimeError(f"{made} of {deposits} deposits were credited.")
    raw = meter.cost(deposits, lambda: _read_raw(world, ranges))
    say("watcher: the plain loop")
    sample, last = _sample(sample)
    plain = meter.cost(sample, lambda: _plain_loop(world, last))
    latencies = _live(world, live)
    early, late = megabytes[len(megabytes) // 10], megabytes[-1]
    _show(Found(deposits, watcher, raw, plain, early, late, latencies))


def _make_deposits(world: Any, deposits: int) -> None:
    say(f"watcher: making {deposits:,} deposits")
    forwarders = [world.deploy_test("Forwarder") for _ in range(WALLETS)]
    data = world.vault.encode_abi("deposit")
    price = world.vault.functions.creditPrice("0x" + "00" * 20).call()
    done = 0
    while done < deposits:
        size = min(PER_TRANSACTION, deposits - done)
        forwarder = forwarders[(done // PER_TRANSACTION) % WALLETS]
        calls = [(world.vault.address, price, data)] * size
        fields = {"from": world.owner, "to": forwarder.address, "value": price * size, "gas": GAS}
        world.chain_node.set_balance(world.owner, 10**24)
        sent = world.node.eth.send_transaction(
            fields | {"data": forwarder.encode_abi("multicall", [calls])}
        )
        receipt = world.node.eth.wait_for_transaction_receipt(sent, poll_latency=0.01)
        if receipt["status"] != 1:
            raise RuntimeError("The deposits failed.")
        done += size


def _catch_up(world: Any, ranges: list[tuple[int, int]], megabytes: list[float]) -> None:
    """Scan to the head; note the ranges, and the most memory that was held by then."""
    from contracts import watcher
    from contracts.models import Chain

    def progress(part: Any, _head: Any) -> None:
        ranges.append((part.below.number + 1, part.last.number))
        megabytes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)

    while (chain := Chain.objects.get()).scanned_block < world.head:
        if chain.trouble:
            raise RuntimeError(chain.trouble)
        watcher.scan(chain.pk, progress=progress)


def _read_raw(world: Any, ranges: list[tuple[int, int]]) -> None:
    """The same questions, their answers taken off the wire and thrown away."""
    from contracts.events import deposited_topic

    with httpx.Client(trust_env=False, timeout=60) as client:
        for first, last in ranges:
            question = {
                "address": [world.vault.address],
                "topics": [deposited_topic()],
                "fromBlock": hex(first),
                "toBlock": hex(last),
            }
            request = {"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [question]}
            client.post(world.chain_node.url, json=request).raise_for_status()


def _sample(deposits: int) -> tuple[int, int]:
    """At least so many of the first deposits: how many, up to which block."""
    from contracts.models import Deposit

    last = Deposit.objects.filter(number__lte=deposits).order_by("-number")[0].block_number
    return Deposit.objects.filter(block_number__lte=last).count(), last


def _plain_loop(world: Any, last: int) -> None:
    """What one writes first: web3.py's events, and an ORM call for each.

    It credits nothing: a ledger would make it slower still.
    """
    from django.db import transaction

    from contracts.models import Deposit, Token, Vault
    from wallets.models import Wallet

    vault = Vault.objects.get(address=world.vault.address)
    token = Token.objects.get(vault=vault, address="0x" + "00" * 20)
    with transaction.atomic():
        for event in world.vault.events.Deposited().get_logs(from_block=0, to_block=last):
            paid = event["args"]
            wallet, _ = Wallet.objects.get_or_create(address=paid["player"])
            Deposit.objects.get_or_create(
                vault=vault,
                tx_hash=event["transactionHash"].to_0x_hex(),
                log_index=event["logIndex"],
                # As if it were not there yet; the row itself is undone below.
                status=Deposit.Status.ORPHANED,
                defaults={
                    "token": token,
                    "wallet": wallet,
                    "number": paid["id"],
                    "amount": paid["amount"],
                    "credits": paid["amount"] // token.credit_price,
                    "block_number": event["blockNumber"],
                    "block_hash": event["blockHash"].to_0x_hex(),
                },
            )
        transaction.set_rollback(True)


def _live(world: Any, times: int) -> list[float]:
    """Seconds from the confirming block to the credit, with a scan each POLL_SECONDS."""
    from django.db import connections

    from contracts.models import Chain, Deposit
    from contracts.watcher import scan

    say("watcher: live")
    chain_id, stop = Chain.objects.get().pk, threading.Event()

    def poll() -> None:
        while not stop.wait(POLL_SECONDS):
            scan(chain_id)
        connections.close_all()

    poller = threading.Thread(target=poll)
    poller.start()
    seconds = []
    try:
        for _ in range(times):
            tx_hash = world.deposit(world.players[0])["transactionHash"].to_0x_hex()
            time.sleep(random.random() * POLL_SECONDS)
            world.mine(CONFIRMATIONS - 1)
            confirmed = time.perf_counter()
            while not Deposit.objects.filter(tx_hash=tx_hash, status="credited").exists():
                time.sleep(0.005)
            seconds.append(time.perf_counter() - confirmed)
    finally:
        stop.set()
        poller.join()
    return seconds


def _show(found: Found) -> None:
    rows = {
        "bare eth_getLogs of the same ranges": found.raw,
        "watcher, credits minted": found.watcher,
        "plain web3.py loop, nothing credited": found.plain,
    }
    show_table(
        f"Catch-up over {found.deposits:,} deposits",
        ["", "deposits /s", "processor us a deposit"],
        [
            [name, f"{1 / cost.seconds:,.0f}", f"{1e6 * cost.processor_seconds:,.0f}"]
            for name, cost in rows.items()
        ],
    )
    ratios = {
        "watcher's time : bare read's": (found.watcher, found.raw),
        "plain loop's time : watcher's": (found.plain, found.watcher),
    }
    show_table(
        "Ratios",
        ["", "by the clock", "by processor time"],
        [
            [
                name,
                f"{a.seconds / b.seconds:.1f}",
                f"{a.processor_seconds / b.processor_seconds:.1f}",
            ]
            for name, (a, b) in ratios.items()
        ],
    )
    of_raw = found.watcher.seconds / found.raw.seconds
    of_plain = found.plain.seconds / found.watcher.seconds
    stdout.print()
    show_aim(f"{AIM_OF_RAW:.0f} times the bare read", "catch-up", of_raw, met=of_raw <= AIM_OF_RAW)
    show_aim(
        f"{AIM_OF_PLAIN:.0f} times the plain loop's speed",
        "catch-up",
        of_plain,
        met=of_plain >= AIM_OF_PLAIN,
    )
    show_table(
        "Memory of the watcher's process",
        ["", "megabytes"],
        [
            ["after a tenth", f"{found.early_megabytes:.0f}"],
            ["at the end", f"{found.late_megabytes:.0f}"],
        ],
    )
    percentiles = statistics.quantiles(found.latencies, n=100)
    show_table(
        f"From the confirming block to the credit, polled each {POLL_SECONDS:g} s",
        ["", "seconds"],
        [["p50", f"{percentiles[49]:.2f}"], ["p99", f"{percentiles[98]:.2f}"]],
    )
