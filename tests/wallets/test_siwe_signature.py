"""Who signed: EIP-191 over the raw text, with every kind of malformed signature refused."""

from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import defunct_hash_message, encode_defunct
from eth_keys.constants import SECPK1_G, SECPK1_N
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wallets import siwe
from wallets.siwe import MAX_LENGTH, SiweError

TEXT = "example.com wants you to sign in with your Ethereum account:\nand so on"
WALLETS = [Account.from_key(bytes([key]) * 32) for key in range(1, 9)]
WALLET = WALLETS[0]
patiently = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
SIGNED = WALLET.sign_message(encode_defunct(text=TEXT))
R, S, V = SIGNED.r, SIGNED.s, SIGNED.v


def signature(r: int = R, s: int = S, v: int = V) -> bytes:
    return r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes([v])


def compact(r: int, s: int, v: int) -> bytes:
    return r.to_bytes(32, "big") + (s | (v % 27) << 255).to_bytes(32, "big")


def code_of(text: Any, given_signature: Any) -> str:
    with pytest.raises(SiweError) as refused:
        siwe.recover(text, given_signature)
    return refused.value.code


@pytest.mark.parametrize("wallet", WALLETS, ids=lambda wallet: wallet.address)
def test_each_form_of_a_signature_gives_its_address(wallet: Any) -> None:
    signed = wallet.sign_message(encode_defunct(text=TEXT))
    r, s, v = signed.r, signed.s, signed.v
    for raw in (signature(r, s, v), signature(r, s, v - 27), compact(r, s, v)):
        for form in (raw, "0x" + raw.hex(), "0x" + raw.hex().upper()):
            assert siwe.recover(TEXT, form) == wallet.address
            siwe.verify_signature(TEXT, form, wallet.address)


def test_both_parities_are_among_the_wallets() -> None:
    parities = {wallet.sign_message(encode_defunct(text=TEXT)).v for wallet in WALLETS}
    assert parities == {27, 28}


MALFORMED = {
    "empty": (b"", "signature_malformed"),
    "empty text": ("", "signature_malformed"),
    "only 0x": ("0x", "signature_malformed"),
    "63 bytes": (signature()[:63], "signature_malformed"),
    "66 bytes": (signature() + b"\0", "signature_malformed"),
    "66 bytes as text": ("0x" + signature().hex() + "00", "signature_malformed"),
    "odd digits": ("0x" + signature().hex()[:-1], "signature_malformed"),
    "a megabyte": ("0x" + "00" * 2**20, "signature_malformed"),
    "without 0x": (signature().hex(), "signature_malformed"),
    "with 0X": ("0X" + signature().hex(), "signature_malformed"),
    "0x and spaces": ("0x" + " " * 130, "signature_malformed"),
    "a space between": ("0x" + signature().hex()[:-2] + " 1", "signature_malformed"),
    "a letter beyond f": ("0x" + signature().hex()[:-1] + "g", "signature_malformed"),
    "full-width digits": ("0x" + "\uff11" * 130, "signature_malformed"),
    "a line break at the end": ("0x" + signature().hex()[:-1] + "\n", "signature_malformed"),
    "nothing": (None, "signature_malformed"),
    "a number": (1, "signature_malformed"),
    "a list": (list(signature()), "signature_malformed"),
    "v of 2": (signature(v=2), "signature_v"),
    "v of 26": (signature(v=26), "signature_v"),
    "v of 29": (signature(v=29), "signature_v"),
    "v of 54": (signature(v=54), "signature_v"),
    "v of EIP-155": (signature(v=37), "signature_v"),
    "v of 255": (signature(v=255), "signature_v"),
    "r of 0": (signature(r=0), "signature_range"),
    "s of 0": (signature(s=0), "signature_range"),
    "all zero": (bytes(65), "signature_range"),
    "r of the order": (signature(r=SECPK1_N), "signature_range"),
    "s of the order": (signature(s=SECPK1_N), "signature_range"),
    "r of all ones": (signature(r=2**256 - 1), "signature_range"),
    "s of all ones": (signature(s=2**256 - 1), "signature_range"),
    "compact r of 0": (compact(0, S, V), "signature_range"),
    "compact s of 0": (compact(R, 0, V), "signature_range"),
    "the twin with high s": (signature(s=SECPK1_N - S, v=55 - V), "signature_high_s"),
    "s one above half": (signature(s=SECPK1_N // 2 + 1), "signature_high_s"),
    "compact s one above half": (compact(R, SECPK1_N // 2 + 1, V), "signature_high_s"),
    # 5 is no x of the curve: 5 ** 3 + 7 is no square.
    "r of no point": (signature(r=5), "signature_unrecoverable"),
}


@pytest.mark.parametrize(("bad", "code"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_signature_is_refused_with_its_code(bad: Any, code: str) -> None:
    assert code_of(TEXT, bad) == code


def test_a_signature_whose_key_would_be_the_point_at_infinity_is_refused() -> None:
    """With R = k * G and s = hash / k, the key that recovery would give is no key."""
    digest = int.from_bytes(defunct_hash_message(text=TEXT), "big")
    parity, s = SECPK1_G[1] % 2, digest % SECPK1_N  # k = 1
    if s > SECPK1_N // 2:  # k = -1 instead
        parity, s = 1 - parity, SECPK1_N - s
    assert code_of(TEXT, signature(SECPK1_G[0], s, parity)) == "signature_unrecoverable"


def test_the_half_of_the_order_itself_is_low() -> None:
    siwe.recover(TEXT, signature(s=SECPK1_N // 2))


def test_another_key_or_another_text_is_the_wrong_signer() -> None:
    other = WALLETS[1].address
    for text, address in ((TEXT, other), (TEXT + " ", WALLET.address), (TEXT, "")):
        with pytest.raises(SiweError) as refused:
            siwe.verify_signature(text, signature(), address)
        assert refused.value.code == "wrong_signer"


def test_the_raw_text_is_what_was_signed() -> None:
    """An address in lower case was signed in lower case; nothing is put in form first."""
    text = f"example.com wants you:\n{WALLET.address.lower()}"
    signed = WALLET.sign_message(encode_defunct(text=text)).signature
    siwe.verify_signature(text, signed, WALLET.address)
    assert siwe.recover(text.replace(WALLET.address.lower(), WALLET.address), signed) != (
        WALLET.address
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (None, "not_text"),
        (b"text", "not_text"),
        ("a" * (MAX_LENGTH + 1), "too_long"),
        ("\ud800", "not_ascii"),
        ("\u00e9", "not_ascii"),
    ],
)
def test_a_text_that_no_message_can_be_is_refused(text: Any, code: str) -> None:
    assert code_of(text, signature()) == code


@patiently
@given(st.text(max_size=140) | st.binary(max_size=70))
def test_any_text_or_bytes_raise_only_siwe_errors(anything: Any) -> None:
    with pytest.raises(SiweError):
        siwe.verify_signature(TEXT, anything, WALLET.address)


@patiently
@given(
    st.binary(min_size=32, max_size=32),
    st.integers(0, 2**256 - 1) | st.integers(1, SECPK1_N // 2),
    st.sampled_from([0, 1, 27, 28]),
)
def test_any_numbers_give_some_other_address_or_a_siwe_error(r: bytes, s: int, v: int) -> None:
    with pytest.raises(SiweError):
        siwe.verify_signature(TEXT, r + s.to_bytes(32, "big") + bytes([v]), WALLET.address)
