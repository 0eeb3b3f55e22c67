"""`Idempotency-Key` on HTTP writes that cost credits.

The answer is stored in the transaction of the write, in one row unique on wallet and key: a repeat
gets the stored answer, byte for byte; the key with another request is an error; and a request that
failed leaves no row, so it may be tried again with the same key.
"""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from wallets.db import in_transaction, lock_until_commit
from wallets.errors import IdempotencyConflict, Problem
from wallets.models import IdempotencyKey

HEADER = "Idempotency-Key"
MAX_LENGTH = 255


class InvalidIdempotencyKey(Problem):
    """The header is not 1 to 255 printable ASCII characters."""

    code, title = "invalid_idempotency_key", "Idempotency-Key must be 1 to 255 printable characters"


def once(request: Request, write: Callable[[], tuple[int, dict[str, Any]]]) -> Response:
    """Answer with `write()`'s status and body, run at most once for the request's key.

    Without the header the write simply runs. Raises IdempotencyConflict if the key was used for a
    different request, InvalidIdempotencyKey, and whatever `write` raises.
    """
    key = request.headers.get(HEADER)
    if key is not None and not (0 < len(key) <= MAX_LENGTH and key.isascii() and key.isprintable()):
        raise InvalidIdempotencyKey
    status, body = in_transaction(_run)(request, key, write)
    return Response(body, status=status)


def _run(
    request: Request, key: str | None, write: Callable[[], tuple[int, dict[str, Any]]]
) -> tuple[int, dict[str, Any]]:
    if key is None:
        return write()
    request_hash = hashlib.sha256(
        json.dumps([request.method, request.path, request.data], sort_keys=True).encode()
    ).digest()
    # Held to the end of the transaction: a repeat that comes while the first one still runs waits
    # here (no longer than `lock_timeout`), and then finds its answer.
    lock_until_commit(f"{request.user.pk}:{key}")
    stored = IdempotencyKey.objects.filter(wallet_id=request.user.pk, key=key).first()
    if stored is not None:
        if bytes(stored.request_hash) != request_hash:
            raise IdempotencyConflict
        return stored.status, json.loads(stored.body)
    status, body = write()
    # As text: JSONB would give the fields back in an order of its own.
    text = JSONRenderer().render(body).decode()
    IdempotencyKey.objects.create(
        wallet_id=request.user.pk, key=key, request_hash=request_hash, status=status, body=text
    )
    return status, json.loads(text)
