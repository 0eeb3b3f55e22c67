"""Withdrawals: how one is asked for, refused, decided and paid."""

from typing import Any

import pytest
from django.db import transaction

from contracts import signer, withdrawals
from contracts.models import Withdrawal
from contracts.withdrawals import (
    AlreadyDecided,
    DailyLimitReached,
    TooLateToCancel,
    WithdrawalOutOfRange,
    WithdrawalsClosed,
    approve_withdrawal,
    cancel_withdrawal,
    reject_withdrawal,
    request_withdrawal,
)
from tests.contracts.test_reorgs import stake
from tests.contracts.withdraw_world import (
    NATIVE,
    House,
    fresh,
    hold,
    operator,
    status,
    vault_balance,
)
from tests.contracts.world import CONFIRMATIONS, PRICE
from wallets.accounts import wallet_for
from wallets.errors import Forbidden, InsufficientCredits, NotFound, WalletFrozen
from wallets.models import Wallet
from wallets.selectors import credits_of

DECIDES = "decide_withdrawal"


def test_credits_wait_in_an_account_of_their_own_until_they_are_paid(house: House, ann: str):
    withdrawal = house.ask(ann, 4)

    assert status(withdrawal) == "approved"
    assert credits_of(wallet_for(ann)) == {
        "available": 6,
        "pending_withdrawal": 4,
        "in_play": 0,
    }
    assert not house.red()


def test_a_voucher_is_paid_by_the_vault_and_closed_with_its_last_confirmation(
    house: House, ann: str
):
    withdrawal = house.signed(ann, 4)
    before = house.coins(ann)

    house.redeem(withdrawal)
    assert house.coins(ann) == before + 4 * PRICE
    seen = []
    for _ in range(CONFIRMATIONS):
        house.scan()
        seen.append((status(withdrawal), house.balance(ann, "pending")))
        assert not house.red()
        house.world.mine()

    assert seen == [("redeemed", 4), ("redeemed", 4), ("paid", 0)]
    assert vault_balance() == -6
    assert house.balance(ann) == 6


def test_whoever_relays_a_voucher_it_pays_the_player(house: House, ann: str):
    withdrawal = house.signed(ann, 4)
    before = house.coins(ann)

    house.redeem(withdrawal, sender=house.world.players[5])

    assert house.coins(ann) == before + 4 * PRICE


def test_a_voucher_pays_once_and_nothing_but_what_it_says(house: House, ann: str):
    house.fund(house.world.players[1], 50)
    withdrawal = house.signed(ann, 4)

    assert house.refused(withdrawal, amount=5 * PRICE)
    assert house.refused(withdrawal, player=house.world.players[1])
    assert house.refused(withdrawal, deadline=withdrawal.deadline + 1)
    assert not house.refused(withdrawal)
    house.redeem(withdrawal)
    assert house.refused(withdrawal)


def test_tokens_are_paid_at_their_own_price(house: House, settings: Any):
    settings.WITHDRAWAL_TOKEN = house.world.token.address.lower()
    player = house.world.players[0]
    house.world.deposit_token(player, 70_000)
    house.confirm()

    withdrawal = house.signed(player, 5)
    house.redeem(withdrawal)
    house.confirm()

    assert house.world.token.functions.balanceOf(player).call() == 50_000
    assert (status(withdrawal), house.balance(player)) == ("paid", 2)
    assert not house.red()


def test_a_contract_that_is_a_player_is_paid(house: House):
    wallet = house.world.deploy_test("Receiver")
    house.world.chain_node.set_balance(wallet.address, 10**21)
    house.world.chain_node.impersonate(wallet.address)
    house.fund(wallet.address, 3)
    before = house.coins(wallet.address)

    withdrawal = house.signed(wallet.address, 3)
    house.redeem(withdrawal)
    house.confirm()

    assert house.coins(wallet.address) == before + 3 * PRICE
    assert status(withdrawal) == "paid"


# --- Refusals ---------------------------------------------------------------------------------


def test_nobody_withdraws_more_than_there_is(house: House, ann: str):
    with pytest.raises(InsufficientCredits), transaction.atomic():
        house.ask(ann, 11)

    assert not Withdrawal.objects.exists()
    assert house.balance(ann) == 10


def test_a_frozen_wallet_withdraws_nothing(house: House, ann: str):
    Wallet.objects.filter(address=ann).update(is_active=False)

    with pytest.raises(WalletFrozen):
        house.ask(ann)


def test_a_wallet_below_zero_withdraws_nothing(house: House):
    player = house.world.players[0]
    with house.undone():
        house.fund(player, 5)
        stake(house.world, player, 3, "stake:x")
    house.world.mine(10)
    house.scan()
    assert house.balance(player) == -3

    with pytest.raises(InsufficientCredits), transaction.atomic():
        house.ask(player)


@pytest.mark.parametrize("credits_", [0, -1, 2, 2**256])
def test_less_than_the_least_or_more_than_the_chain_can_pay_is_refused(
    house: House, ann: str, settings: Any, credits_: int
):
    settings.WITHDRAWAL_MIN_CREDITS = 3

    with pytest.raises(WithdrawalOutOfRange):
        house.ask(ann, credits_)


def test_the_days_limit_counts_what_was_not_given_back(house: House, ann: str, settings: Any):
    settings.WITHDRAWAL_WALLET_DAILY_CREDITS = 5
    first = house.ask(ann, 3)
    with pytest.raises(DailyLimitReached) as caught:
        house.ask(ann, 3)
    assert caught.value.extra == {"left": 2}

    cancel_withdrawal(wallet=wallet_for(ann), withdrawal_id=first.pk)
    house.ask(ann, 5)
    Withdrawal.objects.update(requested_at="2020-01-01T00:00Z")
    house.ask(ann, 5)


def test_without_a_vault_or_a_price_nothing_is_withdrawn(house: House, ann: str, settings: Any):
    settings.WITHDRAWAL_TOKEN = house.world.owner
    with pytest.raises(WithdrawalsClosed):
        house.ask(ann)
    settings.WITHDRAWAL_TOKEN = NATIVE
    settings.CHAIN_ID = 97
    with pytest.raises(WithdrawalsClosed):
        house.ask(ann)


# --- Taking back and deciding -----------------------------------------------------------------


def test_a_player_may_cancel_until_it_is_signed(house: House, ann: str):
    early, late = house.ask(ann, 2), house.signed(ann, 3)
    wallet = wallet_for(ann)

    for _ in range(2):
        cancel_withdrawal(wallet=wallet, withdrawal_id=early.pk)
    with pytest.raises(TooLateToCancel):
        cancel_withdrawal(wallet=wallet, withdrawal_id=late.pk)

    assert (status(early), status(late)) == ("cancelled", "signed")
    assert (house.balance(ann), house.balance(ann, "pending")) == (7, 3)
    assert not house.sign(early)
    assert not house.red()


def test_nobody_cancels_for_another(house: House, ann: str):
    withdrawal = house.ask(ann, 2)

    for wallet, number in ((wallet_for(house.relayer), withdrawal.pk), (wallet_for(ann), 999)):
        with pytest.raises(NotFound):
            cancel_withdrawal(wallet=wallet, withdrawal_id=number)


def test_above_the_threshold_an_operator_approves_first(house: House, ann: str, settings: Any):
    settings.WITHDRAWAL_APPROVAL_CREDITS = 4
    withdrawal = house.ask(ann, 5)
    assert (status(withdrawal), hold(withdrawal)) == ("requested", "approval")
    assert not house.sign(withdrawal)

    decider = operator(DECIDES)
    for _ in range(2):
        approve_withdrawal(operator=decider, withdrawal_id=withdrawal.pk)

    assert fresh(withdrawal).decided_by == decider
    assert house.sign(withdrawal)
    with pytest.raises(AlreadyDecided):
        approve_withdrawal(operator=decider, withdrawal_id=withdrawal.pk)
    with pytest.raises(AlreadyDecided):
        reject_withdrawal(operator=decider, withdrawal_id=withdrawal.pk)


def test_a_rejected_withdrawal_gives_the_credits_back_once(house: House, ann: str, settings: Any):
    settings.WITHDRAWAL_APPROVAL_CREDITS = 4
    asked, approved = house.ask(ann, 5), house.ask(ann, 2)
    decider = operator(DECIDES)

    for withdrawal in (asked, approved, asked):
        reject_withdrawal(operator=decider, withdrawal_id=withdrawal.pk)
    with pytest.raises(AlreadyDecided):
        approve_withdrawal(operator=decider, withdrawal_id=asked.pk)

    assert (status(asked), status(approved), house.balance(ann)) == ("rejected", "rejected", 10)
    assert not house.red()


def test_only_operators_with_the_permission_decide(house: House, ann: str):
    withdrawal = house.ask(ann, 5)

    for who in (wallet_for(ann), operator()):
        for decide in (approve_withdrawal, reject_withdrawal):
            with pytest.raises(Forbidden):
                decide(operator=who, withdrawal_id=withdrawal.pk)


# --- The table --------------------------------------------------------------------------------


def test_nothing_moves_but_by_the_table(house: House, ann: str):
    withdrawal = house.ask(ann, 1)

    for there in (Withdrawal.Status.PAID, Withdrawal.Status.RETURNED):
        with pytest.raises(ValueError, match="can't become"), transaction.atomic():
            withdrawals.move(withdrawals.locked(withdrawal.pk), there)
    assert set(Withdrawal.MOVES) == set(Withdrawal.Status)


def test_voucher_numbers_are_drawn_at_random(house: House, ann: str):
    numbers = [house.ask(ann).voucher for _ in range(10)]

    assert len({n >> 128 for n in numbers}) == 10
    assert max(numbers).bit_length() > 240


def test_what_is_signed_comes_from_the_signer_alone():
    assert signer.sign_approved.__module__ == "contracts.signer"
    assert request_withdrawal.__module__ == "contracts.withdrawals"
