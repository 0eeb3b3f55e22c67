"""Encryption of what must not be readable in the database: FIELD_KEY, by Fernet."""

import base64
import hashlib
import json
from functools import cache
from typing import Any

from cryptography.fernet import Fernet
from django.conf import settings


@cache
def _cipher(key: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest()))


def seal(value: Any) -> bytes:
    """Encrypt what JSON can hold."""
    return _cipher(settings.FIELD_KEY).encrypt(json.dumps(value).encode())


def unseal(sealed: bytes | memoryview) -> Any:
    """Decrypt what `seal` made."""
    return json.loads(_cipher(settings.FIELD_KEY).decrypt(bytes(sealed)))
