"""Rolling up, sealing days, and balances of the past."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.management import call_command
from django.db import connection, transaction

from tests.wallets.ledger_helpers import as_app_role, available, new_escrow, new_wallet, refused
from wallets import ledger, ledger_upkeep, tasks
from wallets.audit import BEGINNING, CHECKS, Since
from wallets.ledger_upkeep import NotSettled, roll_up, seal_days, settled_posting
from wallets.models import Account, Posting, Seal, Transfer

pytestmark = pytest.mark.django_db(transaction=True)


def vault():
    return ledger.system_account(Account.Kind.VAULT)


def tomorrow():
    """A day later: the day of everything posted so far has ended."""
    return time_machine.travel(datetime.now(UTC) + timedelta(days=1), tick=True)


def broken(since):
    return [row for check in CHECKS for row in check.find(since)]


@pytest.fixture
def open_transfer():
    """Posts a transfer in a transaction of another connection that stays open until it is told."""
    started, finish = threading.Event(), threading.Event()
    wallet = new_wallet()
    vault()

    def post():
        try:
            with transaction.atomic():
                ledger.mint(wallet=wallet, credits_=7, key="late")
                started.set()
                finish.wait(10)
        finally:
            connection.close()

    thread = threading.Thread(target=post)
    thread.start()
    assert started.wait(10)
    yield finish.set
    finish.set()
    thread.join()


def test_a_posting_is_settled_only_when_no_open_transaction_can_add_one_below(
    open_transfer, monkeypatch
):
    new_wallet(5)
    monkeypatch.setattr(ledger_upkeep, "SETTLE_SECONDS", 0.2)
    with pytest.raises(NotSettled):
        settled_posting()
    monkeypatch.undo()
    threading.Timer(0.2, open_transfer).start()
    settled = settled_posting()
    assert Posting.objects.filter(transfer__key="late", pk__lte=settled).count() == 2


def test_a_transfer_that_was_open_during_a_roll_up_is_not_left_out(open_transfer):
    new_wallet(5)
    threading.Timer(0.2, open_transfer).start()
    roll_up()
    assert vault().balance == ledger.balance(vault()) == -12


def test_a_day_without_postings_is_a_link_of_the_chain_too():
    new_wallet(5)
    for days in (1, 2, 3):
        with time_machine.travel(datetime.now(UTC) + timedelta(days=days), tick=True):
            seal_days()
    first, second, third = Seal.objects.all()
    assert first.posting == second.posting == third.posting
    assert Since.last_seal().moment == third.sealed_at
    assert broken(BEGINNING) == []


def test_migrating_replaces_the_functions_of_an_older_release():
    definition = "SELECT md5(pg_get_functiondef('ledger_balance(bigint)'::regprocedure))"
    with connection.cursor() as cursor:
        current = cursor.execute(definition).fetchone()
        cursor.execute(
            "CREATE OR REPLACE FUNCTION ledger_balance(account bigint) RETURNS numeric "
            "LANGUAGE sql AS 'SELECT 1::numeric'"
        )
        assert cursor.execute(definition).fetchone() != current
        call_command("migrate", verbosity=0)
        assert cursor.execute(definition).fetchone() == current


def test_rolling_up_changes_no_balance_however_often():
    new_wallet(5)
    for _ in range(3):
        roll_up()
        assert ledger.balance(vault()) == -5
    new_wallet(6)
    assert (vault().balance, ledger.balance(vault())) == (-5, -11)


def test_many_roll_ups_at_once_count_each_posting_once():
    for _ in range(10):
        new_wallet(1)

    def run():
        roll_up()
        connection.close()

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert vault().balance == ledger.balance(vault()) == -10


def test_a_day_is_sealed_once_and_only_when_it_has_ended():
    new_wallet(5)
    with tomorrow():
        seal = seal_days()
        assert seal.day == datetime.now(UTC).date() - timedelta(days=1)
        assert seal_days() is None
    assert (seal.postings, seal.posting) == (2, Posting.objects.latest("id").pk)
    assert seal.system_balances == {str(vault().pk): "-5"}
    assert seal_days() is None


def test_the_workers_role_rolls_up_and_seals():
    new_wallet(5)
    with as_app_role():
        tasks.roll_up()
        with tomorrow():
            tasks.seal_days()
    assert vault().balance == -5
    assert Seal.objects.count() == 1


def test_seals_are_chained():
    new_wallet(5)
    with tomorrow():
        first = seal_days()
    new_wallet(6)
    with time_machine.travel(datetime.now(UTC) + timedelta(days=2), tick=True):
        second = seal_days()
    alone = ledger_upkeep.hash_of_rows("", first.posting, second.posting)
    assert second.hash != alone
    assert second.hash == ledger_upkeep.hash_of_rows(first.hash, first.posting, second.posting)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE wallets_transfer SET memo = 'other'",
        "UPDATE wallets_transfer SET created_at = created_at + interval '1 microsecond'",
        "UPDATE wallets_transfer SET key = key || 'x'",
        # Rows that agree with each other in every way, and yet are not those that were sealed.
        "UPDATE wallets_posting SET amount = amount + sign(amount), balance = balance + 1",
    ],
)
def test_a_later_change_anywhere_under_a_seal_shows(change):
    new_wallet(5)
    with tomorrow():
        seal = seal_days()
    assert broken(BEGINNING) == []
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(change)
    assert any(row.startswith(f"seal={seal.day}") for row in broken(BEGINNING))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE wallets_seal SET hash = ''",
        "DELETE FROM wallets_seal",
        "TRUNCATE wallets_seal",
    ],
)
def test_a_seal_is_never_changed(statement):
    new_wallet(5)
    with tomorrow():
        seal_days()
    with connection.cursor() as cursor, refused("BA004"):
        cursor.execute(statement)


def test_an_audit_since_the_last_seal_sees_what_came_after_it_and_no_more():
    wallet, escrow = new_wallet(50), new_escrow()
    with tomorrow():
        seal_days()
    new_wallet(1)
    with time_machine.travel(datetime.now(UTC) + timedelta(days=2), tick=True):
        seal_days()
    since = Since.last_seal()
    ledger.move(
        kind=Transfer.Kind.STAKE,
        key="stake",
        source=ledger.player_account(wallet),
        target=escrow,
        amount=20,
    )
    roll_up()
    assert broken(since) == broken(BEGINNING) == []
    old, new = Posting.objects.first(), Posting.objects.last()
    for posting, seen_since in ((old, False), (new, True)):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(
                "UPDATE wallets_posting SET amount = amount + 1, balance = balance + 1 "
                "WHERE id = %s",
                [posting.pk],
            )
        assert bool(broken(since)) is seen_since
        assert broken(BEGINNING)


def test_balances_of_the_past():
    wallet, escrow = new_wallet(), new_escrow()
    account = ledger.player_account(wallet)
    moments = [datetime.now(UTC)]
    for number in range(1, 9):
        ledger.mint(wallet=wallet, credits_=number, key=f"d{number}")
        moments.append(datetime.now(UTC))
        if number == 4:
            with tomorrow():
                seal_days()
    for number, moment in enumerate(moments):
        total = number * (number + 1) // 2
        assert ledger.balance_at(account, moment) == total
        assert ledger.balance_at(vault(), moment) == -total
    assert ledger.balance_at(account, datetime.now(UTC)) == available(wallet)
    assert ledger.balance_at(escrow, datetime.now(UTC)) == 0


def test_the_audit_command_looks_at_everything_with_full():
    call_command("audit", "--full")
    assert Seal.objects.count() == 0
