"""Withdrawals that players, signers, scans and sweeps go at all at once."""

import threading
from typing import Any

import pytest
from django.db import connections

from contracts import redemptions
from contracts.withdrawals import (
    DailyLimitReached,
    TooLateToCancel,
    cancel_withdrawal,
)
from tests.contracts.test_reorgs import stake
from tests.contracts.withdraw_world import (
    NATIVE,
    House,
    status,
)
from tests.contracts.world import CONFIRMATIONS, PRICE
from wallets.errors import InsufficientCredits


def at_once(*calls: Any) -> list[Any]:
    """What calls come to that start together in threads of their own."""
    start = threading.Barrier(len(calls))
    results: list[Any] = [None] * len(calls)

    def run(place: int) -> None:
        try:
            start.wait()
            results[place] = calls[place]()
        except Exception as error:
            results[place] = type(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.django_db(transaction=True)
def test_requests_at_once_pass_neither_the_balance_nor_the_limit(
    house: House, ann: str, settings: Any
):
    settings.WITHDRAWAL_WALLET_DAILY_CREDITS = 8
    results = at_once(*[lambda: house.ask(ann, 4)] * 6)

    assert results.count(DailyLimitReached) == 4
    assert (house.balance(ann), house.balance(ann, "pending")) == (2, 8)


@pytest.mark.django_db(transaction=True)
def test_the_same_credits_are_staked_or_withdrawn(house: House, ann: str):
    results = at_once(
        *[lambda: house.ask(ann, 7)] * 2,
        *[lambda n=n: stake(house.world, ann, 7, f"stake:{n}") for n in range(2)],
    )

    assert results.count(InsufficientCredits) == 3
    assert house.balance(ann) == 3


@pytest.mark.django_db(transaction=True)
def test_two_signers_sign_one_voucher(house: House, ann: str):
    withdrawal = house.ask(ann, 4)
    results = at_once(*[lambda: house.sign(withdrawal)] * 4)

    assert sorted(results) == [False, False, False, True]


@pytest.mark.django_db(transaction=True)
def test_two_signers_do_not_promise_the_same_coins(house: House, ann: str):
    other = house.world.players[1]
    house.fund(other, 10)
    house.own("setDailyLimit", NATIVE, 12 * PRICE)
    asked = [house.ask(ann, 8), house.ask(other, 8)]

    results = at_once(*[lambda w=w: house.sign(w) for w in asked])

    assert sorted(results) == [False, True]


@pytest.mark.django_db(transaction=True)
def test_a_withdrawal_is_cancelled_or_signed(house: House, ann: str):
    for _ in range(8):
        withdrawal = house.ask(ann, 1)
        signed, cancelled = at_once(
            lambda w=withdrawal: house.sign(w),
            lambda w=withdrawal: cancel_withdrawal(wallet=w.wallet, withdrawal_id=w.pk),
        )
        assert (signed is True) == (cancelled is TooLateToCancel)
        assert status(withdrawal) == ("signed" if signed is True else "cancelled")
    assert not house.red()


@pytest.mark.django_db(transaction=True)
def test_scans_and_sweeps_at_once_close_a_withdrawal_once(house: House, ann: str):
    paid, returned = house.signed(ann, 4), house.signed(ann, 3)
    house.redeem(paid)
    house.world.chain_node.rpc("evm_setNextBlockTimestamp", returned.deadline + 2)
    house.world.mine(CONFIRMATIONS)
    house.scan()

    at_once(*[house.sweep] * 4, *[lambda: redemptions.settle(chain=house.world.chain)] * 4)

    assert (status(paid), status(returned)) == ("paid", "returned")
    assert house.balance(ann) == 6
    assert not house.red()
