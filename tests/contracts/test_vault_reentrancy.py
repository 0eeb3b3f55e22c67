from dataclasses import astuple

import pytest
from web3.contract import Contract

from tests.contracts.vault_helpers import (
    NATIVE,
    NATIVE_PRICE,
    TOKEN_PRICE,
    Scene,
    Voucher,
    decode_error,
    refused,
)

pytest_plugins = ["tests.contracts.vault_helpers"]


@pytest.fixture
def hostile(scene: Scene) -> Contract:
    """An allowed token that calls back when it moves, with coins and tokens to spend."""
    token = scene.chain.deploy("ReentrantToken", sender=scene.owner, value=10 * NATIVE_PRICE)
    scene.as_owner("allowToken", token.address, TOKEN_PRICE)
    scene.as_owner("setDailyLimit", token.address, 1_000 * TOKEN_PRICE)
    for call in (
        token.functions.mint(token.address, 100 * TOKEN_PRICE),
        token.functions.approveAsItself(scene.vault.address, 100 * TOKEN_PRICE),
    ):
        scene.chain.send(call, sender=scene.owner)
    return token


def arm(scene: Scene, contract: Contract, data: str, value: int = 0) -> None:
    call = contract.functions.arm(scene.vault.address, value, data)
    scene.chain.send(call, sender=scene.owner)


def withdraw_data(scene: Scene, voucher: Voucher) -> str:
    signature = voucher.sign(scene.signer, scene.vault, scene.chain.chain_id)
    return scene.vault.encode_abi("withdraw", [*astuple(voucher), signature])


def assert_called_back_in_vain(contract: Contract) -> None:
    assert contract.functions.called().call()
    assert not contract.functions.succeeded().call()
    name, _ = decode_error(contract.functions.answer().call())
    assert name == "ReentrancyGuardReentrantCall"


def test_a_token_that_deposits_while_it_is_deposited_is_counted_once(
    scene: Scene, hostile: Contract
):
    """Without a guard the inner deposit's tokens would also count as the outer one's."""
    inner = scene.vault.encode_abi("depositToken", [hostile.address, 5 * TOKEN_PRICE])
    arm(scene, hostile, inner)

    receipt = scene.deposit_token(scene.alice, TOKEN_PRICE, hostile)

    assert_called_back_in_vain(hostile)
    assert [event["amount"] for event in scene.events(receipt, "Deposited")] == [TOKEN_PRICE]
    assert scene.balance(scene.vault.address, hostile.address) == TOKEN_PRICE


@pytest.mark.parametrize("data", ["0xd0e30db0", "0x"], ids=["deposit()", "receive()"])
def test_a_token_cannot_deposit_native_coins_while_it_is_deposited(
    scene: Scene, hostile: Contract, data: str
):
    arm(scene, hostile, data, NATIVE_PRICE)

    scene.deposit_token(scene.alice, TOKEN_PRICE, hostile)

    assert_called_back_in_vain(hostile)
    assert scene.balance(scene.vault.address) == 0


def test_a_token_cannot_withdraw_while_it_is_deposited(scene: Scene, hostile: Contract):
    scene.deposit(scene.bob, 10 * NATIVE_PRICE)
    arm(scene, hostile, withdraw_data(scene, scene.voucher()))

    scene.deposit_token(scene.alice, TOKEN_PRICE, hostile)

    assert_called_back_in_vain(hostile)
    assert scene.balance(scene.vault.address) == 10 * NATIVE_PRICE


def test_a_token_cannot_redeem_a_second_voucher_while_it_is_withdrawn(
    scene: Scene, hostile: Contract
):
    scene.deposit_token(scene.bob, 10 * TOKEN_PRICE, hostile)
    voucher = scene.voucher(token=hostile.address, amount=TOKEN_PRICE)
    arm(scene, hostile, withdraw_data(scene, scene.voucher(id=2)))

    scene.redeem(voucher)

    assert_called_back_in_vain(hostile)
    assert not scene.read("isUsed", 2)


def test_a_token_cannot_turn_its_own_withdrawal_into_a_deposit(scene: Scene, hostile: Contract):
    scene.deposit_token(scene.bob, 10 * TOKEN_PRICE, hostile)
    arm(scene, hostile, scene.vault.encode_abi("depositToken", [hostile.address, TOKEN_PRICE]))

    scene.redeem(scene.voucher(token=hostile.address, amount=TOKEN_PRICE))

    assert_called_back_in_vain(hostile)
    assert scene.read("depositCount") == 1


@pytest.mark.parametrize("second_id", [1, 2], ids=["the same voucher", "another voucher"])
def test_a_receiver_cannot_redeem_again_while_it_is_paid(scene: Scene, second_id: int):
    scene.deposit(scene.bob, 10 * NATIVE_PRICE)
    receiver = scene.chain.deploy("Receiver", sender=scene.alice)
    voucher = scene.voucher(player=receiver.address)
    arm(
        scene,
        receiver,
        withdraw_data(scene, scene.voucher(player=receiver.address, id=second_id)),
    )

    scene.redeem(voucher)

    assert_called_back_in_vain(receiver)
    assert receiver.functions.payments().call() == 1
    assert scene.balance(receiver.address) == NATIVE_PRICE
    assert scene.balance(scene.vault.address) == 9 * NATIVE_PRICE


@pytest.mark.parametrize("data", ["0xd0e30db0", "0x"], ids=["deposit()", "receive()"])
def test_a_receiver_cannot_deposit_while_it_is_paid(scene: Scene, data: str):
    scene.deposit(scene.bob, 10 * NATIVE_PRICE)
    receiver = scene.chain.deploy("Receiver", sender=scene.alice)
    arm(scene, receiver, data, NATIVE_PRICE)

    scene.redeem(scene.voucher(player=receiver.address))

    assert_called_back_in_vain(receiver)
    assert scene.read("depositCount") == 1


def test_a_voucher_is_seen_as_used_already_while_its_player_is_paid(scene: Scene):
    """A view has no guard: whoever asks in the middle must hear what will be true at the end."""
    scene.deposit(scene.bob, 10 * NATIVE_PRICE)
    receiver = scene.chain.deploy("Receiver", sender=scene.alice)
    arm(scene, receiver, scene.vault.encode_abi("isUsed", [1]))

    scene.redeem(scene.voucher(player=receiver.address))

    assert receiver.functions.succeeded().call()
    assert int.from_bytes(receiver.functions.answer().call()) == 1


def test_the_vault_cannot_pay_itself(scene: Scene):
    scene.deposit(scene.bob, 10 * NATIVE_PRICE)

    with refused("ReentrancyGuardReentrantCall"):
        scene.redeem(scene.voucher(player=scene.vault.address))


def test_the_guard_is_open_again_within_the_same_transaction(scene: Scene):
    forwarder = scene.chain.deploy("Forwarder", sender=scene.alice)
    voucher = scene.voucher(player=forwarder.address, token=NATIVE)
    calls = [
        (scene.vault.address, NATIVE_PRICE, scene.vault.encode_abi("deposit")),
        (scene.vault.address, 0, withdraw_data(scene, voucher)),
        (scene.vault.address, NATIVE_PRICE, scene.vault.encode_abi("deposit")),
    ]

    receipt = scene.chain.send(
        forwarder.functions.multicall(calls), sender=scene.alice, value=NATIVE_PRICE
    )

    assert len(scene.events(receipt, "Deposited")) == 2
    assert len(scene.events(receipt, "Withdrawn")) == 1
    assert scene.balance(scene.vault.address) == NATIVE_PRICE
