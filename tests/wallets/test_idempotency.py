"""`Idempotency-Key`: a write is carried out once, and every repeat gets the first answer."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
import time_machine
from django.db import OperationalError, connection, transaction
from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from tests.wallets.ledger_helpers import available, new_wallet
from wallets import ledger
from wallets.errors import IdempotencyConflict, InsufficientCredits
from wallets.idempotency import MAX_LENGTH, InvalidIdempotencyKey, once
from wallets.models import Account, IdempotencyKey, Transfer
from wallets.tasks import forget_expired

pytestmark = pytest.mark.django_db
ANSWER = {"zebra": 1, "a": {"nested": [None, True, "ü\u2028"], "b": 10**30}, "the": "end"}


@pytest.fixture
def wallet(db):
    return new_wallet(100)


def request(wallet, key="k", body=None, path="/pay", method="POST"):
    headers = {} if key is None else {"Idempotency-Key": key}
    raw = APIRequestFactory().generic(
        method, path, JSONRenderer().render(body or {}), "application/json", headers=headers
    )
    wrapped = Request(raw, parsers=[JSONParser()])
    wrapped.user = wallet
    return wrapped


def write_of(results, answer=ANSWER, status=201):
    def write():
        results.append(1)
        return status, answer

    return write


def sent(response):
    return response.status_code, JSONRenderer().render(response.data)


def test_a_repeat_gets_the_first_answer_byte_for_byte(wallet):
    runs = []
    first = sent(once(request(wallet), write_of(runs)))
    again = sent(once(request(wallet), write_of(runs, {"other": 2}, 200)))
    assert first == again
    assert first == (201, JSONRenderer().render(ANSWER))
    assert len(runs) == 1


def test_without_a_key_every_request_counts(wallet):
    runs = []
    for _ in range(2):
        once(request(wallet, key=None), write_of(runs))
    assert len(runs) == 2
    assert not IdempotencyKey.objects.exists()


@pytest.mark.parametrize(
    "other", [{"body": {"stake": 2}}, {"path": "/pay/more"}, {"method": "PUT"}]
)
def test_the_key_with_another_request_is_a_conflict(wallet, other):
    runs = []
    once(request(wallet, body={"stake": 1}), write_of(runs))
    with pytest.raises(IdempotencyConflict):
        once(request(wallet, **({"body": {"stake": 1}} | other)), write_of(runs))
    assert len(runs) == 1


def test_the_order_of_the_fields_makes_no_other_request(wallet):
    runs = []
    once(request(wallet, body={"a": 1, "b": 2}), write_of(runs))
    once(request(wallet, body={"b": 2, "a": 1}), write_of(runs))
    assert len(runs) == 1


def test_a_key_is_a_wallets_own(wallet):
    runs = []
    once(request(wallet), write_of(runs))
    once(request(new_wallet()), write_of(runs, {"yours": True}))
    assert len(runs) == 2


def test_a_request_that_failed_does_not_use_the_key_up(wallet):
    def spend_too_much():
        escrow = ledger.open_account(kind=Account.Kind.ESCROW, key="match:x")
        source = ledger.player_account(wallet)
        ledger.move(
            kind=Transfer.Kind.STAKE, key="stake:x", source=source, target=escrow, amount=101
        )

    with transaction.atomic(), pytest.raises(InsufficientCredits), transaction.atomic():
        once(request(wallet), spend_too_much)
    assert available(wallet) == 100
    runs = []
    assert once(request(wallet), write_of(runs)).status_code == 201
    assert len(runs) == 1


@pytest.mark.parametrize("key", ["", "k" * (MAX_LENGTH + 1), "ü", "a\tb", "a\x7f"])
def test_an_odd_key_is_refused(wallet, key):
    with pytest.raises(InvalidIdempotencyKey):
        once(request(wallet, key=key), write_of([]))


def test_the_longest_key_is_taken(wallet):
    assert once(request(wallet, key="k" * MAX_LENGTH), write_of([])).status_code == 201


def test_stored_answers_are_kept_for_a_month(wallet):
    with time_machine.travel(datetime(2030, 1, 1, tzinfo=UTC), tick=False) as clock:
        once(request(wallet), write_of([]))
        clock.shift(30 * 24 * 3600)
        forget_expired()
        assert IdempotencyKey.objects.count() == 1
        clock.shift(1)
        forget_expired()
        assert IdempotencyKey.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_of_many_at_the_same_time_one_runs_and_all_get_its_answer():
    wallet, runs, barrier = new_wallet(), [], threading.Barrier(6)

    def race(n):
        barrier.wait(timeout=10)
        try:
            return sent(once(request(wallet), write_of(runs, {"n": n})))
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        answers = set(pool.map(race, range(6)))
    assert len(runs) == 1
    assert len(answers) == 1


@pytest.mark.django_db(transaction=True)
def test_nobody_waits_for_ever_for_a_key():
    wallet, running, done = new_wallet(), threading.Event(), threading.Event()

    def write():
        running.set()
        assert done.wait(timeout=10)
        return 200, {}

    def first():
        try:
            return once(request(wallet), write).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(first)
        assert running.wait(timeout=10)
        with connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            assert cursor.fetchone() == ("10s",)
            cursor.execute("SET lock_timeout = '50ms'")
        with pytest.raises(OperationalError, match="lock timeout"):
            once(request(wallet), write)
        connection.close()
        done.set()
        assert answer.result(timeout=10) == 200
