"""Sign-In with Ethereum (EIP-4361): the message, its strict parser, its checks, its signature.

Pure: no clock, no network, no framework. A login is three steps over the *raw text* the wallet
signed: `parse` it, `check` what it says, `verify_signature` on it. The grammar is EIP-4361's
"ABNF Message Format" and narrower in three places, each of which keeps a trap out:

- the domain carries no userinfo, so that `google.com@evil.com` cannot pass for google.com;
- a chain id has no leading zeros, so that one message has one text;
- no leap seconds (23:59:60), which no wallet writes and Python's clock does not know.

It is wider in one: an address all in lower case is taken, because wallets send it.

`recover` and `verify_signature` are for externally owned accounts, whose key is the proof. A
contract wallet's signature (EIP-1271) is the chain's to judge: whoever asks it does so after the
same `parse` and `check`, about `digest` and `contract_signature`.
"""

import hmac
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from eth_account.messages import defunct_hash_message
from eth_keys.constants import SECPK1_N
from eth_keys.datatypes import Signature
from eth_keys.exceptions import BadSignature
from eth_utils.address import to_checksum_address
from eth_utils.exceptions import ValidationError

from wallets import siwe_grammar as grammar
from wallets.siwe_grammar import HEX, SUB_DELIMS, UNRESERVED, read_date_time, read_uri

MAX_LENGTH: Final = 4096
"""Characters in a message. Real ones have 300 to 1,000; the cap bounds all work before any."""

MAX_SIGNATURE_LENGTH: Final = 2 + 2 * 8192
"""Characters in a signature. A key's has 132; a contract's, wrapped, may have thousands."""

REASONS: Final = {
    "not_text": "The message is not text.",
    "too_long": f"The message is longer than {MAX_LENGTH} characters.",
    "not_ascii": "The message has a character outside ASCII.",
    "bad_line": "A line is missing, out of order or left over.",
    "bad_scheme": "The scheme before the domain is not an RFC 3986 scheme.",
    "bad_domain": "The domain is not an RFC 3986 authority with a host.",
    "domain_userinfo": "The domain carries a user name before an @.",
    "bad_address": "The address is not 0x and 40 hexadecimal digits.",
    "bad_checksum": "The address is neither in EIP-55 form nor all in lower case.",
    "bad_statement": "The statement has a character that EIP-4361 does not allow.",
    "bad_uri": "The URI is not an RFC 3986 URI with a scheme.",
    "bad_version": "The version is not 1.",
    "bad_chain_id": "The chain id is not a decimal number without leading zeros.",
    "bad_nonce": "The nonce is not at least 8 ASCII letters and digits.",
    "bad_issued_at": "Issued At is not an RFC 3339 date and time.",
    "bad_expiration_time": "Expiration Time is not an RFC 3339 date and time.",
    "bad_not_before": "Not Before is not an RFC 3339 date and time.",
    "bad_request_id": "The request id has a character that RFC 3986's pchar does not allow.",
    "bad_resource": "A resource is not a dash, a space and an RFC 3986 URI.",
    "not_canonical": "The message does not read back as what was written.",
    "wrong_scheme": "The message is for another scheme.",
    "wrong_domain": "The message is for another domain.",
    "wrong_uri": "The message's URI is of another origin.",
    "wrong_chain": "The message is for a chain that is not served here.",
    "wrong_nonce": "The nonce is not the one that was handed out.",
    "issued_in_future": "The message was issued in the future.",
    "too_old": "The message was issued too long ago.",
    "expired": "The message has expired.",
    "not_yet_valid": "The message is not valid yet.",
    "signature_malformed": "The signature is not 64 or 65 bytes, or not 0x and hexadecimal digits.",
    "signature_v": "The signature's last byte is not 0, 1, 27 or 28.",
    "signature_range": "The signature's r or s is not between 1 and the curve's order.",
    "signature_high_s": "The signature's s is in the upper half of the curve's order (EIP-2).",
    "signature_unrecoverable": "No key could have made this signature.",
    "wrong_signer": "The signature was made by another key than the address's.",
    "contract_refused": "The contract at the address does not stand by the signature (EIP-1271).",
}
"""Each stable error code, with what it tells a person. Nothing of the input is echoed: a reason
may go to a log or a page as it is."""


class SiweError(ValueError):
    """A message or signature refused. `code` is a key of `REASONS`, `reason` its sentence."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code
        self.reason = REASONS[code]

    def __str__(self) -> str:
        return f"{self.code}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SiweMessage:
    """The fields of EIP-4361, "Message Fields". `parse` gives only valid ones.

    `statement`, `request_id` and `resources` tell absent (None) from present and empty, as the
    grammar does. Times are aware datetimes, cut to microseconds; the `*_text` fields keep how
    they were written, for `build`, and take no part in comparisons.
    """

    scheme: str | None = None
    domain: str
    address: str  # EIP-55 form, whatever the text had
    statement: str | None = None
    uri: str
    version: str
    chain_id: int
    nonce: str
    issued_at: datetime
    expiration_time: datetime | None = None
    not_before: datetime | None = None
    request_id: str | None = None
    resources: tuple[str, ...] | None = None
    issued_at_text: str | None = field(default=None, compare=False, repr=False)
    expiration_time_text: str | None = field(default=None, compare=False, repr=False)
    not_before_text: str | None = field(default=None, compare=False, repr=False)


_ADDRESS = re.compile(f"0x[{HEX}]{{40}}")
_STATEMENT = re.compile(rf"[{UNRESERVED}{SUB_DELIMS}:/?#\[\]@ ]*")  # reserved, unreserved, space
_CHAIN_ID = re.compile("0|[1-9][0-9]{0,77}")  # as wide as the EVM's CHAINID, 256 bits
_NONCE = re.compile("[A-Za-z0-9]{8,}")
_SIGNATURE = re.compile(f"0x[{HEX}]*")

_HEADER_END = " wants you to sign in with your Ethereum account:"
_RESOURCES = "Resources:"
_FEWEST_LINES = 9  # header, address, two blank ones, the five required fields


def _matching(pattern: re.Pattern[str]) -> Callable[[str], str | None]:
    return lambda text: text if pattern.fullmatch(text) else None


class _Field(NamedTuple):
    label: str
    name: str
    read: Callable[[str], object]  # the field's value, or None if the text is not valid
    required: bool = True


_FIELDS: Final = (
    _Field("URI: ", "uri", read_uri),
    _Field("Version: ", "version", _matching(re.compile("1"))),
    _Field("Chain ID: ", "chain_id", lambda t: int(t) if _CHAIN_ID.fullmatch(t) else None),
    _Field("Nonce: ", "nonce", _matching(_NONCE)),
    _Field("Issued At: ", "issued_at", read_date_time),
    _Field("Expiration Time: ", "expiration_time", read_date_time, required=False),
    _Field("Not Before: ", "not_before", read_date_time, required=False),
    _Field("Request ID: ", "request_id", _matching(grammar.SEGMENT), required=False),
)
"""The labelled lines, in the only order the grammar allows; a bad value's code is `bad_<name>`."""


def _require(condition: object, code: str) -> None:
    if not condition:
        raise SiweError(code)


def _read_header(line: str) -> dict[str, Any]:
    _require(line.endswith(_HEADER_END), "bad_line")
    before, separator, after = line.removesuffix(_HEADER_END).partition("://")
    # An authority has no slash, so the first "://" can only end a scheme.
    scheme, domain = (before, after) if separator else (None, before)
    _require(scheme is None or grammar.SCHEME.fullmatch(scheme), "bad_scheme")
    _require("@" not in domain, "domain_userinfo")
    # RFC 3986 lets a host be empty; an empty one names no site.
    _require(domain.partition(":")[0] and grammar.is_host_and_port(domain), "bad_domain")
    return {"scheme": scheme, "domain": domain}


def _read_address(line: str) -> str:
    _require(_ADDRESS.fullmatch(line), "bad_address")
    address = to_checksum_address(line)
    _require(line in (address, address.lower()), "bad_checksum")
    return address


def _read_resources(lines: list[str]) -> tuple[str, ...]:
    for line in lines:
        _require(line.startswith("- ") and read_uri(line[2:]), "bad_resource")
    return tuple(line[2:] for line in lines)


def parse(text: str) -> SiweMessage:
    """Read a message by EIP-4361, "ABNF Message Format", over the raw text, in linear time.

    The address comes back in EIP-55 form, also where the text has it in lower case; any other
    spelling is refused. Raises `SiweError` and nothing else.
    """
    _require(isinstance(text, str), "not_text")
    _require(len(text) <= MAX_LENGTH, "too_long")
    _require(text.isascii(), "not_ascii")
    lines = text.split("\n")
    _require(len(lines) >= _FEWEST_LINES, "bad_line")
    values = _read_header(lines[0])
    values["address"] = _read_address(lines[1])
    _require(lines[2] == "", "bad_line")
    # With a statement, empty or not, a blank line follows it; without one, the URI does.
    if lines[4] == "":
        _require(_STATEMENT.fullmatch(lines[3]), "bad_statement")
        values["statement"] = lines[3]
        at = 5
    else:
        _require(lines[3] == "", "bad_line")
        at = 4
    for label, name, read, required in _FIELDS:
        line = lines[at] if at < len(lines) else ""
        if not line.startswith(label):
            _require(not required, "bad_line")
            continue
        value_text = line.removeprefix(label)
        values[name] = value = read(value_text)
        _require(value is not None, f"bad_{name}")
        if read is read_date_time:
            values[f"{name}_text"] = value_text
        at += 1
    if at < len(lines):
        _require(lines[at] == _RESOURCES, "bad_line")
        values["resources"] = _read_resources(lines[at + 1 :])
    return SiweMessage(**values)


def _time_text(message: SiweMessage, name: str) -> str:
    text: str | None = getattr(message, f"{name}_text")
    if text is not None:
        return text
    when: datetime = getattr(message, name)
    return when.isoformat().replace("+00:00", "Z")


def build(message: SiweMessage) -> str:
    """The text of a message, for a wallet to sign: the inverse of `parse`.

    Raises `SiweError` if the message breaks the grammar, or if its text would read back as
    another message (a line break smuggled into a field, an address not in EIP-55 form).
    """
    lines = [
        ("" if message.scheme is None else f"{message.scheme}://") + message.domain + _HEADER_END,
        message.address,
        "",
        *(() if message.statement is None else (message.statement,)),
        "",
    ]
    for label, name, read, required in _FIELDS:
        value = getattr(message, name)
        if value is not None or required:
            lines.append(
                label + (_time_text(message, name) if read is read_date_time else str(value))
            )
    if message.resources is not None:
        lines += [_RESOURCES, *(f"- {resource}" for resource in message.resources)]
    text = "\n".join(lines)
    _require(parse(text) == message, "not_canonical")
    return text


def check(
    message: SiweMessage,
    *,
    scheme: str,
    domain: str,
    chain_ids: Collection[int],
    nonce: str,
    now: datetime,
    skew: timedelta,
    max_age: timedelta,
    uri_origin: str | None = None,
) -> None:
    """Bind a parsed message to what this site expects (EIP-4361, "Verifying a signed Message").

    Nothing may be left out: what is not bound can be replayed from another site. `domain` is the
    authority as browsers write it (`example.com`, `localhost:8000`) and is compared letter by
    letter, port included. A message may omit its scheme; the URI, which must be of `uri_origin`
    (the site's own, `scheme://domain`, if not given), still binds it. `now` is aware. `skew`
    forgives the wallet's clock, both ways; `max_age` counts from Issued At.

    Raises `SiweError`: `wrong_scheme`, `wrong_domain`, `wrong_uri`, `wrong_chain`, `wrong_nonce`,
    `issued_in_future`, `too_old`, `expired`, `not_yet_valid`; the first that applies.
    """
    # The skew is added to `now`, never to the message's times: those may lie at the calendar's
    # end, where adding overflows.
    latest, earliest = now + skew, now - skew
    failures = {
        "wrong_scheme": message.scheme not in (None, scheme),
        "wrong_domain": message.domain != domain,
        "wrong_uri": grammar.origin(message.uri) != (uri_origin or f"{scheme}://{domain}"),
        "wrong_chain": message.chain_id not in chain_ids,
        # In constant time: how much of a guess was right must not show.
        "wrong_nonce": not hmac.compare_digest(message.nonce.encode(), nonce.encode()),
        "issued_in_future": message.issued_at > latest,
        "too_old": message.issued_at < earliest - max_age,
        "expired": message.expiration_time is not None and message.expiration_time <= earliest,
        "not_yet_valid": message.not_before is not None and message.not_before > latest,
    }
    for code, failed in failures.items():
        _require(not failed, code)


def _signature_bytes(signature: str | bytes) -> bytes:
    if isinstance(signature, str):
        # The length first, so that no long string is looked through.
        _require(
            len(signature) in (2 + 2 * 64, 2 + 2 * 65) and _SIGNATURE.fullmatch(signature),
            "signature_malformed",
        )
        return bytes.fromhex(signature[2:])
    _require(isinstance(signature, bytes) and len(signature) in (64, 65), "signature_malformed")
    return signature


def digest(text: str) -> bytes:
    """The 32 bytes that are signed for a text, by EIP-191 (`personal_sign`, version 0x45)."""
    return bytes(defunct_hash_message(text=text))


def contract_signature(signature: str) -> bytes | None:
    """The bytes of a signature for a contract, which may have any form; None if it has none."""
    well_formed = len(signature) <= MAX_SIGNATURE_LENGTH and len(signature) % 2 == 0
    if not (well_formed and _SIGNATURE.fullmatch(signature)):
        return None
    return bytes.fromhex(signature[2:])


def recover(text: str, signature: str | bytes) -> str:
    """The EIP-55 address whose key signed the text by EIP-191 (`personal_sign`, version 0x45).

    The signature is r, s, v with v of 0, 1, 27 or 28 (65 bytes), or compact by EIP-2098 (64
    bytes); as bytes, or as 0x and hexadecimal digits. Refuses s above half the curve's order
    (EIP-2): each signature would have a twin. Raises `SiweError` and nothing else.
    """
    _require(isinstance(text, str), "not_text")
    _require(len(text) <= MAX_LENGTH, "too_long")
    _require(text.isascii(), "not_ascii")
    raw = _signature_bytes(signature)
    r, s = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:64], "big")
    if len(raw) == 64:
        parity, s = s >> 255, s & ((1 << 255) - 1)
    else:
        _require(raw[64] in (0, 1, 27, 28), "signature_v")
        parity = raw[64] % 27
    _require(0 < r < SECPK1_N and 0 < s < SECPK1_N, "signature_range")
    _require(s <= SECPK1_N // 2, "signature_high_s")
    try:
        key = Signature(vrs=(parity, r, s)).recover_public_key_from_msg_hash(digest(text))
    except (BadSignature, ValidationError) as error:
        raise SiweError("signature_unrecoverable") from error
    return str(key.to_checksum_address())


def verify_signature(text: str, signature: str | bytes, address: str) -> None:
    """Require that the key of `address` (EIP-55 form) signed the text; see `recover`.

    Raises `SiweError`: `wrong_signer`, or what `recover` raises.
    """
    _require(recover(text, signature) == address, "wrong_signer")
