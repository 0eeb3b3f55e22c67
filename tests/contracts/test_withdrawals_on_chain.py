"""What the chain makes of vouchers: they expire, fall out of it, or should not have been."""

from typing import Any

import pytest

from contracts import nodes, redemptions
from contracts.events import MovedMeanwhile
from contracts.models import Node, Redemption, Withdrawal
from contracts.withdrawals import request_withdrawal
from tests.contracts.rpc_proxy import RpcProxy, html_page
from tests.contracts.withdraw_world import (
    House,
    hold,
    operator,
    status,
    vault_balance,
)
from tests.contracts.world import CONFIRMATIONS, PRICE
from wallets.accounts import thaw_wallet
from wallets.errors import Forbidden, WalletFrozen
from wallets.models import Transfer, Wallet

DECIDES = "decide_withdrawal"


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


@pytest.mark.parametrize("known", [True, False], ids=["a player", "an address never seen"])
def test_whom_a_redemption_without_a_reason_paid_is_frozen_until_an_operator_thaws_it(
    house: House, ann: str, known: bool
):
    player = ann if known else house.world.players[3]
    house.foreign(player)
    house.world.failing_scan()

    wallet = Wallet.objects.get(address=player)
    assert not wallet.is_active
    # Were the credits of before the redemption still there, they could be taken out a second time.
    with pytest.raises(WalletFrozen):
        request_withdrawal(wallet=wallet, credits_=1)

    thaw_wallet(operator=operator("freeze_wallet"), wallet_id=wallet.pk)
    house.world.failing_scan()
    assert Wallet.objects.get(address=player).is_active


def test_a_redemption_that_has_its_reason_freezes_nobody(house: House, ann: str):
    house.redeem(house.signed(ann, 4))
    house.confirm()
    assert Wallet.objects.get(address=ann).is_active


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


# --- Nodes that fail --------------------------------------------------------------------------


def test_a_node_that_fails_the_signer_or_the_sweep_is_counted_and_rests(
    house: House, ann: str, proxy: RpcProxy, monkeypatch: pytest.MonkeyPatch
):
    asked, expired = house.ask(ann), house.signed(ann)
    house.expire(expired)
    proxy.always("eth_call", html_page)
    assert not house.sign(asked)
    assert house.sweep() == 0
    node = house.world.chain.nodes.get()
    assert (node.failures, node.last_cause) == ({"not_json": 2}, "not_json")

    monkeypatch.setattr(nodes, "FIRST_REST_SECONDS", 1_000)
    assert house.sweep() == 0
    before = len(proxy.calls)
    assert not house.sign(asked)
    assert house.sweep() == 0
    assert len(proxy.calls) == before
    assert hold(asked) == "chain"

    proxy.heal()
    Node.objects.update(rests_until=None)
    assert house.sign(asked)
    assert house.world.chain.nodes.get().failures_in_a_row == 0
