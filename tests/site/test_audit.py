"""The audit is green where all is well, and red, with the rows, for each thing that can be off."""

import io
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone
from eth_utils.address import to_checksum_address

from bas_site.tasks import run_audit as run_audit_task
from contracts.models import NATIVE, Chain, Deposit, Token, Vault
from matches import battle, lobby, practice
from tests.wallets.ledger_helpers import new_wallet, refused
from wallets import ledger
from wallets.ledger_upkeep import seal_days
from wallets.models import Account, AuditRun, Posting, Transfer

pytestmark = pytest.mark.django_db(transaction=True)

PRICE = 10**15


@pytest.fixture
def world(chain, settings):
    """Two players whose credits come from deposits, and matches in each status, practice too.

    The vault is an account of the chain that holds what was deposited: the audit asks for no more.
    """
    settings.CHAIN_RPC_URLS = [chain.url]
    settings.CHAIN_ID = 31337
    address = to_checksum_address("0x00000000000000000000000000000000000ba501")
    chain.set_balance(address, 600 * PRICE)
    watched = Chain.objects.create(
        pk=31337,
        name="Anvil",
        confirmations=1,
        genesis_hash="0x" + "0" * 64,
        scanned_block=0,
        scanned_hash="0x" + "0" * 64,
        block_range=100,
    )
    vault = Vault.objects.create(chain=watched, address=address, deployed_block=1)
    token = Token.objects.create(
        vault=vault, address=NATIVE, symbol="ETH", decimals=18, credit_price=PRICE
    )
    players = [new_wallet(), new_wallet()]
    for number, player in enumerate(players, 1):
        deposit(vault, token, player, number, 300)
    ann, bob = players
    lobby.create_match(wallet=ann, stake=10, visibility="open")
    running = lobby.create_match(wallet=ann, stake=20, visibility="open")
    lobby.join_match(wallet=bob, match_id=running.pk)
    won = lobby.create_match(wallet=ann, stake=30, visibility="open")
    lobby.join_match(wallet=bob, match_id=won.pk)
    battle.resign(wallet=bob, match_id=won.pk)
    practice.start_practice(wallet=ann, ape="drifter")
    practised = practice.start_practice(wallet=bob, ape="drifter")
    battle.resign(wallet=bob, match_id=practised.pk)
    cancelled = lobby.create_match(wallet=bob, stake=40, visibility="open")
    lobby.cancel_match(wallet=bob, match_id=cancelled.pk)
    return {
        "ann": ann,
        "bob": bob,
        "running": running,
        "won": won,
        "vault": vault,
        "token": token,
        "rpc": chain.url,
    }


def deposit(vault, token, wallet, number, credits_):
    row = Deposit(
        vault=vault,
        token=token,
        wallet=wallet,
        number=number,
        amount=credits_ * PRICE,
        credits=credits_,
        tx_hash=f"0x{number:064x}",
        log_index=0,
        block_number=number,
        block_hash=f"0x{number:064x}",
        status=Deposit.Status.CREDITED,
        credited_at=timezone.now(),
    )
    receipt = ledger.mint(wallet=wallet, credits_=credits_, key=f"deposit:{number}")
    row.transfer_id = receipt.transfer_id
    row.save()
    return row


@contextmanager
def by_force():
    """A session in which no trigger fires: what a superuser could do, and no other."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        yield cursor


def run_audit():
    """The audit's verdict and what it printed."""
    out = io.StringIO()
    try:
        call_command("audit", stdout=out)
    except CommandError:
        return "red", out.getvalue()
    return "green", out.getvalue()


def assert_red(*words):
    verdict, printed = run_audit()
    assert verdict == "red"
    for word in words:
        assert word in printed


def test_it_is_green_where_all_is_well(world):
    verdict, printed = run_audit()
    assert verdict == "green", printed
    assert "off" not in printed


def test_it_is_green_before_anything_has_happened(db):
    assert run_audit()[0] == "green"


def test_a_posting_deleted_by_force_turns_it_red(world):
    posting = Posting.objects.filter(account__kind=Account.Kind.AVAILABLE).first()
    with refused("BA004"):
        posting.delete()
    assert run_audit()[0] == "green"
    with by_force() as cursor:
        cursor.execute("DELETE FROM wallets_posting WHERE id = %s", [posting.pk])
    assert_red(f"transfer={posting.transfer_id}", f"account={posting.account_id}")


def test_a_bent_balance_turns_it_red(world):
    account = ledger.player_account(world["ann"])
    with refused("BA003"):
        Account.objects.filter(pk=account.pk).update(balance=account.balance + 1)
    with by_force() as cursor:
        cursor.execute(
            "UPDATE wallets_account SET balance = balance + 1 WHERE id = %s", [account.pk]
        )
    assert_red(f"key=wallet:{world['ann'].pk}", f"balance={account.balance + 1}")


def test_a_deposit_minted_twice_turns_it_red(world):
    ledger.mint(wallet=world["ann"], credits_=300, key="deposit:1:again")
    assert_red("deposit:1:again", "minted=900", "confirmed=600", "owed=", "held=600")


def test_a_bent_amount_turns_it_red(world):
    posting = Posting.objects.filter(version=1).first()
    with by_force() as cursor:
        cursor.execute(
            "UPDATE wallets_posting SET amount = amount + 1, balance = balance + 1 WHERE id = %s",
            [posting.pk],
        )
    assert_red(f"transfer={posting.transfer_id} key=")


def test_a_transfer_without_postings_turns_it_red(world):
    with by_force() as cursor:
        cursor.execute(
            "INSERT INTO wallets_transfer (key, kind, memo, created_at) "
            "VALUES ('empty', 'stake', '', now())"
        )
    assert_red("key=empty")


def test_a_leg_without_a_transfer_turns_it_red(world):
    key = f"release:{world['won'].pk}"
    leg = Posting.objects.filter(transfer__key=key).first()
    with by_force() as cursor:
        cursor.execute("DELETE FROM wallets_transfer WHERE key = %s", [key])
    assert_red(f"posting={leg.pk} transfer={leg.transfer_id}", f"match={world['won'].pk}")


def test_a_system_account_rolled_up_wrongly_turns_it_red(world):
    with by_force() as cursor:
        cursor.execute("SELECT ledger_roll_up(1000000)")
        cursor.execute("UPDATE wallets_account SET balance = balance + 5 WHERE kind = 'fees'")
    assert_red("key=fees")


def test_a_player_below_zero_for_no_reason_turns_it_red(world):
    with by_force() as cursor:
        cursor.execute(
            "UPDATE wallets_account SET balance = -1 WHERE wallet_id = %s", [world["bob"].pk]
        )
    assert_red("balance=-1")


def test_an_ended_match_whose_escrow_is_not_empty_turns_it_red(world):
    escrow = Account.objects.get(key=f"match:{world['won'].pk}")
    ledger.move(
        kind=Transfer.Kind.STAKE,
        key="stray",
        source=ledger.player_account(world["ann"]),
        target=escrow,
        amount=1,
    )
    assert_red(f"match={world['won'].pk}", "escrow=1")


def test_a_match_that_ended_without_its_settlement_turns_it_red(world):
    type(world["running"]).objects.filter(pk=world["running"].pk).update(
        status="draw", deadline=None
    )
    assert_red(f"match={world['running'].pk}")


def test_an_escrow_of_no_match_turns_it_red(world):
    ledger.open_account(kind=Account.Kind.ESCROW, key="match:nothing")
    assert_red("key=match:nothing")


def test_a_deposit_credited_to_another_wallet_turns_it_red(world):
    row = Deposit.objects.first()
    Deposit.objects.filter(pk=row.pk).update(wallet=world["bob"])
    assert_red(f"deposit={row.pk}", f"minted_to={world['ann'].pk}")


def test_an_orphaned_deposit_that_was_not_taken_back_turns_it_red(world):
    row = Deposit.objects.first()
    Deposit.objects.filter(pk=row.pk).update(status=Deposit.Status.ORPHANED)
    assert_red(f"deposit={row.pk}", "taken_back_by=None")


def test_a_vault_that_holds_too_little_turns_it_red(world, chain):
    chain.set_balance(world["vault"].address, 597 * PRICE)
    assert_red("held=597")


def test_a_vault_that_holds_more_than_it_owes_is_no_fault(world, chain):
    chain.set_balance(world["vault"].address, 10**24)
    assert run_audit()[0] == "green"


def test_what_no_node_tells_is_not_seen_rather_than_red(world, settings, client):
    settings.CHAIN_RPC_URLS = ["http://127.0.0.1:9/key-of-mine"]
    out = io.StringIO()
    with pytest.raises(CommandError, match="green, but for 1 that could not be made"):
        call_command("audit", stdout=out)
    assert "not known" in out.getvalue()
    assert "key-of-mine" not in out.getvalue()
    assert metric(client, "bas_audit_broken_checks") == 0
    assert metric(client, "bas_audit_unseen_checks") == 1
    settings.CHAIN_RPC_URLS = [world["rpc"]]
    run_audit_task()
    assert metric(client, "bas_audit_unseen_checks") == 0


def test_a_query_of_an_audit_may_take_longer_than_a_requests(world):
    locked = threading.Event()

    def hold_postings():
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE wallets_posting")
            locked.set()
            time.sleep(1)
        connection.close()

    with connection.cursor() as cursor:
        usual = cursor.execute("SHOW statement_timeout").fetchone()
        cursor.execute("SET statement_timeout = '300ms'")
        with ThreadPoolExecutor() as others:
            others.submit(hold_postings)
            locked.wait(10)
            assert run_audit_task() is True
        assert cursor.execute("SHOW statement_timeout").fetchone() == usual


def test_what_is_wrong_below_the_seal_stays_red_until_a_whole_audit_is_green(world, client):
    for days in (1, 2):
        with time_machine.travel(datetime.now(UTC) + timedelta(days=days), tick=True):
            seal_days()
    bend = "UPDATE wallets_transfer SET created_at = created_at + %s * interval '1 second'"
    with by_force() as cursor:
        cursor.execute(bend, [1])
    assert run_audit_task() is True
    assert run_audit_task(whole=True) is False
    assert run_audit_task() is True
    assert metric(client, "bas_audit_broken_checks") == 1
    with by_force() as cursor:
        cursor.execute(bend, [-1])
    assert run_audit_task(whole=True) is True
    assert metric(client, "bas_audit_broken_checks") == 0


def metric(client, name):
    """A figure of /metrics, or None if it is not served."""
    lines = client.get("/metrics").content.decode().splitlines()
    return next((float(line.split()[1]) for line in lines if line.startswith(f"{name} ")), None)


def test_each_run_is_kept_and_its_result_is_in_the_metrics(world, client):
    assert metric(client, "bas_audit_broken_checks") is None
    assert run_audit_task() is True
    assert metric(client, "bas_audit_broken_checks") == 0
    ledger.mint(wallet=world["ann"], credits_=1, key="forged")
    assert run_audit_task() is False
    assert metric(client, "bas_audit_broken_checks") >= 1
    run = AuditRun.objects.latest("started_at")
    assert (run.whole, run.broken) == (False, sum(bool(f["off"]) for f in run.findings))
    assert metric(client, "bas_audit_finished_timestamp_seconds") == pytest.approx(
        run.finished_at.timestamp()
    )


def test_a_red_audit_is_an_error_in_the_log_with_the_rows(world, caplog):
    ledger.mint(wallet=world["ann"], credits_=1, key="forged")
    with caplog.at_level(logging.ERROR):
        run_audit_task()
    assert "the audit is red" in caplog.text
    assert "forged" in caplog.text


def test_a_green_audit_logs_no_error(world, caplog):
    with caplog.at_level(logging.ERROR):
        run_audit_task()
    assert not caplog.records
