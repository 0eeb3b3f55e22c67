"""The public EIP-4361 vectors, every one by name, and where this login differs on purpose."""

import contextlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from wallets import siwe
from wallets.siwe import SiweError, SiweMessage

FOLDER = Path(__file__).parents[1] / "vectors" / "siwe"
COUNTS = {
    "eip1271.json": 2,
    "parsing_negative.json": 29,
    "parsing_negative_objects.json": 18,
    "parsing_positive.json": 19,
    "verification_negative.json": 10,
    "verification_positive.json": 4,
}
FIELDS = {
    "scheme": "scheme",
    "domain": "domain",
    "address": "address",
    "statement": "statement",
    "uri": "uri",
    "version": "version",
    "chainId": "chain_id",
    "nonce": "nonce",
    "requestId": "request_id",
}
TIMES = {"issuedAt": "issued_at", "expirationTime": "expiration_time", "notBefore": "not_before"}
ANY_TIME = datetime(2022, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
AGES = timedelta(days=365 * 1000)  # the vectors do not bind the age of a message

# EIP-4361 takes RFC 3986's authority whole; a login here takes no user name before an @.
USERINFO_REFUSED = {
    "domain is RFC 3986 authority with userinfo": "127.0.0.1",
    "domain is RFC 3986 authority with userinfo and port": "127.0.0.1:8080",
}
# The one address of the vectors that is all in lower case: wallets send such addresses.
LOWER_CASE_ACCEPTED = "address not EIP-55"


def load(name: str) -> dict[str, Any]:
    vectors: dict[str, Any] = json.loads((FOLDER / name).read_text())
    assert len(vectors) == COUNTS[name]
    return vectors


def cases(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("name", "vector"), [pytest.param(k, v, id=k) for k, v in load(name).items()]
    )


def text_of(vector: dict[str, Any]) -> str:
    """The text of a vector's object, written here by the EIP's template, not by `build`."""
    lines = [
        f"{vector['domain']} wants you to sign in with your Ethereum account:",
        vector["address"],
        "",
        vector["statement"],
        "",
        f"URI: {vector['uri']}",
        f"Version: {vector['version']}",
        f"Chain ID: {vector['chainId']}",
        f"Nonce: {vector['nonce']}",
        f"Issued At: {vector['issuedAt']}",
    ]
    if "expirationTime" in vector:
        lines.append(f"Expiration Time: {vector['expirationTime']}")
    if "notBefore" in vector:
        lines.append(f"Not Before: {vector['notBefore']}")
    return "\n".join(lines)


def message_of(vector: dict[str, Any]) -> SiweMessage:
    values = {ours: vector[theirs] for theirs, ours in FIELDS.items() if theirs in vector}
    for theirs, ours in TIMES.items():
        if theirs in vector:
            values |= {ours: ANY_TIME, f"{ours}_text": vector[theirs]}
    if "resources" in vector:
        values["resources"] = tuple(vector["resources"])
    return SiweMessage(**values)


def same_instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def assert_fields(message: SiweMessage, fields: dict[str, Any]) -> None:
    for theirs, ours in FIELDS.items():
        assert getattr(message, ours) == fields.get(theirs), ours
    for theirs, ours in TIMES.items():
        text = fields.get(theirs)
        assert getattr(message, f"{ours}_text") == text
        assert getattr(message, ours) == (text and same_instant(text))
    assert message.resources == (tuple(fields["resources"]) if "resources" in fields else None)


def test_no_file_and_no_vector_is_left_out() -> None:
    assert {path.name for path in FOLDER.glob("*.json")} == set(COUNTS)
    for name in COUNTS:
        load(name)
    assert set(USERINFO_REFUSED) <= set(load("parsing_positive.json"))
    assert LOWER_CASE_ACCEPTED in load("parsing_negative.json")


@cases("parsing_positive.json")
def test_a_valid_message_is_read_and_written_back(name: str, vector: dict[str, Any]) -> None:
    text, fields = vector["message"], vector["fields"]
    if name in USERINFO_REFUSED:
        with pytest.raises(SiweError) as refused:
            siwe.parse(text)
        assert refused.value.code == "domain_userinfo"
        # Nothing but the user name stands in the way.
        text = text.removeprefix("test@")
        fields = fields | {"domain": USERINFO_REFUSED[name]}
    message = siwe.parse(text)
    assert_fields(message, fields)
    assert siwe.build(message) == text


NEGATIVE_CODES = {
    "missing domain": "bad_domain",
    "missing address": "bad_address",
    "domain not RFC4501 authority": "bad_domain",
    "uri is non-RFC 3986": "bad_uri",
    "version not 1": "bad_version",
    "not a valid chainId": "bad_chain_id",
    "nonce with less then 8 chars": "bad_nonce",
    "non-ISO 8601 issuedAt": "bad_issued_at",
    "non-ISO 8601 expirationTime": "bad_expiration_time",
    "non-ISO 8601 notBefore": "bad_not_before",
    "resources not separated by line break": "bad_resource",
    "first resource not-RFC 3986": "bad_resource",
    "second resource is not-RFC3986": "bad_resource",
    # A line that is not a resource, where only resources may follow.
    "out of order resources": "bad_resource",
    "out of order requestId": "bad_resource",
    "out of order chainId": "bad_line",
    "statement has line break": "bad_line",
}


@cases("parsing_negative.json")
def test_an_invalid_message_is_refused(name: str, vector: str) -> None:
    if name == LOWER_CASE_ACCEPTED:
        assert siwe.parse(vector).address == "0xe5A12547fe4E872D192E3eCecb76F2Ce1aeA4946"
        return
    with pytest.raises(SiweError) as refused:
        siwe.parse(vector)
    assert refused.value.code == NEGATIVE_CODES.get(name, "bad_line")


@cases("parsing_negative_objects.json")
def test_an_invalid_object_is_not_written(name: str, vector: dict[str, Any]) -> None:
    missing = name.removeprefix("missing ")
    if missing != name:  # there is no such message to write
        with pytest.raises(TypeError, match=f"'{(FIELDS | TIMES)[missing]}'"):
            message_of(vector)
        return
    with pytest.raises(SiweError) as refused:
        siwe.build(message_of(vector))
    # Here this vector's address is in a wrong mixed case, so it is refused.
    codes = NEGATIVE_CODES | {"address not EIP-55": "bad_checksum"}
    assert refused.value.code == codes[name]


def verify(vector: dict[str, Any], *, skew: timedelta = timedelta(0)) -> None:
    """A login by a vector: expects what the vector says to expect, else what the message says."""
    text = text_of(vector)
    message = siwe.parse(text)
    siwe.check(
        message,
        scheme="https",
        domain=vector.get("domainBinding", vector["domain"]),
        uri_origin=vector["uri"],
        chain_ids={1},
        nonce=vector.get("matchNonce", vector["nonce"]),
        now=same_instant(vector["time"]) if "time" in vector else NOW,
        skew=skew,
        max_age=AGES,
    )
    siwe.verify_signature(text, vector["signature"], message.address)


@cases("verification_positive.json")
def test_a_signed_message_logs_in(name: str, vector: dict[str, Any]) -> None:
    if name == "expired message":
        # It is checked at a time two years before its Issued At. The EIP does not bind Issued At
        # to the clock; a login does, so it takes a skew that wide.
        with pytest.raises(SiweError) as refused:
            verify(vector)
        assert refused.value.code == "issued_in_future"
        verify(vector, skew=same_instant(vector["issuedAt"]) - same_instant(vector["time"]))
        return
    verify(vector)


VERIFICATION_CODES = {
    "expired message": "expired",
    "domain binding": "wrong_domain",
    "custom time": "expired",
    "custom nonce": "wrong_nonce",
    "malformed signature": "signature_malformed",
    "wrong signature": "wrong_signer",
    "not yet valid": "not_yet_valid",
    "invalid issuedAt": "bad_issued_at",
    "invalid notBefore": "bad_not_before",
    "invalid expirationTime": "bad_expiration_time",
}


@cases("verification_negative.json")
def test_a_wrong_login_is_refused(name: str, vector: dict[str, Any]) -> None:
    with pytest.raises(SiweError) as refused:
        verify(vector)
    assert refused.value.code == VERIFICATION_CODES[name]


CONTRACT_CODES = {"argent": "wrong_signer", "loopring": "signature_malformed"}


@cases("eip1271.json")
def test_a_contract_wallets_message_is_read_but_no_key_proves_it(
    name: str, vector: dict[str, Any]
) -> None:
    """The contract itself would have to be asked (EIP-1271), on its chain."""
    message = siwe.parse(vector["message"])
    assert (message.domain, message.uri) == ("localhost:4361", "http://localhost:4361")
    assert siwe.build(message) == vector["message"]
    with pytest.raises(SiweError) as refused:
        siwe.verify_signature(vector["message"], vector["signature"], message.address)
    assert refused.value.code == CONTRACT_CODES[name]


CHECKS = {
    "eip1271.json": test_a_contract_wallets_message_is_read_but_no_key_proves_it,
    "parsing_negative.json": test_an_invalid_message_is_refused,
    "parsing_negative_objects.json": test_an_invalid_object_is_not_written,
    "parsing_positive.json": test_a_valid_message_is_read_and_written_back,
    "verification_negative.json": test_a_wrong_login_is_refused,
    "verification_positive.json": test_a_signed_message_logs_in,
}


def test_as_many_vectors_pass_as_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    """Prints them, file by file (`-p no:xdist` or `-n 0` shows it)."""
    passed = dict.fromkeys(COUNTS, 0)
    for file, check in CHECKS.items():
        for name, vector in load(file).items():
            with contextlib.suppress(AssertionError, SiweError, pytest.fail.Exception):
                check(name, vector)
                passed[file] += 1
    with capsys.disabled():
        print()
        for file, count in passed.items():
            print(f"{file}: {count} passed of {COUNTS[file]} read")
    assert passed == COUNTS
