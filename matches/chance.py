"""Chance that neither side can know or bend (rules.md, section 6)."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable
from typing import Any

from engine import Choice, Influence


def new_secret() -> str:
    """A secret of 32 random bytes, in lower-case hex."""
    return secrets.token_hex(32)


def sha256(data: bytes) -> str:
    """SHA-256 in lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def secret_hash(secret: str) -> str:
    """What is published of the server's secret when a match is made."""
    return sha256(bytes.fromhex(secret))


def commitment(*, match_id: str, movement: int, side: str, choice: Choice, salt: str) -> str:
    """The commitment to a choice; bound to match, movement and ape, so that a copy is worthless."""
    tribute = choice.tribute or "none"
    return sha256(f"bas:{match_id}:{movement}:{side}:{choice.move}:{tribute}:{salt}".encode())


def canonical(event: dict[str, Any]) -> bytes:
    """The event as RFC 8785 has it; all our keys are ASCII and all our numbers integers."""
    return json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def extend(chain_hash: str, event: dict[str, Any]) -> str:
    """The hash chain after one more event; it starts from an empty string."""
    return sha256(bytes.fromhex(chain_hash) + canonical(event))


def draw_from(secret: str, chain_hash: str) -> Callable[[tuple[Influence, ...]], Influence]:
    """The draw of the next influence out of those left in the cycle, for the engine."""

    def draw(left: tuple[Influence, ...]) -> Influence:
        digest = hmac.digest(bytes.fromhex(secret), bytes.fromhex(chain_hash), "sha256")
        return left[int.from_bytes(digest, "big") % len(left)]

    return draw
