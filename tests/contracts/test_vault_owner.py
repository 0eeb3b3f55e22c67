import pytest
from web3.contract import Contract

from tests.contracts.vault_helpers import (
    NATIVE,
    NATIVE_PRICE,
    TOKEN_PRICE,
    Scene,
    artifact,
    refused,
)

pytest_plugins = ["tests.contracts.vault_helpers"]


def owner_calls(scene: Scene) -> dict[str, tuple[object, ...]]:
    return {
        "allowToken": (scene.token.address, TOKEN_PRICE),
        "disallowToken": (scene.token.address,),
        "setSigner": (scene.bob,),
        "setDailyLimit": (NATIVE, 1),
        "pause": (),
        "unpause": (),
        "transferOwnership": (scene.bob,),
        "renounceOwnership": (),
    }


def other_token(scene: Scene) -> Contract:
    return scene.chain.deploy("TestToken", "Other", "OTHER", 18, sender=scene.owner)


def test_a_new_vault_says_what_it_was_made_with(scene: Scene):
    assert scene.read("owner") == scene.owner
    assert scene.read("signer") == scene.signer.address
    assert scene.read("creditPrice", NATIVE) == NATIVE_PRICE
    assert scene.read("isAllowed", NATIVE)
    assert scene.read("depositCount") == 0
    assert not scene.read("paused")


def test_a_vault_needs_an_owner_and_a_price(scene: Scene):
    with refused("OwnableInvalidOwner", NATIVE):
        scene.chain.deploy("BasVault", NATIVE, scene.bob, 1, sender=scene.owner)
    with refused("ZeroCreditPrice"):
        scene.chain.deploy("BasVault", scene.owner, scene.bob, 0, sender=scene.owner)


def test_all_that_changes_the_vault_is_the_owners_or_everybodys(scene: Scene):
    for name, args in owner_calls(scene).items():
        with refused("OwnableUnauthorizedAccount", scene.alice):
            scene.chain.send(scene.call(name, *args), sender=scene.alice)

    abi = artifact("BasVault")["abi"]
    changing = {
        entry["name"]
        for entry in abi
        if entry["type"] == "function" and entry["stateMutability"] not in ("view", "pure")
    }
    everybodys = {"deposit", "depositToken", "withdraw", "acceptOwnership"}
    assert changing == (set(owner_calls(scene)) - {"renounceOwnership"}) | everybodys


def test_ownership_moves_only_once_the_new_owner_accepts(scene: Scene):
    scene.as_owner("transferOwnership", scene.bob)
    assert (scene.read("owner"), scene.read("pendingOwner")) == (scene.owner, scene.bob)
    with refused("OwnableUnauthorizedAccount", scene.bob):
        scene.chain.send(scene.call("pause"), sender=scene.bob)
    with refused("OwnableUnauthorizedAccount", scene.alice):
        scene.chain.send(scene.call("acceptOwnership"), sender=scene.alice)

    scene.chain.send(scene.call("acceptOwnership"), sender=scene.bob)

    assert (scene.read("owner"), scene.read("pendingOwner")) == (scene.bob, NATIVE)
    scene.chain.send(scene.call("pause"), sender=scene.bob)
    with refused("OwnableUnauthorizedAccount", scene.owner):
        scene.as_owner("unpause")


def test_an_offer_of_ownership_can_be_taken_back(scene: Scene):
    scene.as_owner("transferOwnership", scene.bob)
    scene.as_owner("transferOwnership", NATIVE)

    with refused("OwnableUnauthorizedAccount", scene.bob):
        scene.chain.send(scene.call("acceptOwnership"), sender=scene.bob)


def test_ownership_is_never_renounced(scene: Scene):
    with refused("OwnershipIsNeeded"):
        scene.as_owner("renounceOwnership")

    assert scene.read("owner") == scene.owner


def test_allowing_a_token_sets_its_price_and_says_so(scene: Scene):
    token = other_token(scene)

    receipt = scene.as_owner("allowToken", token.address, 12)

    assert scene.events(receipt, "TokenAllowed") == [{"token": token.address, "creditPrice": 12}]
    assert (scene.read("isAllowed", token.address), scene.read("creditPrice", token.address)) == (
        True,
        12,
    )


@pytest.mark.parametrize("disallowed_before", [False, True])
def test_a_price_never_changes(scene: Scene, disallowed_before: bool):
    prices = {NATIVE: NATIVE_PRICE, scene.token.address: TOKEN_PRICE}
    for token, price in prices.items():
        if disallowed_before:
            scene.as_owner("disallowToken", token)
        with refused("CreditPriceIsFixed", token, price):
            scene.as_owner("allowToken", token, price + 1)
        assert scene.read("creditPrice", token) == price
        assert scene.read("isAllowed", token) is not disallowed_before


def test_disallowing_a_token_keeps_its_price_and_says_so(scene: Scene):
    receipt = scene.as_owner("disallowToken", scene.token.address)

    assert scene.events(receipt, "TokenDisallowed") == [{"token": scene.token.address}]
    assert not scene.read("isAllowed", scene.token.address)
    assert scene.read("creditPrice", scene.token.address) == TOKEN_PRICE


def test_the_native_coin_is_disallowed_and_allowed_like_a_token(scene: Scene):
    scene.as_owner("disallowToken", NATIVE)
    assert not scene.read("isAllowed", NATIVE)

    scene.as_owner("allowToken", NATIVE, NATIVE_PRICE)
    assert scene.read("isAllowed", NATIVE)


def test_only_an_allowed_token_can_be_disallowed(scene: Scene):
    token = other_token(scene)

    with refused("TokenNotAllowed", token.address):
        scene.as_owner("disallowToken", token.address)


def test_a_token_needs_a_price_and_code(scene: Scene):
    with refused("ZeroCreditPrice"):
        scene.as_owner("allowToken", other_token(scene).address, 0)
    with refused("TokenHasNoCode", scene.bob):
        scene.as_owner("allowToken", scene.bob, 1)


def test_a_new_signer_is_announced(scene: Scene):
    receipt = scene.as_owner("setSigner", scene.bob)

    assert scene.read("signer") == scene.bob
    assert scene.events(receipt, "SignerChanged") == [
        {"previousSigner": scene.signer.address, "signer": scene.bob}
    ]


def test_a_new_daily_limit_is_announced(scene: Scene):
    receipt = scene.as_owner("setDailyLimit", scene.token.address, 9)

    assert scene.read("dailyLimit", scene.token.address) == 9
    assert scene.events(receipt, "DailyLimitChanged") == [
        {"token": scene.token.address, "limit": 9}
    ]


def test_pausing_twice_is_refused_as_is_resuming_what_runs(scene: Scene):
    with refused("ExpectedPause"):
        scene.as_owner("unpause")
    scene.as_owner("pause")
    with refused("EnforcedPause"):
        scene.as_owner("pause")
