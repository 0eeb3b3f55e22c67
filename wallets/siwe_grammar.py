"""The pieces of RFC 3986 (URIs) and RFC 3339 (dates) that EIP-4361's grammar is made of.

Each text is cut at its separators, then each part is matched whole against one class of
characters. A repeated group begins with a character that nothing else in its pattern begins with
(`%` is in no class), so matching never goes back: time is linear in the text.
"""

import re
from datetime import UTC, datetime, timedelta, timezone
from ipaddress import IPv6Address

HEX = "0-9A-Fa-f"
UNRESERVED = r"A-Za-z0-9\-._~"
SUB_DELIMS = "!$&'()*+,;="


def _or_percent_encoded(characters: str) -> re.Pattern[str]:
    return re.compile(f"(?:[{characters}]|%[{HEX}][{HEX}])*")


SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+\-.]*")
SEGMENT = _or_percent_encoded(f"{UNRESERVED}{SUB_DELIMS}:@")  # *pchar
_USERINFO = _or_percent_encoded(f"{UNRESERVED}{SUB_DELIMS}:")
_REG_NAME = _or_percent_encoded(f"{UNRESERVED}{SUB_DELIMS}")  # an IPv4 address is one, too
_PORT = re.compile("[0-9]*")
_IPV6_CHARACTERS = re.compile(f"[{HEX}:.]*")  # keeps out zones, which RFC 3986 has not
_IPV_FUTURE = re.compile(rf"[vV][{HEX}]+\.[{UNRESERVED}{SUB_DELIMS}:]+")
_PATH = _or_percent_encoded(f"{UNRESERVED}{SUB_DELIMS}:@/")
_QUERY = _or_percent_encoded(f"{UNRESERVED}{SUB_DELIMS}:@/?")  # and a fragment
_DATE_TIME = re.compile(
    "([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r"(?:\.([0-9]+))?(?:[Zz]|([+\-])([01][0-9]|2[0-3]):([0-5][0-9]))"
)


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return _IPV6_CHARACTERS.fullmatch(text) is not None


def _is_host(text: str) -> bool:
    if not text.startswith("["):
        return _REG_NAME.fullmatch(text) is not None
    literal = text[1:-1]
    return text.endswith("]") and (_is_ipv6(literal) or _IPV_FUTURE.fullmatch(literal) is not None)


def is_host_and_port(text: str) -> bool:
    """Whether the text is an RFC 3986 `authority` without userinfo; an empty host is one."""
    literal, bracket, rest = text.rpartition("]")
    name, _, port = rest.partition(":")
    return _is_host(literal + bracket + name) and _PORT.fullmatch(port) is not None


def _is_authority(text: str) -> bool:
    userinfo, _, host_and_port = text.rpartition("@")
    return _USERINFO.fullmatch(userinfo) is not None and is_host_and_port(host_and_port)


def read_uri(text: str) -> str | None:
    """The text if it is an RFC 3986 `URI` (section 3; the scheme is required), else None."""
    scheme, colon, rest = text.partition(":")
    rest, _, fragment = rest.partition("#")
    path, _, query = rest.partition("?")
    authority = ""
    if path.startswith("//"):
        authority, _, path = path[2:].partition("/")
    valid = (
        colon
        and SCHEME.fullmatch(scheme)
        and _is_authority(authority)
        and _PATH.fullmatch(path)
        and _QUERY.fullmatch(query)
        and _QUERY.fullmatch(fragment)
    )
    return text if valid else None


def origin(uri: str) -> str:
    """Scheme, `://` and authority of a valid URI; no site's origin if it has no authority."""
    scheme, separator, rest = uri.partition("://")
    return scheme + separator + re.split("[/?#]", rest, maxsplit=1)[0]


def read_date_time(text: str) -> datetime | None:
    """The instant of an RFC 3339 `date-time` (section 5.6), else None.

    Digits after the sixth of a fraction are dropped. Year 0 and second 60 are refused: a
    datetime cannot hold them.
    """
    match = _DATE_TIME.fullmatch(text)
    if match is None:
        return None
    *calendar, fraction, sign, hours, minutes = match.groups()
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    zone = timezone(-offset if sign == "-" else offset) if offset else UTC
    microsecond = int((fraction or "0")[:6].ljust(6, "0"))
    year, month, day, hour, minute, second = map(int, calendar)
    try:
        return datetime(year, month, day, hour, minute, second, microsecond, zone)
    except ValueError:
        return None
