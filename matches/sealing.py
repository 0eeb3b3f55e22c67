"""Encryption of what must not be readable in the database: FIELD_KEY, by Fernet."""

import base64
import hashlib
import json
from functools import cache
from typing import Any

from cryptography.fernet import Fernet
from django.conf import settings

# Sealed values are padded to a multiple of this: "rock" must not be told from "scissors" by length.
BLOCK_BYTES = 256


@cache
def _cipher(key: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest()))


def seal(value: Any) -> bytes:
    """Encrypt what JSON can hold."""
    text = json.dumps(value).encode()
    padded = text.ljust(-(-len(text) // BLOCK_BYTES) * BLOCK_BYTES)
    return _cipher(settings.FIELD_KEY).encrypt(padded)


def unseal(sealed: bytes | memoryview) -> Any:
    """Decrypt what `seal` made."""
    return json.loads(_cipher(settings.FIELD_KEY).decrypt(bytes(sealed)))
