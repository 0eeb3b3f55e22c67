import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection, connections

from contracts import tasks, watcher
from contracts.events import MovedMeanwhile
from contracts.models import Chain, Deposit
from contracts.node import connect
from tests.contracts.rpc_proxy import RpcProxy
from tests.contracts.world import CONFIRMATIONS, World
from wallets import ledger
from wallets.accounts import wallet_for
from wallets.models import Posting, Transfer

PROJECT = Path(__file__).parents[2]


def test_a_deposit_is_credited_with_its_last_confirmation_and_not_one_block_early(world: World):
    world.deposit(world.players[0], 4)
    for _ in range(CONFIRMATIONS - 1):
        world.scan()
        assert world.statuses() == ["pending"]
        assert world.credits(world.players[0]) == 0
        world.mine()

    world.scan()

    assert world.statuses() == ["credited"]
    assert world.credits(world.players[0]) == 4


def test_one_confirmation_is_the_deposits_own_block(world: World):
    Chain.objects.update(confirmations=1)
    world.deposit(world.players[0], 4)

    world.scan()

    assert world.credits(world.players[0]) == 4


def test_scans_and_tasks_that_run_again_change_nothing(world: World):
    world.deposit(world.players[0], 4)
    world.confirm()

    for _ in range(3):
        world.scan()
        tasks.scan_chain(settings.CHAIN_ID)

    assert world.credits(world.players[0]) == 4
    assert Deposit.objects.count() == Transfer.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_scans_in_many_threads_credit_once(world: World):
    for player in world.players[:3]:
        world.deposit(player, 5)
    world.confirm()
    start = threading.Barrier(6)
    answers: list[bool] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            start.wait()
            for _ in range(3):
                answers.append(watcher.scan(settings.CHAIN_ID))
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not errors
    assert True in answers
    assert [world.credits(player) for player in world.players[:3]] == [5, 5, 5]
    assert Transfer.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_the_parts_of_a_scan_credit_once_even_without_the_lock(world: World):
    """The advisory lock saves work; that nothing is doubled rests on the database's rows."""
    for player in world.players[:3]:
        world.deposit(player, 5)
    world.confirm()
    start = threading.Barrier(4)
    errors: list[BaseException] = []

    def run() -> None:
        try:
            chain = world.chain
            start.wait()
            watcher._scan(chain, connect(), 1, False, lambda _part, _head: None)
        except MovedMeanwhile:
            pass
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    world.scan()

    assert not errors
    assert [world.credits(player) for player in world.players[:3]] == [5, 5, 5]
    assert Transfer.objects.count() == Deposit.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_a_scan_in_another_process_takes_turns_with_this_one(world: World):
    world.deposit(world.players[0], 4)
    world.confirm()
    program = (
        "import django; django.setup()\n"
        "from contracts import watcher\n"
        f"print(watcher.scan({settings.CHAIN_ID}))"
    )

    def scan_elsewhere() -> str:
        url = "postgresql://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(
            **connection.settings_dict
        )
        env = {
            "DATABASE_URL": url,
            "CHAIN_RPC_URLS": world.chain_node.url,
            "BAS_ENV": "development",
            "DJANGO_SETTINGS_MODULE": "bas_site.settings",
            "NO_PROXY": "127.0.0.1",
        }
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=PROJECT,
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()[-1]

    with watcher.pglock.advisory(f"scan chain {settings.CHAIN_ID}", timeout=0) as acquired:
        assert acquired
        assert scan_elsewhere() == "False"
    assert not Deposit.objects.exists()

    assert scan_elsewhere() == "True"
    world.scan()

    assert world.credits(world.players[0]) == 4


def test_a_scan_that_another_one_overtook_stores_nothing(world: World):
    overtaken = world.chain
    world.deposit(world.players[0])
    world.scan()
    world.mine()
    cursor = world.chain.scanned_block

    with pytest.raises(MovedMeanwhile, match="cursor was moved"):
        watcher._scan(overtaken, connect(), 1, False, lambda _part, _head: None)

    assert world.chain.scanned_block == cursor
    assert Deposit.objects.count() == 1


def test_a_paused_chain_is_left_alone(world: World):
    world.deposit(world.players[0])
    world.confirm()
    Chain.objects.update(paused=True)

    assert watcher.scan(settings.CHAIN_ID) is False

    assert not Deposit.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_scan_killed_between_store_and_credit_is_made_good_by_the_next(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    world.deposit(world.players[0], 4)
    world.confirm()
    with monkeypatch.context() as patch:
        patch.setattr(watcher, "credit_confirmed", lambda _chain: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            watcher.scan(settings.CHAIN_ID)
    assert world.statuses() == ["pending"]
    assert world.chain.scanned_block == world.head

    world.scan()

    assert world.credits(world.players[0]) == 4


@pytest.mark.django_db(transaction=True)
def test_the_lock_is_free_after_a_scan_that_broke(world: World, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setattr(watcher, "_by_any_node", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            watcher.scan(settings.CHAIN_ID)

    with connection.cursor() as cursor:
        # Of this database: other tests run on the same server.
        cursor.execute(
            "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database "
            "WHERE l.locktype = 'advisory' AND d.datname = current_database()"
        )
        assert cursor.fetchone() == (0,)


@pytest.mark.django_db(transaction=True)
def test_a_deposit_that_the_ledger_refuses_holds_up_no_other_and_is_told_of(world: World):
    poisoned, player = world.players[:2]
    world.deposit(poisoned, 2)
    world.scan()
    world.deposit(player, 3)
    world.confirm()
    # Its key stands for something else already.
    waiting = Deposit.objects.get()
    key = f"deposit:{world.chain.pk}:{waiting.tx_hash}:{waiting.log_index}:{waiting.pk}"
    ledger.mint(wallet=wallet_for(world.players[2]), credits_=1, key=key)

    trouble = world.failing_scan()

    assert trouble == "1 confirmed deposits can't be credited; the log says why."
    assert world.statuses() == ["pending", "credited"]
    assert world.credits(player) == 3
    world.deposit(player, 1)
    world.confirm()
    world.failing_scan()
    assert world.credits(player) == 4


@pytest.mark.django_db(transaction=True)
def test_credits_that_do_not_fit_an_account_hold_up_no_other(world: World):
    giant = 2**256 - 1
    token = world.deploy_test("TestToken", "Odd", "ODD", 18)
    world.send(world.vault.functions.allowToken(token.address, 1), world.owner)
    world.deposit_token(world.players[0], giant, token=token)
    world.deposit(world.players[1], 3)
    world.confirm()
    wallet = wallet_for(world.players[0])
    for number in range(8):
        ledger.mint(wallet=wallet, credits_=giant, key=f"test:{number}")

    world.failing_scan()

    assert world.credits(world.players[0]) == 8 * giant
    assert world.credits(world.players[1]) == 3


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_the_node_is_asked(world: World, proxy: RpcProxy):
    params = connection.get_connection_params()
    keys = ("host", "port", "user", "password", "dbname")
    observer = psycopg.connect(**{k: params[k] for k in keys}, autocommit=True)
    open_ones: list[Any] = []

    def look(method: str) -> None:
        rows = observer.execute(
            "SELECT query FROM pg_stat_activity WHERE datname = current_database() "
            "AND state LIKE 'idle in transaction%' AND pid <> pg_backend_pid()"
        ).fetchall()
        open_ones.extend((method, *row) for row in rows)

    token = world.deploy_test("TestToken", "Late dollar", "LATE", 2)
    world.send(world.vault.functions.allowToken(token.address, 50), world.owner)
    world.deposit_token(world.players[0], 150, token=token)
    world.deposit(world.players[1])
    world.confirm()
    proxy.on_request = look
    with observer:
        world.scan()

    assert world.credits(world.players[1]) == 1
    assert open_ones == []


def test_a_long_catch_up_goes_range_by_range_and_credits_on_its_way(
    world: World, settings: Any, django_assert_max_num_queries: Any
):
    settings.CHAIN_MAX_BLOCK_RANGE = 10
    Chain.objects.update(block_range=10)
    for _ in range(4):
        world.deposit(world.players[0])
        world.mine(20)

    world.scan()

    assert world.credits(world.players[0]) == 4
    chain = world.chain
    assert (chain.scanned_block, chain.head_block) == (world.head, world.head)
    assert chain.blocks.count() > 8
    with django_assert_max_num_queries(16):
        watcher.scan(chain.pk)


def test_a_range_with_many_deposits_takes_few_queries_to_store(
    world: World, django_assert_max_num_queries: Any
):
    Chain.objects.update(confirmations=1_000)
    wallet_for(world.players[0])
    for _ in range(40):
        world.deposit(world.players[0])

    with django_assert_max_num_queries(40):
        world.scan()

    assert Deposit.objects.count() == 40


def test_a_scan_that_takes_too_long_stops_and_goes_on_the_next_time(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    world.deposit(world.players[0])
    world.confirm()
    before = world.chain.scanned_block
    with monkeypatch.context() as patch:
        patch.setattr(watcher, "SCAN_SECONDS", 0)
        world.scan()
        assert world.chain.scanned_block == before

    world.scan()

    assert world.credits(world.players[0]) == 1
    assert Posting.objects.count() == 2


def test_the_beat_hands_each_chain_to_a_task(world: World, monkeypatch: pytest.MonkeyPatch):
    Chain.objects.create(
        pk=97,
        name="paused",
        confirmations=1,
        genesis_hash="0x",
        scanned_block=0,
        scanned_hash="0x",
        block_range=1,
        paused=True,
    )
    asked: list[Any] = []
    monkeypatch.setattr(
        tasks.scan_chain, "apply_async", lambda args, **options: asked.append((args, options))
    )

    tasks.scan_chains()

    assert asked == [((settings.CHAIN_ID,), {"expires": 30})]
