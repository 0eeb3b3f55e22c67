"""Adjustments: a reason, a second operator, and a transfer like any other."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import Permission
from django.db import IntegrityError, connection

from tests.wallets.ledger_helpers import available, new_wallet
from wallets.adjustments import (
    AlreadyDecided,
    InvalidAdjustment,
    approve_adjustment,
    propose_adjustment,
    reject_adjustment,
)
from wallets.errors import Forbidden, InsufficientCredits, NotFound
from wallets.models import Adjustment, Transfer, Wallet
from wallets.selectors import statement

pytestmark = pytest.mark.django_db(transaction=True)


def operator(name, *permissions):
    wallet = Wallet.objects.create(username=name, is_staff=True)
    for permission in permissions:
        wallet.user_permissions.add(Permission.objects.get(codename=permission))
    return wallet


@pytest.fixture
def ann():
    return operator("ann", "propose_adjustment", "decide_adjustment")


@pytest.fixture
def bob():
    return operator("bob", "propose_adjustment", "decide_adjustment")


def test_credits_move_when_a_second_operator_approves(ann, bob):
    player = new_wallet(10)
    adjustment = propose_adjustment(operator=ann, wallet=player, amount=5, reason="a bonus")
    assert available(player) == 10
    approve_adjustment(operator=bob, adjustment_id=adjustment.pk)
    assert available(player) == 15
    line = statement(player).latest("id")
    assert (line.kind, line.amount, line.transfer.memo) == ("adjustment", 5, "a bonus")


def test_credits_can_be_taken_but_not_more_than_there_are(ann, bob):
    player = new_wallet(10)
    taken = propose_adjustment(operator=ann, wallet=player, amount=-4, reason="a correction")
    approve_adjustment(operator=bob, adjustment_id=taken.pk)
    assert available(player) == 6
    too_much = propose_adjustment(operator=ann, wallet=player, amount=-7, reason="a correction")
    with pytest.raises(InsufficientCredits):
        approve_adjustment(operator=bob, adjustment_id=too_much.pk)
    assert available(player) == 6
    assert Adjustment.objects.get(pk=too_much.pk).status == Adjustment.Status.PROPOSED


def test_nobody_approves_their_own(ann):
    adjustment = propose_adjustment(operator=ann, wallet=new_wallet(), amount=5, reason="for me")
    with pytest.raises(Forbidden):
        approve_adjustment(operator=ann, adjustment_id=adjustment.pk)
    with pytest.raises(IntegrityError):
        Adjustment.objects.filter(pk=adjustment.pk).update(
            status="approved",
            decided_by=ann,
            transfer=Transfer.objects.create(
                key="forged", kind="adjustment", created_at=adjustment.proposed_at
            ),
        )


@pytest.mark.parametrize(
    ("amount", "reason"),
    [(0, "nothing"), (5, ""), (5, "   "), (10**12 + 1, "a slip"), (-(10**78), "a slip")],
    ids=str,
)
def test_an_adjustment_needs_an_amount_and_a_reason(ann, amount, reason):
    with pytest.raises(InvalidAdjustment):
        propose_adjustment(operator=ann, wallet=new_wallet(), amount=amount, reason=reason)


def test_an_adjustment_is_for_a_player(ann, bob):
    with pytest.raises(InvalidAdjustment):
        propose_adjustment(operator=ann, wallet=bob, amount=5, reason="pay")


def test_each_step_needs_its_permission(ann, bob):
    nobody = operator("nobody")
    player = new_wallet()
    with pytest.raises(Forbidden):
        propose_adjustment(operator=nobody, wallet=player, amount=5, reason="a bonus")
    adjustment = propose_adjustment(operator=ann, wallet=player, amount=5, reason="a bonus")
    for decide in (approve_adjustment, reject_adjustment):
        with pytest.raises(Forbidden):
            decide(operator=nobody, adjustment_id=adjustment.pk)
    assert available(player) == 0


def test_approved_twice_it_moves_credits_once(ann, bob):
    player = new_wallet()
    adjustment = propose_adjustment(operator=ann, wallet=player, amount=5, reason="a bonus")

    def approve():
        approve_adjustment(operator=bob, adjustment_id=adjustment.pk)
        connection.close()

    threads = [threading.Thread(target=approve) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert available(player) == 5


def test_only_who_approved_it_hears_so_when_it_is_asked_again(ann, bob):
    adjustment = propose_adjustment(operator=ann, wallet=new_wallet(), amount=5, reason="a bonus")
    approve_adjustment(operator=bob, adjustment_id=adjustment.pk)
    approve_adjustment(operator=bob, adjustment_id=adjustment.pk)
    for late in (ann, operator("eve", "decide_adjustment")):
        with pytest.raises(AlreadyDecided):
            approve_adjustment(operator=late, adjustment_id=adjustment.pk)


def test_what_was_proposed_is_not_proposed_twice_until_it_is_decided(ann, bob):
    proposal = {"operator": ann, "wallet": new_wallet(), "amount": 5, "reason": "a bonus"}

    def propose(_number):
        try:
            return propose_adjustment(**proposal).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as clicks:
        (first,) = set(clicks.map(propose, range(8)))
    assert propose_adjustment(**proposal | {"operator": bob}).pk != first
    assert propose_adjustment(**proposal | {"amount": 6}).pk != first
    reject_adjustment(operator=bob, adjustment_id=first)
    assert propose_adjustment(**proposal).pk != first


def test_what_was_rejected_stays_rejected(ann, bob):
    player = new_wallet()
    adjustment = propose_adjustment(operator=ann, wallet=player, amount=5, reason="a bonus")
    reject_adjustment(operator=ann, adjustment_id=adjustment.pk)
    assert reject_adjustment(operator=ann, adjustment_id=adjustment.pk).decided_by == ann
    for decide in (approve_adjustment, reject_adjustment):
        with pytest.raises(AlreadyDecided):
            decide(operator=bob, adjustment_id=adjustment.pk)
    assert available(player) == 0


def test_an_unknown_adjustment_is_not_found(bob):
    with pytest.raises(NotFound):
        approve_adjustment(operator=bob, adjustment_id=10**9)
