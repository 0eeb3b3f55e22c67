"""The watcher's catch-up beside bare reads and beside a plain loop, and how soon it credits.

`python -m bench.watcher [--deposits 100000]`, on a stack of its own.
"""

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx

from bas_site.devstack import Services
from bas_site.devstack.service import PROJECT
from bas_site.devstack.services import remove_root, throwaway_root
from bench.report import say, show_table

# A block's gas holds about a thousand deposits.
PER_TRANSACTION = 400
GAS = 29_000_000
WALLETS = 50
CONFIRMATIONS = 3
POLL_SECONDS = 1.0


def run(*, deposits: int = 100_000, sample: int = 2_000, live: int = 40) -> dict[str, Any]:
    """Measure on a stack that is made for it and removed afterwards."""
    services = Services(throwaway_root("bench-watcher"))
    try:
        with services:
            _prepare(services)
            return _measure(services, deposits, sample, live)
    finally:
        remove_root(services.root)


def _prepare(services: Services) -> None:
    os.environ.update(
        services.env,
        DJANGO_SETTINGS_MODULE="bas_site.settings",
        CHAIN_CONFIRMATIONS=str(CONFIRMATIONS),
        LOG_LEVEL="CRITICAL",
    )
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity=0"],
        cwd=PROJECT,
        env={**os.environ, "DATABASE_URL": services.env["DATABASE_OWNER_URL"]},
        check=True,
    )
    import django

    django.setup()


def _measure(services: Services, deposits: int, sample: int, live: int) -> dict[str, Any]:
    from contracts.models import Deposit
    from tests.contracts.world import new_world

    world = new_world(services.chain)
    _make_deposits(world, deposits)
    world.mine(CONFIRMATIONS)
    caught_up = _catch_up(world)
    made = Deposit.objects.filter(status="credited").count()
    if made != deposits:
        raise RuntimeError(f"{made} of {deposits} deposits were credited.")
    raw = _seconds(lambda: _read_raw(world, caught_up["ranges"]))
    plain = _plain_loop(world, sample)
    latencies = _live(world, live)
    return {
        "deposits": deposits,
        "seconds": caught_up["seconds"],
        "per_second": deposits / caught_up["seconds"],
        "without_mint_per_second": deposits / (caught_up["seconds"] - caught_up["mint_seconds"]),
        "raw_per_second": deposits / raw,
        "plain_per_second": plain,
        "megabytes_after_a_tenth": caught_up["early_megabytes"],
        "megabytes_at_the_end": caught_up["late_megabytes"],
        "live_p50": statistics.median(latencies),
        "live_p99": statistics.quantiles(latencies, n=100)[98],
    }


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


def _catch_up(world: Any) -> dict[str, Any]:
    from contracts import watcher
    from contracts.models import Chain

    say("watcher: catching up")
    ranges: list[tuple[int, int]] = []
    megabytes: list[float] = []
    mint_seconds = 0.0
    credit = watcher.credit_confirmed

    def timed_credit(chain: Any) -> int:
        nonlocal mint_seconds
        started = time.perf_counter()
        credited = credit(chain)
        mint_seconds += time.perf_counter() - started
        return credited

    def progress(part: Any, _head: Any) -> None:
        ranges.append((part.below.number + 1, part.last.number))
        megabytes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)

    watcher.credit_confirmed = timed_credit
    chain_id = Chain.objects.get().pk
    started = time.perf_counter()
    try:
        while True:
            watcher.scan(chain_id, progress=progress)
            chain = Chain.objects.get()
            if chain.trouble:
                raise RuntimeError(chain.trouble)
            if chain.scanned_block == world.head:
                break
    finally:
        watcher.credit_confirmed = credit
    return {
        "seconds": time.perf_counter() - started,
        "mint_seconds": mint_seconds,
        "ranges": ranges,
        "early_megabytes": megabytes[len(megabytes) // 10],
        "late_megabytes": megabytes[-1],
    }


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


def _plain_loop(world: Any, sample: int) -> float:
    """Deposits a second of what one writes first: web3.py's events, and an ORM call for each.

    It credits nothing: a ledger would make it slower still.
    """
    from django.db import transaction

    from contracts.models import Deposit, Token, Vault
    from wallets.models import Wallet

    say("watcher: the plain loop")
    vault = Vault.objects.get(address=world.vault.address)
    token = Token.objects.get(vault=vault, address="0x" + "00" * 20)
    last = Deposit.objects.filter(number__lte=sample).order_by("-number")[0].block_number
    count = Deposit.objects.filter(block_number__lte=last).count()
    started = time.perf_counter()
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
        took = time.perf_counter() - started
        transaction.set_rollback(True)
    return count / took


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


def _seconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def show(found: dict[str, Any]) -> None:
    """Print what `run` found."""
    speed = found["per_second"]
    show_table(
        f"Catch-up over {found['deposits']:,} deposits",
        ["", "deposits /s"],
        [
            ["bare eth_getLogs of the same ranges", f"{found['raw_per_second']:,.0f}"],
            ["plain web3.py loop, nothing credited", f"{found['plain_per_second']:,.0f}"],
            ["watcher, credits minted", f"{speed:,.0f}"],
            ["watcher without the minting", f"{found['without_mint_per_second']:,.0f}"],
            ["bare read : watcher", f"{found['raw_per_second'] / speed:.1f}"],
            ["watcher : plain loop", f"{speed / found['plain_per_second']:.1f}"],
            ["megabytes after a tenth", f"{found['megabytes_after_a_tenth']:.0f}"],
            ["megabytes at the end", f"{found['megabytes_at_the_end']:.0f}"],
        ],
    )
    show_table(
        f"From the confirming block to the credit, polled each {POLL_SECONDS:g} s",
        ["", "seconds"],
        [["p50", f"{found['live_p50']:.2f}"], ["p99", f"{found['live_p99']:.2f}"]],
    )


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.watcher", description=__doc__)
    parser.add_argument("--deposits", type=int, default=100_000)
    parser.add_argument("--sample", type=int, default=2_000, help="deposits of the plain loop")
    parser.add_argument("--live", type=int, default=40, help="deposits of the live run")
    options = parser.parse_args()
    show(run(deposits=options.deposits, sample=options.sample, live=options.live))


if __name__ == "__main__":
    main()
