"""Logging in: a wallet signs an EIP-4361 message over a nonce that this browser session was given.

Browsers get a session, programs a bearer token. Everything that the message is checked against
comes from the settings and the server's clock, never from the request's headers.
"""

import hashlib
import secrets
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

from wallets import siwe
from wallets.accounts import wallet_for
from wallets.db import in_transaction
from wallets.errors import Forbidden, LoginFailed
from wallets.models import BearerToken, LoginNonce, Wallet


def issue_nonce(*, session_key: str) -> LoginNonce:
    """A fresh challenge, good for one login in this session within LOGIN_NONCE_SECONDS."""
    return LoginNonce.objects.create(
        nonce=secrets.token_hex(16),
        session_key=session_key,
        expires_at=timezone.now() + timedelta(seconds=settings.LOGIN_NONCE_SECONDS),
    )


def verify_login(*, text: str, signature: str, session_key: str | None) -> Wallet:
    """Check a signed message and return its wallet; the nonce is used up, whatever comes of it.

    Raises LoginFailed, with the failed check as `reason_code`, and Forbidden for a wallet that an
    operator has shut out.
    """
    now = timezone.now()
    try:
        message = siwe.parse(text)
        if not _spend_nonce(message.nonce, session_key, now):
            raise siwe.SiweError("wrong_nonce")
        siwe.check(
            message,
            scheme=urlsplit(settings.SITE_URL).scheme,
            domain=urlsplit(settings.SITE_URL).netloc,
            uri_origin=settings.SITE_URL,
            chain_ids={settings.CHAIN_ID},
            nonce=message.nonce,
            now=now,
            skew=timedelta(seconds=settings.LOGIN_CLOCK_SKEW_SECONDS),
            max_age=timedelta(seconds=settings.LOGIN_NONCE_SECONDS),
        )
        siwe.verify_signature(text, signature, message.address)
    except siwe.SiweError as error:
        raise LoginFailed(error.reason, reason_code=error.code) from error
    wallet = wallet_for(message.address)
    if not wallet.is_active:
        raise Forbidden("This wallet may not log in.")
    return wallet


def _spend_nonce(nonce: str, session_key: str | None, now: datetime) -> bool:
    """Use a nonce up: of any number of logins with it, one deletes the row."""
    deleted, _ = LoginNonce.objects.filter(
        nonce=nonce, session_key=session_key or "", expires_at__gt=now
    ).delete()
    return deleted == 1


@in_transaction
def issue_token(*, wallet: Wallet, name: str) -> tuple[str, BearerToken]:
    """A bearer token for a program. Its text is returned this once; only its hash is kept."""
    text = f"bas_{secrets.token_urlsafe(32)}"
    token = BearerToken.objects.create(
        wallet=wallet,
        name=name,
        token_hash=token_hash(text),
        expires_at=timezone.now() + timedelta(seconds=settings.BEARER_TOKEN_SECONDS),
    )
    return text, token


def token_hash(text: str) -> bytes:
    """What is kept of a token: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(text.encode()).digest()
