"""Withdrawals on a real vault: every way that one can go."""

import threading
from typing import Any

import pytest
from django.db import connections, transaction

from contracts import redemptions, signer, withdrawals
from contracts.events import MovedMeanwhile
from contracts.models import Redemption, Withdrawal
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
    new_house,
    operator,
    status,
    vault_balance,
)
from tests.contracts.world import CONFIRMATIONS, PRICE, World
from wallets.accounts import wallet_for
from wallets.errors import Forbidden, InsufficientCredits, NotFound, WalletFrozen
from wallets.models import Transfer, Wallet
from wallets.selectors import credits_of

DECIDES = "decide_withdrawal"


@pytest.fixture
def house(world: World) -> House:
    return new_house(world)


@pytest.fixture
def ann(house: House) -> str:
    """A player with ten credits."""
    player = house.world.players[0]
    house.fund(player, 10)
    return player


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


# --- Expiry -----------------------------------------------------------------------------------


def test_credits_return_only_when_a_confirmed_block_is_past_the_deadline(house: House, ann: str):
    withdrawal = house.signed(ann, 4)

    house.at(withdrawal.deadline, blocks=1)
    assert house.sweep() == 0
    # Blocks past the deadline come, and at last the one at the very deadline is confirmed.
    for past in range(1, CONFIRMATIONS):
        house.at(withdrawal.deadline + past, blocks=1)
        assert (house.sweep(), status(withdrawal)) == (0, "signed")

    house.world.mine()
    house.scan()

    assert (house.sweep(), house.sweep(), status(withdrawal)) == (1, 0, "returned")
    assert (house.balance(ann), house.balance(ann, "pending")) == (10, 0)
    assert house.refused(withdrawal)
    assert not house.red()


def test_a_voucher_redeemed_at_the_very_deadline_is_paid_and_not_returned(house: House, ann: str):
    withdrawal = house.signed(ann, 4)
    house.world.chain_node.rpc("evm_setNextBlockTimestamp", withdrawal.deadline)
    house.redeem(withdrawal)
    # The watcher has not read that block when the sweep comes.
    for _ in range(CONFIRMATIONS + 1):
        assert house.sweep() == 0
        house.world.mine()
        house.scan()

    assert (status(withdrawal), house.balance(ann)) == ("paid", 6)
    assert not house.red()


def test_a_redemption_that_the_node_left_out_is_found_before_anything_is_given_back(
    house: House, ann: str, monkeypatch: pytest.MonkeyPatch
):
    withdrawal = house.signed(ann, 4)
    house.redeem(withdrawal)
    with monkeypatch.context() as lying:
        lying.setattr(redemptions, "read_withdrawn", lambda *_a, **_k: [])
        house.expire(withdrawal)
        assert (house.sweep(), status(withdrawal)) == (0, "signed")

    assert (house.sweep(), status(withdrawal)) == (0, "redeemed")
    house.scan()

    assert status(withdrawal) == "paid"
    assert not house.red()


def test_a_vault_that_does_not_answer_returns_nothing(
    house: House, ann: str, settings: Any, monkeypatch: pytest.MonkeyPatch
):
    withdrawal = house.signed(ann, 4)
    house.world.chain_node.set_code(house.world.vault.address, "0x")
    monkeypatch.setattr("contracts.reader.read_uint", lambda *_a, **_k: 1)
    house.expire(withdrawal)
    assert (house.sweep(), status(withdrawal)) == (0, "signed")

    settings.CHAIN_RPC_URLS = ["http://127.0.0.1:1"]
    assert (house.sweep(), status(withdrawal)) == (0, "signed")


# --- Reorganisations --------------------------------------------------------------------------


def test_a_redemption_that_falls_out_before_it_is_confirmed_can_be_redeemed_again(
    house: House, ann: str
):
    withdrawal = house.signed(ann, 4)
    with house.undone():
        house.redeem(withdrawal)
        house.scan()
        assert status(withdrawal) == "redeemed"
    house.world.mine(2)
    house.scan()
    assert (status(withdrawal), house.balance(ann, "pending")) == ("signed", 4)
    assert not house.red()

    house.redeem(withdrawal)
    house.confirm()

    assert status(withdrawal) == "paid"
    assert [r.status for r in Redemption.objects.order_by("id")] == ["orphaned", "confirmed"]
    assert not house.red()


def test_a_paid_withdrawal_that_falls_out_is_pending_again_and_returned_if_it_expires(
    house: House, ann: str
):
    withdrawal = house.signed(ann, 4)
    with house.undone():
        house.redeem(withdrawal)
        house.confirm()
        assert (status(withdrawal), vault_balance()) == ("paid", -6)
    house.world.mine(5)
    house.scan()

    assert (status(withdrawal), house.balance(ann, "pending")) == ("signed", 4)
    assert vault_balance() == -10
    assert not house.red()
    house.expire(withdrawal)
    assert (house.sweep(), house.balance(ann)) == (1, 10)
    assert not house.red()


def test_a_redemption_that_comes_back_in_another_block_is_paid_anew(house: House, ann: str):
    withdrawal = house.signed(ann, 4)
    with house.undone():
        house.redeem(withdrawal)
        house.confirm()
    house.redeem(withdrawal)
    house.world.mine(4)
    house.scan()

    assert status(withdrawal) == "paid"
    assert vault_balance() == -6
    assert Transfer.objects.filter(kind="withdrawal_paid").count() == 2
    assert not house.red()


def test_what_a_failed_scan_stored_of_another_fork_is_taken_back(
    house: House, ann: str, monkeypatch: pytest.MonkeyPatch
):
    withdrawal = house.signed(ann, 4)
    house.scan()
    with house.undone():
        house.redeem(withdrawal)
        with monkeypatch.context() as dying:
            dying.setattr("contracts.watcher.store_part", _die)
            house.world.failing_scan()
        assert status(withdrawal) == "redeemed"
    house.world.mine(5)

    house.scan()

    assert status(withdrawal) == "signed"
    assert not house.red()


def _die(**_arguments: Any) -> None:
    raise MovedMeanwhile("The chain was reorganised while it was read.")


# --- What must never be silent ----------------------------------------------------------------


def test_a_redemption_that_nobody_asked_for_is_loud_until_an_operator_explains_it(
    house: House, ann: str
):
    house.foreign(house.world.players[3])
    trouble = house.world.failing_scan()

    assert trouble == "1 redemptions have no reason in the books."
    assert any("reason" in truth for truth in house.red())
    redemption = Redemption.objects.get()
    with pytest.raises(Forbidden):
        redemptions.explain_redemption(
            operator=operator(DECIDES), redemption_id=redemption.pk, explanation="a test"
        )
    redemptions.explain_redemption(
        operator=operator("explain_redemption"), redemption_id=redemption.pk, explanation="a test"
    )
    house.scan()
    # Deposits went on being credited all the while.
    house.fund(ann, 5)
    assert house.balance(ann) == 15


def test_a_redemption_over_something_else_is_loud_and_moves_nothing(house: House, ann: str):
    withdrawal = house.signed(ann, 1)
    house.foreign(ann, amount=2 * PRICE, voucher=withdrawal.voucher)
    house.world.failing_scan()

    assert (status(withdrawal), house.balance(ann, "pending")) == ("signed", 1)
    assert Redemption.objects.get().trouble == "The voucher was over something else."


def test_a_redemption_after_the_credits_were_returned_is_loud(house: House, ann: str):
    withdrawal = house.signed(ann, 4)
    snapshot = house.world.chain_node.rpc("evm_snapshot")
    house.expire(withdrawal)
    assert house.sweep() == 1
    # Deeper than any confirmation: the chain that the sweep relied on is gone.
    house.world.chain_node.rpc("evm_revert", snapshot)
    house.redeem(withdrawal)
    house.world.mine(8)

    assert "no reason" in house.world.failing_scan()
    assert status(withdrawal) == "returned"
    assert "expired" in Redemption.objects.get().trouble
    assert house.red()


def test_a_database_restored_from_before_the_signature_believes_the_chain(house: House, ann: str):
    withdrawal = house.signed(ann, 4)
    house.redeem(withdrawal)
    Withdrawal.objects.update(
        status="approved", signature="", deadline=None, signed_block=None, signer=""
    )
    assert not house.sign(withdrawal)
    assert hold(withdrawal) == "operator"

    house.confirm()

    assert (status(withdrawal), house.balance(ann, "pending")) == ("paid", 0)
    assert not house.red()


# --- Races ------------------------------------------------------------------------------------


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
