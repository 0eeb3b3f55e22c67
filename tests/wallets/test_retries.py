"""What is run again when Postgres gives up on a transaction, and what is not."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from tests.wallets.ledger_helpers import all_balances, available, new_escrow, new_wallet
from tests.wallets.login_helpers import LOGIN, form, problem
from wallets import ledger
from wallets.db import ATTEMPTS, in_transaction, sqlstate
from wallets.errors import InsufficientCredits, LedgerRefusal, Problem
from wallets.ledger import Draft, Leg
from wallets.models import Asset, BearerToken, LoginNonce, Transfer

pytestmark = pytest.mark.django_db(transaction=True)

SERIALIZATION_FAILURE, DEADLOCK = "40001", "40P01"
SECONDS = 20


def execute(sql: str, *parameters: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)


def fail_with(state: str) -> None:
    """Have Postgres itself fail in this way."""
    execute(f"DO $$ BEGIN RAISE EXCEPTION 'on purpose' USING ERRCODE = '{state}'; END $$")


def note(word: str) -> None:
    """An effect that would show twice if it happened twice."""
    LoginNonce.objects.create(
        nonce=f"{word}:{LoginNonce.objects.filter(nonce__startswith=word).count()}",
        expires_at=timezone.now(),
    )


def noted() -> list[str]:
    return sorted(LoginNonce.objects.values_list("nonce", flat=True))


def side_by_side(*functions: Callable[[], object]) -> None:
    """Run functions in threads, each with a connection of its own; raises what they raise."""

    def run(function: Callable[[], object]) -> None:
        try:
            function()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(functions)) as threads:
        for future in [threads.submit(run, function) for function in functions]:
            future.result(SECONDS)


@pytest.fixture
def rows() -> tuple[str, str]:
    """Two rows to quarrel over."""
    for code in ("one", "two"):
        Asset.objects.create(code=code, name="0")
    return "one", "two"


class Quarrel:
    """Two transactions that meet, the first time they run, in the middle of their work."""

    def __init__(self) -> None:
        self.runs = {"a": 0, "b": 0}
        self._meeting = threading.Barrier(2)

    def meet(self, who: str) -> None:
        self.runs[who] += 1
        if self.runs[who] == 1:
            self._meeting.wait(SECONDS)


def add_one(code: str) -> None:
    execute("UPDATE wallets_asset SET name = (name::int + 1)::text WHERE code = %s", code)


def value(code: str) -> int:
    return int(Asset.objects.get(code=code).name)


# --- what is run again ------------------------------------------------------------------------


def test_of_two_transactions_in_a_deadlock_one_is_run_again_and_both_come_about(rows):
    quarrel = Quarrel()

    @in_transaction
    def work(who: str, first: str, second: str) -> None:
        note(who)
        add_one(first)
        quarrel.meet(who)
        add_one(second)

    side_by_side(lambda: work("a", *rows), lambda: work("b", *rows[::-1]))
    assert sorted(quarrel.runs.values()) == [1, 2]
    assert [value(code) for code in rows] == [2, 2]
    assert noted() == ["a:0", "b:0"]


def test_a_repeatable_read_that_was_overtaken_is_run_again(rows):
    quarrel = Quarrel()

    @in_transaction
    def work(who: str) -> None:
        execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        note(who)
        before = value("one")
        quarrel.meet(who)
        Asset.objects.filter(code="one").update(name=str(before + 1))

    side_by_side(lambda: work("a"), lambda: work("b"))
    assert sorted(quarrel.runs.values()) == [1, 2]
    assert value("one") == 2
    assert noted() == ["a:0", "b:0"]


def test_a_serializable_transaction_that_fails_at_its_commit_is_run_again(rows):
    quarrel = Quarrel()

    # Each looks at both rows and changes one, only if neither has been changed.
    @in_transaction
    def work(who: str, code: str) -> None:
        execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
        untouched = not any(value(row) for row in rows)
        quarrel.meet(who)
        if untouched:
            add_one(code)

    side_by_side(lambda: work("a", "one"), lambda: work("b", "two"))
    assert sorted(quarrel.runs.values()) == [1, 2]
    assert sum(value(row) for row in rows) == 1


@pytest.mark.parametrize("state", [SERIALIZATION_FAILURE, DEADLOCK])
@pytest.mark.parametrize("failures", range(1, ATTEMPTS))
def test_whatever_was_done_before_a_failure_is_there_once(state, failures):
    wallet, escrow = new_wallet(100), new_escrow()
    runs = []

    @in_transaction
    def stake() -> str:
        runs.append(1)
        note("stake")
        ledger.move(
            kind=Transfer.Kind.STAKE,
            key="stake:1",
            source=ledger.player_account(wallet),
            target=escrow,
            amount=30,
        )
        if len(runs) <= failures:
            fail_with(state)
        return "done"

    assert stake() == "done"
    assert len(runs) == failures + 1
    assert noted() == ["stake:0"]
    assert (available(wallet), ledger.balance(escrow)) == (70, 30)


# --- where it ends ----------------------------------------------------------------------------


@pytest.mark.parametrize("state", [SERIALIZATION_FAILURE, DEADLOCK])
def test_after_five_attempts_the_failure_is_raised_as_what_it_is(state):
    runs = []

    @in_transaction
    def work() -> None:
        runs.append(1)
        note("never")
        fail_with(state)

    with pytest.raises(OperationalError) as caught:
        work()
    assert sqlstate(caught.value) == state
    assert not isinstance(caught.value, Problem)
    assert (len(runs), ATTEMPTS) == (5, 5)
    assert noted() == []


def test_a_deadlock_that_comes_each_time_is_raised_as_a_deadlock_not_as_a_lack_of_credits(rows):
    """The rival always holds what the player's transfer comes to second, and never gives way."""
    wallet, escrow = new_wallet(100), new_escrow()
    theirs, runs = escrow.pk, []
    turn, done = threading.Semaphore(0), threading.Event()
    held = threading.Semaphore(0)

    def lock(account: int) -> None:
        execute("SELECT FROM wallets_account WHERE id = %s FOR UPDATE", account)

    def rival() -> None:
        while True:
            with transaction.atomic():
                # Whoever looks first for a deadlock is the one that ends it.
                execute("SET LOCAL deadlock_timeout = '60s'")
                lock(theirs)
                held.release()
                turn.acquire()
                if done.is_set():
                    return
                lock(ledger.player_account(wallet).pk)

    @in_transaction
    def stake() -> None:
        runs.append(1)
        assert held.acquire(timeout=SECONDS)
        execute("SET LOCAL deadlock_timeout = '300ms'")
        lock(ledger.player_account(wallet).pk)
        turn.release()
        ledger.move(
            kind=Transfer.Kind.STAKE,
            key="stake:1",
            source=ledger.player_account(wallet),
            target=escrow,
            amount=30,
        )

    def player() -> None:
        try:
            with pytest.raises(OperationalError) as caught:
                stake()
            assert sqlstate(caught.value) == DEADLOCK
            assert not isinstance(caught.value, Problem)
        finally:
            done.set()
            turn.release()

    side_by_side(rival, player)
    assert len(runs) == 5
    assert (available(wallet), ledger.balance(escrow)) == (100, 0)


@pytest.mark.parametrize("state", [SERIALIZATION_FAILURE, DEADLOCK])
def test_inside_an_open_transaction_nothing_is_run_again(state):
    runs = []

    @in_transaction
    def work() -> None:
        runs.append(1)
        fail_with(state)

    with pytest.raises(OperationalError) as caught, transaction.atomic():
        work()
    assert sqlstate(caught.value) == state
    assert len(runs) == 1


def test_only_the_outermost_is_run_again_and_as_a_whole():
    outer_runs, inner_runs = [], []

    @in_transaction
    def inner() -> None:
        inner_runs.append(1)
        if len(inner_runs) == 1:
            fail_with(DEADLOCK)

    @in_transaction
    def outer() -> None:
        outer_runs.append(1)
        note("outer")
        inner()

    outer()
    assert (len(outer_runs), len(inner_runs)) == (2, 2)
    assert noted() == ["outer:0"]


# --- what is not run again --------------------------------------------------------------------


def a_duplicate() -> None:
    for _ in range(2):
        Asset.objects.create(code="twice", name="")


def a_slow_statement() -> None:
    execute("SET LOCAL statement_timeout = '20ms'")
    execute("SELECT pg_sleep(5)")


def too_much() -> None:
    ledger.move(
        kind=Transfer.Kind.STAKE,
        key="stake:1",
        source=ledger.player_account(new_wallet(5)),
        target=new_escrow(),
        amount=6,
    )


def what_only_the_commit_shows() -> None:
    legs = [Leg(10**15, -5), Leg(new_escrow().pk, 5)]
    ledger.post(Draft(key="k", kind=Transfer.Kind.STAKE, legs=legs))


def a_bug() -> None:
    raise ValueError


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (a_duplicate, IntegrityError),
        (a_slow_statement, OperationalError),
        (lambda: fail_with("55P03"), OperationalError),
        (lambda: fail_with("08006"), OperationalError),
        (too_much, InsufficientCredits),
        (what_only_the_commit_shows, LedgerRefusal),
        (a_bug, ValueError),
    ],
    ids=[
        "a duplicate",
        "a slow statement",
        "a lock that was waited for too long",
        "a lost connection",
        "not enough credits",
        "refused at commit",
        "a bug",
    ],
)
def test_other_errors_are_raised_at_once(fault, error):
    runs = []

    @in_transaction
    def work() -> None:
        runs.append(1)
        note("never")
        fault()

    with pytest.raises(error):
        work()
    assert len(runs) == 1
    assert noted() == []
    assert not any(all_balances().values())


# --- what a caller of the API is told ---------------------------------------------------------


@contextmanager
def a_deadlock_on_each_write_to(table: str) -> Iterator[Callable[[], int]]:
    """Gives a function that tells how often it was run into."""
    # A sequence counts what is rolled back, too.
    execute("CREATE SEQUENCE test_attempts")
    execute(
        "CREATE FUNCTION test_deadlock() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "PERFORM nextval('test_attempts'); "
        f"RAISE EXCEPTION 'on purpose' USING ERRCODE = '{DEADLOCK}'; END $$"
    )
    execute(
        f"CREATE TRIGGER test_deadlock BEFORE INSERT ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION test_deadlock()"
    )

    def attempts() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT last_value FROM test_attempts")
            return cursor.fetchone()[0]

    try:
        yield attempts
    finally:
        execute("DROP FUNCTION test_deadlock() CASCADE")
        execute("DROP SEQUENCE test_attempts")


def test_over_http_a_deadlock_that_outlives_its_retries_is_a_call_to_try_again():
    client = APIClient()
    login = form(client) | {"token_name": "a bot"}
    with a_deadlock_on_each_write_to("wallets_bearertoken") as attempts:
        answer = client.post(LOGIN, login)
        assert attempts() == 5
    problem(answer, 503, "try_again")
    assert int(answer["Retry-After"]) > 0
    assert "on purpose" not in answer.content.decode()
    assert BearerToken.objects.count() == 0
