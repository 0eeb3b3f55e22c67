"""The EIP-4361 message: its grammar at the edges, its checks, and properties over any text."""

import hmac
import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parser  # type: ignore[import-not-found]
import sys
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from eth_utils.address import to_checksum_address
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from wallets import siwe, siwe_grammar
from wallets.siwe import MAX_LENGTH, REASONS, SiweError, SiweMessage

ADDRESS = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
TEXT = f"""\
https://example.com:8443 wants you to sign in with your Ethereum account:
{ADDRESS}

Play Block Ape Scissors.

URI: https://example.com:8443/login
Version: 1
Chain ID: 31337
Nonce: abcDEF1234
Issued At: 2026-03-01T12:00:00.000Z
Expiration Time: 2026-03-01T12:10:00Z
Not Before: 2026-03-01T11:59:00Z
Request ID: some_id
Resources:
- https://example.com/a
- ipfs://Qme7ss3ARVgxv6rXqVPiikMJ8u2NLgmgszg13pYrDKEoiu"""


def code_of(text: Any) -> str:
    with pytest.raises(SiweError) as refused:
        siwe.parse(text)
    assert refused.value.reason == REASONS[refused.value.code]
    return refused.value.code


def put(old: str, new: str) -> str:
    assert TEXT.count(old) >= 1
    return TEXT.replace(old, new, 1)


def test_each_field_is_read() -> None:
    assert siwe.parse(TEXT) == SiweMessage(
        scheme="https",
        domain="example.com:8443",
        address=ADDRESS,
        statement="Play Block Ape Scissors.",
        uri="https://example.com:8443/login",
        version="1",
        chain_id=31337,
        nonce="abcDEF1234",
        issued_at=datetime(2026, 3, 1, 12, 0, tzinfo=UTC),
        expiration_time=datetime(2026, 3, 1, 12, 10, tzinfo=UTC),
        not_before=datetime(2026, 3, 1, 11, 59, tzinfo=UTC),
        request_id="some_id",
        resources=(
            "https://example.com/a",
            "ipfs://Qme7ss3ARVgxv6rXqVPiikMJ8u2NLgmgszg13pYrDKEoiu",
        ),
    )


REFUSED = {
    "bytes": (TEXT.encode(), "not_text"),
    "nothing": (None, "not_text"),
    "empty": ("", "bad_line"),
    "one character too many": ("a" * (MAX_LENGTH + 1), "too_long"),
    "trailing line break": (TEXT + "\n", "bad_resource"),
    "leading line break": ("\n" + TEXT, "bad_line"),
    "leading space": (" " + TEXT, "bad_scheme"),
    "carriage returns": (TEXT.replace("\n", "\r\n"), "bad_line"),
    "one carriage return": (put("/login\n", "/login\r\n"), "bad_uri"),
    "null character": (put("Play", "Pl\0ay"), "bad_statement"),
    "Cyrillic look-alike in the domain": (put("example", "ex\u0430mple"), "not_ascii"),
    "full-width digits": (put("31337", "\uff13\uff11"), "not_ascii"),
    "zero-width space": (put("example", "exam\u200bple"), "not_ascii"),
    "lone surrogate": (put("Play", "\ud800"), "not_ascii"),
    "label in lower case": (put("Chain ID: ", "chain id: "), "bad_line"),
    "label without space": (put("Nonce: ", "Nonce:"), "bad_line"),
    "two spaces": (put("Nonce: ", "Nonce:  "), "bad_nonce"),
    "line twice": (put("Version: 1\n", "Version: 1\nVersion: 1\n"), "bad_line"),
    "header in another case": (put("wants", "Wants"), "bad_line"),
    "scheme with a digit first": (put("https://", "1https://"), "bad_scheme"),
    "empty scheme": (put("https://", "://"), "bad_scheme"),
    "userinfo": (put("example.com:8443", "google.com@evil.com"), "domain_userinfo"),
    "empty userinfo": (put("example.com:8443", "@evil.com"), "domain_userinfo"),
    "percent-encoded is no @": (put("example.com:8443", "a%4"), "bad_domain"),
    "domain with path": (put("example.com:8443", "example.com/login"), "bad_domain"),
    "domain with two ports": (put("example.com:8443", "example.com:1:2"), "bad_domain"),
    "domain with port in letters": (put("example.com:8443", "example.com:http"), "bad_domain"),
    "port without host": (put("example.com:8443", ":8443"), "bad_domain"),
    "domain with space": (put("example.com:8443", "example.com evil.com"), "bad_domain"),
    "domain with backslash": (put("example.com:8443", "a\\b"), "bad_domain"),
    "bracket not closed": (put("example.com:8443", "[::1"), "bad_domain"),
    "empty brackets": (put("example.com:8443", "[]"), "bad_domain"),
    "IP literal not closed": (put("example.com:8443", "[v1.ab"), "bad_domain"),
    "text after brackets": (put("example.com:8443", "[::1]a"), "bad_domain"),
    "IPv6 zone": (put("example.com:8443", "[fe80::1%25eth0]"), "bad_domain"),
    "IPv6 too long": (put("example.com:8443", "[1:2:3:4:5:6:7:8:9]"), "bad_domain"),
    "address in upper case": (put(ADDRESS, "0x" + ADDRESS[2:].upper()), "bad_checksum"),
    "address with one case wrong": (put("0xC02aaA", "0xc02aaA"), "bad_checksum"),
    "address with 0X": (put("0xC0", "0XC0"), "bad_address"),
    "address too short": (put("Cc2\n", "Cc\n"), "bad_address"),
    "address too long": (put("Cc2\n", "Cc22\n"), "bad_address"),
    "address with a space": (put("Cc2\n", "Cc2 \n"), "bad_address"),
    "statement with a quote": (put("Play", '"Play'), "bad_statement"),
    "statement with a per cent sign": (put("Play", "%50lay"), "bad_statement"),
    "statement with a tab": (put("Play", "\tPlay"), "bad_statement"),
    "URI without scheme": (put("https://example.com:8443/login", "//example.com"), "bad_uri"),
    "URI with a space": (put("/login", "/lo gin"), "bad_uri"),
    "URI of one word": (put("https://example.com:8443/login", "login"), "bad_uri"),
    "URI with a bad query": (put("/login", "/?a=%2"), "bad_uri"),
    "URI with a bad fragment": (put("/login", "/#%2"), "bad_uri"),
    "URI half encoded": (put("/login", "/%2"), "bad_uri"),
    "URI with a backslash": (put("/login", "\\login"), "bad_uri"),
    "URI with two fragments": (put("/login", "/#a#b"), "bad_uri"),
    "URI with two @": (put("https://example.com:8443/login", "https://a@b@c"), "bad_uri"),
    "URI empty": (put("https://example.com:8443/login", ""), "bad_uri"),
    "version 01": (put("Version: 1", "Version: 01"), "bad_version"),
    "version 1.0": (put("Version: 1", "Version: 1.0"), "bad_version"),
    "chain with a sign": (put("31337", "+31337"), "bad_chain_id"),
    "chain with an underscore": (put("31337", "31_337"), "bad_chain_id"),
    "chain with leading zero": (put("31337", "031337"), "bad_chain_id"),
    "chain in hexadecimal": (put("31337", "0x7a69"), "bad_chain_id"),
    "chain beyond 256 bits": (put("31337", "1" * 79), "bad_chain_id"),
    "nonce of 7": (put("abcDEF1234", "abcDEF1"), "bad_nonce"),
    "nonce with a dash": (put("abcDEF1234", "abcDEF-1234"), "bad_nonce"),
    "request id with a slash": (put("some_id", "some/id"), "bad_request_id"),
    "resource without dash": (put("- https", "https"), "bad_resource"),
    "resource empty": (put("- https://example.com/a", "- "), "bad_resource"),
    "empty line after the last field": (put("Resources:\n", "\nResources:\n"), "bad_line"),
    "resources on the label's line": (put("Resources:\n- ", "Resources: "), "bad_line"),
}


@pytest.mark.parametrize(("text", "code"), REFUSED.values(), ids=REFUSED.keys())
def test_a_bad_text_is_refused_with_its_code(text: Any, code: str) -> None:
    assert code_of(text) == code


BAD_TIMES = {
    "no such day": "2022-02-31T12:00:00Z",
    "no leap year": "2026-02-29T12:00:00Z",
    "month 13": "2026-13-01T12:00:00Z",
    "month 0": "2026-00-01T12:00:00Z",
    "year 0": "0000-01-01T12:00:00Z",
    "hour 24": "2026-03-01T24:00:00Z",
    "minute 60": "2026-03-01T12:60:00Z",
    "leap second": "2016-12-31T23:59:60Z",
    "no offset": "2026-03-01T12:00:00",
    "offset of 24 hours": "2026-03-01T12:00:00+24:00",
    "offset of 60 minutes": "2026-03-01T12:00:00+01:60",
    "offset without colon": "2026-03-01T12:00:00+0100",
    "offset of hours": "2026-03-01T12:00:00+01",
    "offset and Z": "2026-03-01T12:00:00Z+01:00",
    "date alone": "2026-03-01",
    "week date": "2026-W09-7T12:00:00Z",
    "basic format": "20260301T120000Z",
    "space for T": "2026-03-01 12:00:00Z",
    "no seconds": "2026-03-01T12:00Z",
    "empty fraction": "2026-03-01T12:00:00.Z",
    "comma": "2026-03-01T12:00:00,5Z",
    "unpadded": "2026-3-1T12:00:00Z",
    "seconds since 1970": "1772366400",
    "empty": "",
}
TIME_LINES = {
    "bad_issued_at": "2026-03-01T12:00:00.000Z",
    "bad_expiration_time": "2026-03-01T12:10:00Z",
    "bad_not_before": "2026-03-01T11:59:00Z",
}


@pytest.mark.parametrize(("code", "good"), TIME_LINES.items())
@pytest.mark.parametrize("bad", BAD_TIMES.values(), ids=BAD_TIMES.keys())
def test_a_date_that_is_not_rfc_3339_is_refused(code: str, good: str, bad: str) -> None:
    assert code_of(put(f": {good}", f": {bad}")) == code


GOOD_TIMES = {
    "2024-02-29T00:00:00Z": datetime(2024, 2, 29, tzinfo=UTC),
    "2026-03-01t12:00:00z": datetime(2026, 3, 1, 12, tzinfo=UTC),
    "2026-03-01T12:00:00-00:00": datetime(2026, 3, 1, 12, tzinfo=UTC),
    "2026-03-01T12:00:00.5-02:30": datetime(2026, 3, 1, 14, 30, 0, 500_000, tzinfo=UTC),
    "2026-03-01T12:00:00.1234567890123+23:59": datetime(
        2026, 3, 1, 12, 0, 0, 123_456, tzinfo=timezone(timedelta(hours=23, minutes=59))
    ),
    "0001-01-01T00:00:00+23:59": datetime(
        1, 1, 1, tzinfo=timezone(timedelta(hours=23, minutes=59))
    ),
}


@pytest.mark.parametrize(("text", "when"), GOOD_TIMES.items())
def test_any_rfc_3339_date_is_read_and_kept_as_written(text: str, when: datetime) -> None:
    whole = put("2026-03-01T12:00:00.000Z", text)
    message = siwe.parse(whole)
    assert message.issued_at == when
    assert siwe.build(message) == whole


@pytest.mark.parametrize(
    "domain",
    ["[::1]", "[::ffff:1.2.3.4]:80", "[v1.a:b]", "127.0.0.1", "a%20b", "localhost:", "EXAMPLE.com"],
)
def test_any_rfc_3986_host_and_port_is_a_domain(domain: str) -> None:
    assert siwe.parse(put("example.com:8443", domain)).domain == domain


@pytest.mark.parametrize(
    "uri",
    ["a:", "urn:isbn:0451450523", "mailto:a@b.c", "file:///etc", "did:key:z6Mk#k", "https://u:p@h"],
)
def test_any_rfc_3986_uri_is_a_uri_and_a_resource(uri: str) -> None:
    text = put("- https://example.com/a", f"- {uri}")
    text = text.replace("https://example.com:8443/login", uri)
    message = siwe.parse(text)
    assert message.uri == uri
    assert message.resources is not None
    assert message.resources[0] == uri


def test_absent_and_empty_are_different_messages() -> None:
    statement = "Play Block Ape Scissors.\n"
    assert siwe.parse(put(statement, "\n")).statement == ""
    assert siwe.parse(put(statement, "")).statement is None
    assert siwe.parse(put("some_id", "")).request_id == ""
    assert siwe.parse(put("Request ID: some_id\n", "")).request_id is None
    resources = TEXT[TEXT.index("Resources:") :]
    assert siwe.parse(put(resources, "Resources:")).resources == ()
    assert siwe.parse(put("\n" + resources, "")).resources is None


def test_a_lower_case_address_is_the_same_wallet() -> None:
    assert siwe.parse(put(ADDRESS, ADDRESS.lower())) == siwe.parse(TEXT)


def test_a_field_smuggled_into_another_is_not_written() -> None:
    message = siwe.parse(TEXT)
    for name, value in {
        "domain": f"evil.com wants you to sign in with your Ethereum account:\n{ADDRESS}\n\n",
        "statement": "x\n\nURI: https://evil.com",
        "request_id": "x\nResources:",
        "nonce": "abcDEF1234\nIssued At: 2020-01-01T00:00:00Z",
        "address": ADDRESS.lower(),
        "chain_id": True,
        "issued_at": datetime(2020, 1, 1, tzinfo=UTC),  # other than its text says
    }.items():
        with pytest.raises(SiweError):
            siwe.build(_replace(message, **{name: value}))
    with pytest.raises(SiweError) as refused:
        siwe.build(_replace(message, request_id="a\nResources:\n- a:b", resources=None))
    assert refused.value.code == "not_canonical"


def test_a_message_of_plain_datetimes_is_written_in_utc_with_z() -> None:
    message = _replace(siwe.parse(TEXT), issued_at_text=None)
    assert "Issued At: 2026-03-01T12:00:00Z\n" in siwe.build(message)
    naive = datetime(2026, 3, 1, 12)
    with pytest.raises(SiweError) as refused:
        siwe.build(_replace(message, issued_at=naive))
    assert refused.value.code == "bad_issued_at"


def _replace(message: SiweMessage, **changes: Any) -> SiweMessage:
    names = SiweMessage.__dataclass_fields__
    return SiweMessage(**{name: getattr(message, name) for name in names} | changes)


# --- What the server expects -------------------------------------------------------------------

ISSUED = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
SKEW = timedelta(seconds=30)
MAX_AGE = timedelta(minutes=5)


def check(text: str = TEXT, **changes: Any) -> None:
    expected: dict[str, Any] = {
        "scheme": "https",
        "domain": "example.com:8443",
        "chain_ids": {31337},
        "nonce": "abcDEF1234",
        "now": ISSUED,
        "skew": SKEW,
        "max_age": MAX_AGE,
    }
    siwe.check(siwe.parse(text), **expected | changes)


def check_code(text: str = TEXT, **changes: Any) -> str:
    with pytest.raises(SiweError) as refused:
        check(text, **changes)
    return refused.value.code


def test_what_was_expected_passes() -> None:
    check()
    check(put("https://example.com:8443 wants", "example.com:8443 wants"))  # the scheme left out
    check(put("8443/login", "8443"))
    check(put("8443/login", "8443?a#b"))
    check(uri_origin="https://app.example.com", text=put("example.com:8443/", "app.example.com/"))


def test_nothing_that_must_be_bound_can_be_left_out() -> None:
    for name in ("scheme", "domain", "chain_ids", "nonce", "now", "skew", "max_age"):
        arguments: dict[str, Any] = dict.fromkeys(
            {"scheme", "domain", "chain_ids", "nonce", "now", "skew", "max_age"} - {name}
        )
        with pytest.raises(TypeError, match=f"'{name}'"):
            siwe.check(siwe.parse(TEXT), **arguments)


WRONG = {
    "scheme of the message": (put("https://", "http://"), {}, "wrong_scheme"),
    "scheme of the site": (TEXT, {"scheme": "http"}, "wrong_scheme"),
    "another domain": (put("example.com", "evil.com"), {}, "wrong_domain"),
    "a subdomain": (put("example.com", "a.example.com"), {}, "wrong_domain"),
    "the domain as a prefix": (put("example.com:8443", "example.com:84430"), {}, "wrong_domain"),
    "another port": (put(":8443", ":8444"), {}, "wrong_domain"),
    "no port": (put(":8443", ""), {}, "wrong_domain"),
    "the domain in upper case": (put("example", "EXAMPLE"), {}, "wrong_domain"),
    "a dot at the end": (put("example.com", "example.com."), {}, "wrong_domain"),
    "a port left out": (put(":8443/", "/"), {}, "wrong_uri"),
    "another scheme": (put("URI: https", "URI: http"), {}, "wrong_uri"),
    "the domain as userinfo": (put("8443/", "8443@evil.com/"), {}, "wrong_uri"),
    "a user before the domain": (put("URI: https://", "URI: https://a@"), {}, "wrong_uri"),
    "the origin as a prefix": (put("8443/login", "84430/login"), {}, "wrong_uri"),
    "the origin in the query": (
        put("URI: https://", "URI: https://evil.com?https://"),
        {},
        "wrong_uri",
    ),
    "a URI without authority": (put("URI: https://", "URI: https:/"), {}, "wrong_uri"),
    "another chain": (TEXT, {"chain_ids": {1, 11155111}}, "wrong_chain"),
    "no chain": (TEXT, {"chain_ids": ()}, "wrong_chain"),
    "another nonce": (TEXT, {"nonce": "abcDEF1235"}, "wrong_nonce"),
    "the nonce in another case": (TEXT, {"nonce": "abcdef1234"}, "wrong_nonce"),
    "a nonce's beginning": (TEXT, {"nonce": "abcDEF12345"}, "wrong_nonce"),
    "no nonce": (TEXT, {"nonce": ""}, "wrong_nonce"),
    "a nonce not in ASCII": (TEXT, {"nonce": "abcDEF123\uff14"}, "wrong_nonce"),
}


@pytest.mark.parametrize(("text", "changes", "code"), WRONG.values(), ids=WRONG.keys())
def test_a_message_for_somewhere_else_is_refused(
    text: str, changes: dict[str, Any], code: str
) -> None:
    assert check_code(text, **changes) == code


EXPIRES = datetime(2026, 3, 1, 12, 10, tzinfo=UTC)
STARTS = datetime(2026, 3, 1, 11, 59, tzinfo=UTC)
LONG = timedelta(days=1)


def test_each_time_holds_to_the_second_with_the_skew() -> None:
    check(now=ISSUED - SKEW)
    assert check_code(now=ISSUED - SKEW - SECOND) == "issued_in_future"
    check(now=ISSUED + MAX_AGE + SKEW)
    assert check_code(now=ISSUED + MAX_AGE + SKEW + SECOND) == "too_old"
    check(now=EXPIRES + SKEW - SECOND, max_age=LONG)
    assert check_code(now=EXPIRES + SKEW, max_age=LONG) == "expired"
    later = put("11:59:00Z", "12:02:00Z")
    starts = datetime(2026, 3, 1, 12, 2, tzinfo=UTC)
    check(later, now=starts - SKEW)
    assert check_code(later, now=starts - SKEW - SECOND) == "not_yet_valid"


def test_times_at_the_calendars_ends_are_refused_and_do_not_overflow() -> None:
    first, last = "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"
    assert check_code(put("2026-03-01T12:00:00.000Z", first)) == "too_old"
    assert check_code(put("2026-03-01T12:00:00.000Z", last)) == "issued_in_future"
    assert check_code(put("2026-03-01T12:10:00Z", first)) == "expired"
    assert check_code(put("2026-03-01T11:59:00Z", last)) == "not_yet_valid"
    check(put("2026-03-01T12:10:00Z", last))
    check(put("2026-03-01T11:59:00Z", first))


def test_the_nonce_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(a: bytes, b: bytes) -> bool:
        compared.append((a, b))
        return True

    monkeypatch.setattr(hmac, "compare_digest", compare)
    check(nonce="another1")
    assert compared == [(b"abcDEF1234", b"another1")]


# --- Properties --------------------------------------------------------------------------------

# A busy machine is no fault of the code: time is bounded by structure, below, not by a clock.
patiently = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

ALNUM = "abcXYZ0123456789"
PCHAR = st.text(ALNUM + "-._~!$&'()*+,;=:@", max_size=12) | st.just("%2F%aF")
HOSTS = st.sampled_from(["localhost", "a.example", "127.0.0.1", "[::cafe]", "[v7.x]", "a%20b"])
DOMAINS = st.builds(lambda host, port: host + port, HOSTS, st.sampled_from(["", ":", ":8000"]))
URIS = st.builds(
    lambda scheme, middle, path, query, fragment: f"{scheme}:{middle}{path}{query}{fragment}",
    st.sampled_from(["https", "a", "x+y-z.1"]),
    st.sampled_from(["//h/", "//u:p@h:1/", "///", "", "/"]),
    PCHAR,
    st.sampled_from(["", "?", "?a=/?b"]),
    st.sampled_from(["", "#", "#a/?b"]),
)
TIMES = st.datetimes(
    timezones=st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
)
MESSAGES = st.builds(
    SiweMessage,
    scheme=st.none() | st.sampled_from(["http", "https", "x-1.y+z"]),
    domain=DOMAINS,
    address=st.binary(min_size=20, max_size=20).map(lambda raw: to_checksum_address(raw.hex())),
    statement=st.none() | st.text(ALNUM + "-._~:/?#[]@!$&'()*+,;= ", max_size=40),
    uri=URIS,
    version=st.just("1"),
    chain_id=st.integers(0, 10**78 - 1),
    nonce=st.text(ALNUM, min_size=8, max_size=40),
    issued_at=TIMES,
    expiration_time=st.none() | TIMES,
    not_before=st.none() | TIMES,
    request_id=st.none() | PCHAR,
    resources=st.none() | st.lists(URIS, max_size=3).map(tuple),
)


@patiently
@given(MESSAGES)
def test_what_is_written_is_read_back(message: SiweMessage) -> None:
    text = siwe.build(message)
    read = siwe.parse(text)
    assert read == message
    assert siwe.build(read) == text


def assert_refused_or_canonical(text: str) -> None:
    """No two texts for one message, but for an address in lower case."""
    try:
        message = siwe.parse(text)
    except SiweError:
        return
    lines = text.split("\n")
    assert message.address.lower() == lines[1].lower()
    lines[1] = message.address
    assert siwe.build(message) == "\n".join(lines)


CUTS = st.tuples(st.integers(0, len(TEXT)), st.integers(0, 3))
PATCHES = st.sampled_from(["", "\n", " ", "0", "a", "A", ":", "/", "@", "%", "-", "\r", "\u0430"])


@patiently
@given(MESSAGES.map(siwe.build) | st.just(TEXT), st.lists(st.tuples(CUTS, PATCHES), max_size=4))
def test_a_mutated_text_is_refused_or_has_this_one_text(
    text: str, edits: list[tuple[tuple[int, int], str]]
) -> None:
    for (start, length), patch in edits:
        start %= len(text) + 1
        text = text[:start] + patch + text[start + length :]
    assert_refused_or_canonical(text)


@patiently
@given(st.lists(st.sampled_from(TEXT.split("\n")), max_size=20))
def test_lines_in_any_order_are_refused_or_have_this_one_text(lines: list[str]) -> None:
    assert_refused_or_canonical("\n".join(lines))


def test_any_one_character_changed_is_refused_or_has_this_one_text() -> None:
    for at in range(len(TEXT) + 1):
        for character in "\n\r\t\0 %/@:09aZz\x7f":
            assert_refused_or_canonical(TEXT[:at] + character + TEXT[at:])
            assert_refused_or_canonical(TEXT[:at] + character + TEXT[at + 1 :])
        assert_refused_or_canonical(TEXT[:at] + TEXT[at + 1 :])


@patiently
@given(st.text(max_size=300) | st.binary(max_size=300) | st.none() | st.integers())
@example("\ud800")
def test_anything_at_all_raises_only_siwe_errors(anything: Any) -> None:
    with pytest.raises(SiweError):
        siwe.parse(anything)


@patiently
@given(st.text(max_size=60))
def test_any_value_of_any_field_raises_only_siwe_errors(value: str) -> None:
    lines = TEXT.split("\n")
    for at, line in enumerate(lines):
        label = line[: line.index(":") + 2] if ": " in line else ""
        assert_refused_or_canonical("\n".join([*lines[:at], label + value, *lines[at + 1 :]]))


# --- Linear time, by structure -----------------------------------------------------------------

PATTERNS = {
    f"{module.__name__}.{name}": value
    for module in (siwe, siwe_grammar)
    for name, value in vars(module).items()
    if isinstance(value, re.Pattern)
}
ASCII = frozenset(range(128))


def first(items: Any) -> frozenset[int]:
    """The characters a parsed pattern can begin with."""
    begins: frozenset[int] = frozenset()
    for operation, argument in items:
        more, empty = begin_of(operation, argument)
        begins |= more
        if not empty:
            break
    return begins


def begin_of(operation: Any, argument: Any) -> tuple[frozenset[int], bool]:
    """The characters one item can begin with, and whether it can be empty."""
    if operation is sre.LITERAL:
        return frozenset({argument}), False
    if operation is sre.IN:
        members: set[int] = set()
        for kind, value in argument:
            assert kind in (sre.LITERAL, sre.RANGE)
            members |= {value} if kind is sre.LITERAL else set(range(value[0], value[1] + 1))
        return frozenset(members), False
    if operation is sre.SUBPATTERN:
        return first(argument[3]), False
    if operation is sre.BRANCH:
        return frozenset().union(*map(first, argument[1])), False
    assert operation is sre.MAX_REPEAT, operation
    return first(argument[2]), argument[0] == 0


def assert_never_goes_back(items: Any, *, inside_repeat: bool = False) -> None:
    """Each choice is settled by the next character, and no repeat holds another."""
    for at, (operation, argument) in enumerate(items):
        if operation is sre.BRANCH:
            begins = [first(branch) for branch in argument[1]]
            assert sum(map(len, begins)) == len(frozenset().union(*begins))
            for branch in argument[1]:
                assert_never_goes_back(branch, inside_repeat=inside_repeat)
        elif operation is sre.SUBPATTERN:
            assert_never_goes_back(argument[3], inside_repeat=inside_repeat)
        elif operation is sre.MAX_REPEAT:
            low, high, body = argument
            assert not inside_repeat
            assert_never_goes_back(body, inside_repeat=high > 1)
            if low != high:
                assert not first(body) & first(items[at + 1 :])
        else:
            assert operation in (sre.LITERAL, sre.IN)


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS.keys())
def test_no_pattern_can_go_back_over_the_text(pattern: re.Pattern[str]) -> None:
    assert_never_goes_back(list(sre_parser.parse(pattern.pattern)))


@pytest.mark.parametrize("bad", ["(a*)*", "(?:[ab]c|a)*", "a*a", "(?:[a%]|%b)*"])
def test_the_check_of_the_patterns_finds_the_bad_ones(bad: str) -> None:
    with pytest.raises(AssertionError):
        assert_never_goes_back(list(sre_parser.parse(bad)))


def calls_made(text: str) -> int:
    """How many functions, Python's and C's, one parse calls."""
    calls = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        siwe.parse(text)
    finally:
        sys.setprofile(None)
    return calls


def test_the_work_grows_by_the_same_for_each_resource_and_not_with_the_length() -> None:
    none, hundred, two_hundred = (calls_made(TEXT + "\n- a:b" * n) for n in (0, 100, 200))
    assert two_hundred - hundred == hundred - none
    assert calls_made(put("Play", "Play" * 800)) == none


def test_the_length_is_looked_at_before_anything_else() -> None:
    class Untouchable(str):
        def isascii(self) -> bool:
            raise NotImplementedError

        split = isascii  # type: ignore[assignment]

    assert code_of(Untouchable("a" * (MAX_LENGTH + 1))) == "too_long"
    longest = put("Play", "a" * (4 + MAX_LENGTH - len(TEXT)))
    assert len(longest) == MAX_LENGTH
    siwe.parse(longest)
