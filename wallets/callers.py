"""Where a request comes from: its client's address, taken safely from behind proxies."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest


def address_of(request: HttpRequest) -> str:
    """The client's IP address; empty if there is none.

    Each of our proxies appends the address that it was called from to `X-Forwarded-For`. So the
    client's is the one that the first of TRUSTED_PROXY_COUNT proxies wrote, counted from the end;
    whatever stands before it is the client's own invention.
    """
    address = request.META.get("REMOTE_ADDR", "")
    forwarded = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",")]
    # Fewer addresses than proxies: this came around them, and is who it is.
    if forwarded[-1] and 0 < settings.TRUSTED_PROXY_COUNT <= len(forwarded):
        address = forwarded[-settings.TRUSTED_PROXY_COUNT]
    try:
        return str(ip_address(address))
    except ValueError:
        return ""


def network_of(address: str, *, v4_bits: int, v6_bits: int) -> str:
    """The network that an address lies in; empty if there is no address."""
    if not address:
        return ""
    bits = v6_bits if isinstance(ip_address(address), IPv6Address) else v4_bits
    return str(ip_network(f"{address}/{bits}", strict=False))


def shown_to_owner(request: HttpRequest) -> dict[str, str]:
    """What a login's row keeps of the request that it was made by: no more than tells it apart."""
    user_agent = "".join(c for c in request.headers.get("User-Agent", "") if c.isprintable())
    return {
        "user_agent": user_agent.encode(errors="replace").decode()[:200],
        "address_prefix": network_of(address_of(request), v4_bits=24, v6_bits=48),
    }
