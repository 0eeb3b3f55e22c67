import pytest
from eth_abi import encode

from tests.contracts.vault_helpers import (
    MAX_UINT256,
    NATIVE,
    NATIVE_PRICE,
    TOKEN_PRICE,
    Scene,
    refused,
)

pytest_plugins = ["tests.contracts.vault_helpers"]

RETURNS_NOTHING, RETURNS_FALSE, REVERTS, TAKES_FROM_THE_RECEIVER = range(4)


def deposited(player: str, token: str, amount: int, number: int) -> dict[str, object]:
    return {"player": player, "token": token, "amount": amount, "id": number}


def allow(scene: Scene, token, price: int = TOKEN_PRICE) -> None:
    scene.as_owner("allowToken", token.address, price)


def test_the_native_coin_is_deposited_for_the_caller(scene: Scene):
    receipt = scene.deposit(scene.alice, 3 * NATIVE_PRICE)

    assert scene.events(receipt, "Deposited") == [
        deposited(scene.alice, NATIVE, 3 * NATIVE_PRICE, 1)
    ]
    assert scene.balance(scene.vault.address) == 3 * NATIVE_PRICE


def test_a_plain_transfer_of_the_native_coin_is_a_deposit(scene: Scene):
    receipt = scene.chain.send_plain(
        sender=scene.bob, to=scene.vault.address, value=2 * NATIVE_PRICE
    )

    assert scene.events(receipt, "Deposited") == [deposited(scene.bob, NATIVE, 2 * NATIVE_PRICE, 1)]


def test_a_plain_transfer_keeps_the_rules_of_a_deposit(scene: Scene):
    with refused("NotWholeCredits", NATIVE_PRICE + 1, NATIVE_PRICE):
        scene.chain.send_plain(sender=scene.bob, to=scene.vault.address, value=NATIVE_PRICE + 1)
    with refused("NothingDeposited"):
        scene.chain.send_plain(sender=scene.bob, to=scene.vault.address, value=0)


def test_a_call_of_no_known_function_is_no_deposit(scene: Scene):
    with refused(""):
        scene.chain.send_plain(
            sender=scene.bob, to=scene.vault.address, value=NATIVE_PRICE, data="0xdeadbeef"
        )


def test_a_token_is_deposited_for_the_caller(scene: Scene):
    receipt = scene.deposit_token(scene.alice, 5 * TOKEN_PRICE)

    assert scene.events(receipt, "Deposited") == [
        deposited(scene.alice, scene.token.address, 5 * TOKEN_PRICE, 1)
    ]
    assert scene.balance(scene.vault.address, scene.token.address) == 5 * TOKEN_PRICE
    assert scene.balance(scene.alice, scene.token.address) == 0


def test_ids_count_from_one_over_all_tokens_and_players(scene: Scene):
    receipts = [
        scene.deposit(scene.alice, NATIVE_PRICE),
        scene.deposit_token(scene.bob, TOKEN_PRICE),
        scene.deposit(scene.bob, NATIVE_PRICE),
    ]

    assert [scene.events(r, "Deposited")[0]["id"] for r in receipts] == [1, 2, 3]
    assert scene.read("depositCount") == 3


@pytest.mark.parametrize("amount", [1, NATIVE_PRICE - 1, NATIVE_PRICE + 1])
def test_native_coins_that_are_not_whole_credits_are_refused(scene: Scene, amount: int):
    with refused("NotWholeCredits", amount, NATIVE_PRICE):
        scene.deposit(scene.alice, amount)

    assert scene.balance(scene.vault.address) == 0
    assert scene.read("depositCount") == 0


@pytest.mark.parametrize("amount", [1, TOKEN_PRICE - 1, TOKEN_PRICE + 1])
def test_tokens_that_are_not_whole_credits_are_refused(scene: Scene, amount: int):
    with refused("NotWholeCredits", amount, TOKEN_PRICE):
        scene.deposit_token(scene.alice, amount)

    assert scene.balance(scene.alice, scene.token.address) == amount


def test_nothing_is_no_deposit(scene: Scene):
    with refused("NothingDeposited"):
        scene.deposit(scene.alice, 0)
    with refused("NothingDeposited"):
        scene.deposit_token(scene.alice, 0)


def test_a_token_that_was_never_allowed_is_refused(scene: Scene):
    token = scene.chain.deploy("TestToken", "Other", "OTHER", 18, sender=scene.owner)

    with refused("TokenNotAllowed", token.address):
        scene.deposit_token(scene.alice, TOKEN_PRICE, token)


def test_the_native_coin_is_no_token(scene: Scene):
    with refused("TokenNotAllowed", NATIVE):
        scene.chain.send(scene.call("depositToken", NATIVE, NATIVE_PRICE), sender=scene.alice)


def test_a_disallowed_token_is_refused_and_taken_once_it_is_allowed_again(scene: Scene):
    scene.as_owner("disallowToken", scene.token.address)
    with refused("TokenNotAllowed", scene.token.address):
        scene.deposit_token(scene.alice, TOKEN_PRICE)

    scene.as_owner("allowToken", scene.token.address, TOKEN_PRICE)
    scene.deposit_token(scene.alice, TOKEN_PRICE)


def test_a_disallowed_native_coin_is_refused_either_way(scene: Scene):
    scene.as_owner("disallowToken", NATIVE)

    with refused("TokenNotAllowed", NATIVE):
        scene.deposit(scene.alice, NATIVE_PRICE)
    with refused("TokenNotAllowed", NATIVE):
        scene.chain.send_plain(sender=scene.bob, to=scene.vault.address, value=NATIVE_PRICE)


def test_a_token_that_was_not_approved_is_refused(scene: Scene):
    scene.chain.send(scene.token.functions.mint(scene.alice, TOKEN_PRICE), sender=scene.alice)

    with refused("ERC20InsufficientAllowance", scene.vault.address, 0, TOKEN_PRICE):
        scene.chain.send(
            scene.call("depositToken", scene.token.address, TOKEN_PRICE), sender=scene.alice
        )


def test_a_fee_on_transfer_is_not_credited(scene: Scene):
    token = scene.chain.deploy("FeeToken", 10, sender=scene.owner)
    allow(scene, token)

    receipt = scene.deposit_token(scene.alice, 10 * TOKEN_PRICE, token)

    arrived = 9 * TOKEN_PRICE
    assert scene.events(receipt, "Deposited") == [deposited(scene.alice, token.address, arrived, 1)]
    assert scene.balance(scene.vault.address, token.address) == arrived


def test_what_arrived_after_a_fee_must_be_whole_credits(scene: Scene):
    token = scene.chain.deploy("FeeToken", 10, sender=scene.owner)
    allow(scene, token)

    with refused("NotWholeCredits", TOKEN_PRICE * 9 // 10, TOKEN_PRICE):
        scene.deposit_token(scene.alice, TOKEN_PRICE, token)


def test_a_token_whose_fee_takes_all_is_no_deposit(scene: Scene):
    token = scene.chain.deploy("FeeToken", 100, sender=scene.owner)
    allow(scene, token)

    with refused("NothingDeposited"):
        scene.deposit_token(scene.alice, TOKEN_PRICE, token)


def test_a_token_that_returns_nothing_is_taken(scene: Scene):
    token = scene.chain.deploy("QuirkToken", RETURNS_NOTHING, sender=scene.owner)
    allow(scene, token)

    receipt = scene.deposit_token(scene.alice, TOKEN_PRICE, token)

    assert scene.events(receipt, "Deposited")[0]["amount"] == TOKEN_PRICE


@pytest.mark.parametrize("quirk", [RETURNS_FALSE, REVERTS])
def test_a_token_that_fails_silently_is_no_deposit(scene: Scene, quirk: int):
    token = scene.chain.deploy("QuirkToken", quirk, sender=scene.owner)
    allow(scene, token)

    # A revert without data is passed on as it is.
    with refused(
        *(("SafeERC20FailedOperation", token.address) if quirk == RETURNS_FALSE else [""])
    ):
        scene.deposit_token(scene.alice, TOKEN_PRICE, token)


def test_a_token_that_takes_from_the_vault_is_no_deposit(scene: Scene):
    token = scene.chain.deploy("QuirkToken", TAKES_FROM_THE_RECEIVER, sender=scene.owner)
    allow(scene, token)
    scene.chain.send(token.functions.mint(scene.vault.address, 2 * TOKEN_PRICE), sender=scene.owner)

    with refused("NothingDeposited"):
        scene.deposit_token(scene.alice, TOKEN_PRICE, token)


def test_the_largest_amount_there_is_can_be_deposited(scene: Scene):
    token = scene.chain.deploy("TestToken", "Vast", "VAST", 0, sender=scene.owner)
    allow(scene, token, 1)

    receipt = scene.deposit_token(scene.alice, MAX_UINT256, token)

    assert scene.events(receipt, "Deposited")[0]["amount"] == MAX_UINT256


def test_a_contract_deposits_several_times_in_one_transaction(scene: Scene):
    forwarder = scene.chain.deploy("Forwarder", sender=scene.alice)
    vault, token = scene.vault, scene.token
    scene.chain.send(token.functions.mint(forwarder.address, 7 * TOKEN_PRICE), sender=scene.alice)
    calls = [
        (vault.address, NATIVE_PRICE, vault.encode_abi("deposit")),
        (token.address, 0, token.encode_abi("approve", [vault.address, 7 * TOKEN_PRICE])),
        (vault.address, 0, vault.encode_abi("depositToken", [token.address, 7 * TOKEN_PRICE])),
        (vault.address, 2 * NATIVE_PRICE, "0x"),
    ]

    receipt = scene.chain.send(
        forwarder.functions.multicall(calls), sender=scene.alice, value=3 * NATIVE_PRICE
    )

    assert scene.events(receipt, "Deposited") == [
        deposited(forwarder.address, NATIVE, NATIVE_PRICE, 1),
        deposited(forwarder.address, token.address, 7 * TOKEN_PRICE, 2),
        deposited(forwarder.address, NATIVE, 2 * NATIVE_PRICE, 3),
    ]


def test_a_refused_deposit_among_others_in_one_transaction_leaves_no_trace(scene: Scene):
    forwarder = scene.chain.deploy("Forwarder", sender=scene.alice)
    data = scene.vault.encode_abi("deposit")
    calls = [(scene.vault.address, value, data) for value in (NATIVE_PRICE, 1, NATIVE_PRICE)]

    receipt = scene.chain.send(
        forwarder.functions.tryMulticall(calls), sender=scene.alice, value=2 * NATIVE_PRICE + 1
    )

    assert [event["id"] for event in scene.events(receipt, "Deposited")] == [1, 2]
    assert scene.balance(scene.vault.address) == 2 * NATIVE_PRICE
    assert scene.balance(forwarder.address) == 1


def test_a_contract_that_deposits_too_little_fails_as_a_whole(scene: Scene):
    forwarder = scene.chain.deploy("Forwarder", sender=scene.alice)
    data = scene.vault.encode_abi("deposit")
    calls = [(scene.vault.address, value, data) for value in (NATIVE_PRICE, 1)]
    selector = scene.chain.w3.keccak(text="NotWholeCredits(uint256,uint256)")[:4]
    reason = bytes(selector) + encode(["uint256", "uint256"], [1, NATIVE_PRICE])

    with refused("CallFailed", 1, reason):
        scene.chain.send(
            forwarder.functions.multicall(calls), sender=scene.alice, value=NATIVE_PRICE + 1
        )


def test_a_look_alike_differs_from_the_vault_only_in_its_address(scene: Scene):
    look_alike = scene.chain.deploy("LookAlike", sender=scene.bob)
    real = scene.deposit(scene.alice, NATIVE_PRICE)["logs"][0]

    fake = scene.chain.send(
        look_alike.functions.fakeDeposit(scene.alice, NATIVE, NATIVE_PRICE, 1), sender=scene.bob
    )["logs"][0]

    assert (fake["topics"], fake["data"]) == (real["topics"], real["data"])
    assert fake["address"] != real["address"] == scene.vault.address


def test_coins_that_a_self_destruct_forces_on_the_vault_are_no_deposit(scene: Scene):
    scene.chain.deploy(
        "SelfDestructSender", scene.vault.address, sender=scene.bob, value=NATIVE_PRICE
    )

    assert scene.balance(scene.vault.address) == NATIVE_PRICE
    assert scene.read("depositCount") == 0


def test_a_plain_token_transfer_is_no_deposit_and_helps_no_later_one(scene: Scene):
    scene.chain.send(
        scene.token.functions.mint(scene.vault.address, TOKEN_PRICE - 1), sender=scene.bob
    )

    with refused("NotWholeCredits", 1, TOKEN_PRICE):
        scene.deposit_token(scene.alice, 1)
    assert scene.read("depositCount") == 0


def test_nothing_is_deposited_while_the_vault_is_paused(scene: Scene):
    scene.as_owner("pause")

    with refused("EnforcedPause"):
        scene.deposit(scene.alice, NATIVE_PRICE)
    with refused("EnforcedPause"):
        scene.deposit_token(scene.alice, TOKEN_PRICE)
    with refused("EnforcedPause"):
        scene.chain.send_plain(sender=scene.bob, to=scene.vault.address, value=NATIVE_PRICE)

    scene.as_owner("unpause")
    scene.deposit(scene.alice, NATIVE_PRICE)
