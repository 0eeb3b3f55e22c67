"""The two texts that a client makes itself: the login message and a choice's commitment."""

import hashlib
from datetime import datetime

from bas_client.models import Choice, Side

STATEMENT = "Sign in to Block Ape Scissors."


def login_message(
    *, domain: str, address: str, uri: str, chain_id: int, nonce: str, issued_at: datetime
) -> str:
    """Return the EIP-4361 text for a wallet to sign; `address` in EIP-55 form."""
    return "\n".join(
        [
            f"{domain} wants you to sign in with your Ethereum account:",
            address,
            "",
            STATEMENT,
            "",
            f"URI: {uri}",
            "Version: 1",
            f"Chain ID: {chain_id}",
            f"Nonce: {nonce}",
            f"Issued At: {issued_at.isoformat(timespec='milliseconds').replace('+00:00', 'Z')}",
        ]
    )


def commitment(*, match_id: str, movement: int, side: Side, choice: Choice, salt: str) -> str:
    """Return the commitment to a choice: bound to match, movement and ape, hidden by the salt."""
    tribute = choice.tribute or "none"
    text = f"bas:{match_id}:{movement}:{side}:{choice.move}:{tribute}:{salt}"
    return hashlib.sha256(text.encode()).hexdigest()
