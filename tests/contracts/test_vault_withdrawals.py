from dataclasses import replace

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_utils import keccak
from web3 import Web3

from tests.contracts.vault_helpers import (
    DAY,
    MAX_UINT256,
    NATIVE,
    NATIVE_PRICE,
    TOKEN_PRICE,
    Chain,
    Reverted,
    Scene,
    new_scene,
    refused,
)

pytest_plugins = ["tests.contracts.vault_helpers"]

# The order of the group of secp256k1 (SEC 2, section 2.4.1).
CURVE_ORDER = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141
RETURNS_NOTHING, RETURNS_FALSE, REVERTS, TAKES_FROM_THE_RECEIVER = range(4)


@pytest.fixture
def funded(scene: Scene) -> Scene:
    """A vault that has enough of both."""
    scene.deposit(scene.bob, 100 * NATIVE_PRICE)
    scene.deposit_token(scene.bob, 100 * TOKEN_PRICE)
    return scene


def split(signature: bytes) -> tuple[int, int, int]:
    """Return r, s and v."""
    return int.from_bytes(signature[:32]), int.from_bytes(signature[32:64]), signature[64]


def next_midnight(scene: Scene) -> int:
    return (scene.chain.now() // DAY + 1) * DAY


def test_a_voucher_pays_the_player_whoever_relays_it(funded: Scene):
    before = funded.balance(funded.alice)

    receipt = funded.redeem(funded.voucher(id=77))

    assert receipt["from"] == funded.relayer
    assert funded.balance(funded.alice) == before + NATIVE_PRICE
    assert funded.balance(funded.vault.address) == 99 * NATIVE_PRICE
    assert funded.events(receipt, "Withdrawn") == [
        {"player": funded.alice, "token": NATIVE, "amount": NATIVE_PRICE, "id": 77}
    ]
    assert funded.read("isUsed", 77)
    day = funded.chain.now() // DAY
    assert funded.read("withdrawnOn", NATIVE, day) == NATIVE_PRICE


def test_a_voucher_over_a_token_pays_the_token(funded: Scene):
    token = funded.token.address
    receipt = funded.redeem(funded.voucher(token=token, amount=4 * TOKEN_PRICE))

    assert funded.balance(funded.alice, token) == 4 * TOKEN_PRICE
    assert funded.balance(funded.vault.address, token) == 96 * TOKEN_PRICE
    assert funded.events(receipt, "Withdrawn") == [
        {"player": funded.alice, "token": token, "amount": 4 * TOKEN_PRICE, "id": 1}
    ]


def test_a_disallowed_token_can_still_be_withdrawn(funded: Scene):
    funded.as_owner("disallowToken", funded.token.address)

    funded.redeem(funded.voucher(token=funded.token.address, amount=TOKEN_PRICE))

    assert funded.balance(funded.alice, funded.token.address) == TOKEN_PRICE


def test_the_digest_is_that_of_eip_712(funded: Scene):
    voucher = funded.voucher(id=MAX_UINT256, amount=MAX_UINT256)
    signable = encode_typed_data(full_message=voucher.message(funded.vault, funded.chain.chain_id))

    digest = keccak(b"\x19" + signable.version + signable.header + signable.body)

    assert funded.read("voucherDigest", *voucher.__dict__.values()) == digest


def test_the_domain_can_be_read_as_eip_5267_says(funded: Scene):
    fields, name, version, chain_id, contract, salt, extensions = funded.read("eip712Domain")

    assert fields == bytes([0b01111])
    assert (name, version) == ("BasVault", "1")
    assert (chain_id, contract) == (funded.chain.chain_id, funded.vault.address)
    assert (salt, extensions) == (bytes(32), [])


def test_a_used_voucher_is_refused(funded: Scene):
    voucher = funded.voucher()
    funded.redeem(voucher)

    with refused("VoucherUsed", voucher.id):
        funded.redeem(voucher)
    assert funded.balance(funded.vault.address) == 99 * NATIVE_PRICE


def test_another_voucher_of_a_used_id_is_refused(funded: Scene):
    funded.redeem(funded.voucher(id=5))

    with refused("VoucherUsed", 5):
        funded.redeem(funded.voucher(id=5, player=funded.bob, amount=2 * NATIVE_PRICE))


def test_a_voucher_is_good_in_the_very_second_of_its_deadline(funded: Scene):
    voucher = funded.voucher(deadline=funded.chain.now() + 1_000)

    receipt = funded.redeem(voucher, at=voucher.deadline)

    assert funded.chain.now() == voucher.deadline
    assert funded.events(receipt, "Withdrawn")


def test_a_voucher_is_expired_one_second_after_its_deadline(funded: Scene):
    voucher = funded.voucher(deadline=funded.chain.now() + 1_000)

    with refused("VoucherExpired", voucher.deadline):
        funded.redeem(voucher, at=voucher.deadline + 1)
    assert funded.chain.now() == voucher.deadline + 1
    assert not funded.read("isUsed", voucher.id)


@pytest.mark.parametrize("field", ["player", "token", "amount", "id", "deadline"])
def test_a_voucher_with_a_field_tampered_with_is_refused(funded: Scene, field: str):
    voucher = funded.voucher()
    changed = {
        "player": funded.bob,
        "token": funded.token.address,
        "amount": 2 * NATIVE_PRICE,
        "id": 2,
        "deadline": voucher.deadline + 1,
    }[field]
    signature = voucher.sign(funded.signer, funded.vault, funded.chain.chain_id)
    tampered = replace(voucher, **{field: changed})
    digest = funded.read("voucherDigest", *tampered.__dict__.values())
    somebody = Account._recover_hash(digest, signature=signature)

    with refused("WrongSigner", somebody):
        funded.redeem(tampered, signature)


def test_a_voucher_of_another_signer_is_refused(funded: Scene):
    voucher, impostor = funded.voucher(), Account.create()

    with refused("WrongSigner", impostor.address):
        funded.redeem(voucher, voucher.sign(impostor, funded.vault, funded.chain.chain_id))


def test_a_voucher_for_another_vault_is_refused(funded: Scene):
    other = funded.chain.deploy(
        "BasVault", funded.owner, funded.signer.address, NATIVE_PRICE, sender=funded.owner
    )
    funded.as_owner("setDailyLimit", NATIVE, 10 * NATIVE_PRICE, vault=other)
    funded.chain.send(other.functions.deposit(), sender=funded.bob, value=10 * NATIVE_PRICE)
    voucher = funded.voucher()
    signature = voucher.sign(funded.signer, funded.vault, funded.chain.chain_id)

    with pytest.raises(Reverted, match="WrongSigner"):
        funded.redeem(voucher, signature, vault=other)

    # The same fields, signed for the other vault, are good there: nothing else was in the way.
    signature = voucher.sign(funded.signer, other, funded.chain.chain_id)
    funded.redeem(voucher, signature, vault=other)


def test_a_voucher_for_another_chain_is_refused(funded: Scene, other_vault_chain: Chain):
    with other_vault_chain.undone():
        there = new_scene(other_vault_chain)
        there.as_owner("setSigner", funded.signer.address)
        there.deposit(there.bob, 10 * NATIVE_PRICE)
        # The chain id in the domain is all that tells the two vouchers apart.
        there_as_here = there.vault.address == funded.vault.address
        voucher = funded.voucher(deadline=there.chain.now() + DAY)
        signature = voucher.sign(funded.signer, funded.vault, funded.chain.chain_id)

        assert there_as_here
        with pytest.raises(Reverted, match="WrongSigner"):
            there.redeem(voucher, signature)

        there.redeem(voucher, voucher.sign(funded.signer, there.vault, there.chain.chain_id))


def test_the_other_form_of_a_signature_is_refused(funded: Scene):
    """For each (r, s, v) the curve has a twin (r, -s, 55 - v) that recovers the same signer."""
    voucher = funded.voucher()
    r, s, v = split(voucher.sign(funded.signer, funded.vault, funded.chain.chain_id))
    twin_s = (CURVE_ORDER - s).to_bytes(32)
    twin = r.to_bytes(32) + twin_s + bytes([55 - v])

    with refused("ECDSAInvalidSignatureS", twin_s):
        funded.redeem(voucher, twin)


@pytest.mark.parametrize("length", [0, 1, 64, 66, 130])
def test_a_signature_of_another_length_is_refused(funded: Scene, length: int):
    voucher = funded.voucher()
    signature = voucher.sign(funded.signer, funded.vault, funded.chain.chain_id)

    with refused("ECDSAInvalidSignatureLength", length):
        funded.redeem(voucher, (signature * 2)[:length])


def test_the_short_form_of_a_signature_is_refused(funded: Scene):
    """EIP-2098: 64 bytes, the parity of v in the highest bit of s."""
    voucher = funded.voucher()
    r, s, v = split(voucher.sign(funded.signer, funded.vault, funded.chain.chain_id))

    with refused("ECDSAInvalidSignatureLength", 64):
        funded.redeem(voucher, r.to_bytes(32) + (s | (v - 27) << 255).to_bytes(32))


@pytest.mark.parametrize("v", [0, 1, 26, 29, 255])
def test_a_signature_of_a_strange_v_is_refused(funded: Scene, v: int):
    voucher = funded.voucher()
    signature = voucher.sign(funded.signer, funded.vault, funded.chain.chain_id)

    with refused("ECDSAInvalidSignature"):
        funded.redeem(voucher, signature[:64] + bytes([v]))


def test_a_signature_of_zeros_is_refused_even_if_there_is_no_signer(funded: Scene):
    funded.as_owner("setSigner", NATIVE)

    for v in (27, 28):
        with refused("ECDSAInvalidSignature"):
            funded.redeem(funded.voucher(), bytes(64) + bytes([v]))


def test_a_new_signer_voids_the_vouchers_of_the_old_one(funded: Scene):
    old, new = funded.signer, Account.create()
    voucher = funded.voucher()
    funded.as_owner("setSigner", new.address)

    with refused("WrongSigner", old.address):
        funded.redeem(voucher)

    funded.redeem(voucher, voucher.sign(new, funded.vault, funded.chain.chain_id))
    with refused("VoucherUsed", voucher.id):
        funded.redeem(voucher, voucher.sign(new, funded.vault, funded.chain.chain_id))


def test_exactly_the_daily_limit_may_leave(funded: Scene):
    funded.as_owner("setDailyLimit", NATIVE, 3 * NATIVE_PRICE)
    start = next_midnight(funded) + 100

    funded.redeem(funded.voucher(id=1, amount=2 * NATIVE_PRICE), at=start)
    with refused("DailyLimitExceeded", NATIVE, NATIVE_PRICE + 1, NATIVE_PRICE):
        funded.redeem(funded.voucher(id=2, amount=NATIVE_PRICE + 1))
    funded.redeem(funded.voucher(id=3, amount=NATIVE_PRICE))
    with refused("DailyLimitExceeded", NATIVE, 1, 0):
        funded.redeem(funded.voucher(id=4, amount=1))

    assert funded.read("withdrawnOn", NATIVE, start // DAY) == 3 * NATIVE_PRICE
    assert not funded.read("isUsed", 2)


def test_the_daily_limit_starts_over_at_midnight_utc(funded: Scene):
    funded.as_owner("setDailyLimit", NATIVE, NATIVE_PRICE)
    midnight = next_midnight(funded)
    funded.redeem(funded.voucher(id=1), at=midnight - 2)

    with refused("DailyLimitExceeded", NATIVE, NATIVE_PRICE, 0):
        funded.redeem(funded.voucher(id=2), at=midnight - 1)
    funded.redeem(funded.voucher(id=2), at=midnight)
    with refused("DailyLimitExceeded", NATIVE, NATIVE_PRICE, 0):
        funded.redeem(funded.voucher(id=3), at=midnight + DAY - 1)
    funded.redeem(funded.voucher(id=3), at=midnight + DAY)

    days = [midnight // DAY + offset for offset in (-1, 0, 1, 2)]
    assert [funded.read("withdrawnOn", NATIVE, day) for day in days] == [*[NATIVE_PRICE] * 3, 0]


def test_each_token_has_a_daily_limit_of_its_own(funded: Scene):
    funded.as_owner("setDailyLimit", NATIVE, NATIVE_PRICE)
    funded.redeem(funded.voucher(id=1), at=next_midnight(funded))

    funded.redeem(funded.voucher(id=2, token=funded.token.address, amount=TOKEN_PRICE))

    with refused("DailyLimitExceeded", NATIVE, NATIVE_PRICE, 0):
        funded.redeem(funded.voucher(id=3))


def test_nothing_leaves_before_the_owner_has_set_a_limit(funded: Scene):
    token = funded.chain.deploy("TestToken", "Other", "OTHER", 6, sender=funded.owner)
    funded.chain.send(token.functions.mint(funded.vault.address, 5), sender=funded.owner)

    with refused("DailyLimitExceeded", token.address, 5, 0):
        funded.redeem(funded.voucher(token=token.address, amount=5))


def test_a_limit_lowered_below_what_has_left_today_stops_the_rest(funded: Scene):
    funded.redeem(funded.voucher(id=1, amount=5 * NATIVE_PRICE), at=next_midnight(funded))
    funded.as_owner("setDailyLimit", NATIVE, 2 * NATIVE_PRICE)

    with refused("DailyLimitExceeded", NATIVE, 1, 0):
        funded.redeem(funded.voucher(id=2, amount=1))


def test_an_amount_that_would_overflow_the_day_is_over_the_limit(funded: Scene):
    funded.as_owner("setDailyLimit", NATIVE, MAX_UINT256)
    funded.redeem(funded.voucher(id=1), at=next_midnight(funded))

    with refused("DailyLimitExceeded", NATIVE, MAX_UINT256, MAX_UINT256 - NATIVE_PRICE):
        funded.redeem(funded.voucher(id=2, amount=MAX_UINT256))


def test_nothing_is_withdrawn_while_the_vault_is_paused(funded: Scene):
    voucher = funded.voucher()
    funded.as_owner("pause")

    with refused("EnforcedPause"):
        funded.redeem(voucher)

    funded.as_owner("unpause")
    funded.redeem(voucher)


def test_a_contract_that_needs_much_gas_to_be_paid_is_paid(funded: Scene):
    receiver = funded.chain.deploy("Receiver", sender=funded.alice)

    funded.redeem(funded.voucher(player=receiver.address))

    assert funded.balance(receiver.address) == NATIVE_PRICE
    assert receiver.functions.payments().call() == 1


def test_the_voucher_of_a_contract_that_refuses_stays_good(funded: Scene):
    receiver = funded.chain.deploy("Receiver", sender=funded.alice)
    voucher = funded.voucher(player=receiver.address)
    funded.chain.send(receiver.functions.setRefuses(True), sender=funded.alice)

    with refused("Refused"):
        funded.redeem(voucher)
    assert not funded.read("isUsed", voucher.id)
    assert funded.read("withdrawnOn", NATIVE, funded.chain.now() // DAY) == 0

    funded.chain.send(receiver.functions.setRefuses(False), sender=funded.alice)
    funded.redeem(voucher)


def test_a_contract_that_takes_no_coins_at_all_fails_the_withdrawal(funded: Scene):
    with refused("FailedCall"):
        funded.redeem(funded.voucher(player=funded.token.address))


def test_more_native_coins_than_the_vault_has_fail_the_withdrawal(funded: Scene):
    with refused("InsufficientBalance", 100 * NATIVE_PRICE, 101 * NATIVE_PRICE):
        funded.redeem(funded.voucher(amount=101 * NATIVE_PRICE))
    assert not funded.read("isUsed", 1)


def test_more_tokens_than_the_vault_has_fail_the_withdrawal(funded: Scene):
    have, want = 100 * TOKEN_PRICE, 101 * TOKEN_PRICE

    with refused("ERC20InsufficientBalance", funded.vault.address, have, want):
        funded.redeem(funded.voucher(token=funded.token.address, amount=want))


def test_a_token_that_returns_nothing_is_paid(scene: Scene):
    token = quirk_token_in_the_vault(scene, RETURNS_NOTHING)

    scene.redeem(scene.voucher(token=token, amount=5))

    assert scene.balance(scene.alice, token) == 5


def test_a_token_that_fails_silently_fails_the_withdrawal(scene: Scene):
    token = quirk_token_in_the_vault(scene, RETURNS_FALSE)

    with refused("SafeERC20FailedOperation", token):
        scene.redeem(scene.voucher(token=token, amount=5))
    assert not scene.read("isUsed", 1)


def test_a_token_without_code_fails_the_withdrawal(scene: Scene):
    nothing = Web3.to_checksum_address("0x" + "77" * 20)
    scene.as_owner("setDailyLimit", nothing, 10)

    with refused("SafeERC20FailedOperation", nothing):
        scene.redeem(scene.voucher(token=nothing, amount=5))


def quirk_token_in_the_vault(scene: Scene, quirk: int) -> str:
    token = scene.chain.deploy("QuirkToken", quirk, sender=scene.owner)
    scene.chain.send(token.functions.mint(scene.vault.address, 10), sender=scene.owner)
    scene.as_owner("setDailyLimit", token.address, 10)
    return token.address
