"""Logging in: a wallet signs an EIP-4361 message over a nonce that this browser was given.

Browsers get a session, programs a bearer token. Everything that the message is checked against
comes from the settings and the server's clock, never from the request's headers.

A nonce carries its own expiry and proof, so handing one out writes nothing: callers that nobody
knows can't fill the database. Only a nonce that was logged in with leaves a row, until it expires.
"""

import hashlib
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib import auth
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.module_loading import import_string

from wallets import callers, siwe
from wallets.accounts import wallet_for
from wallets.db import in_transaction
from wallets.errors import Forbidden, LoginFailed, NotFound
from wallets.models import BearerToken, LoginNonce, Session, Wallet

# A nonce is when it expires (seconds since 1970), something random, and their proof; all in hex.
EXPIRY_LENGTH, RANDOM_LENGTH, PROOF_LENGTH = 8, 8, 32
# Not each request has to write that its session or token is in use.
NOTED_EVERY = timedelta(minutes=5)


def new_browser_secret() -> str:
    """What a browser keeps in a cookie, so that a nonce works in no other browser."""
    return secrets.token_hex(32)


def issue_nonce(*, browser_secret: str) -> tuple[str, datetime]:
    """A challenge, good for one login by this browser, and when it expires."""
    expires_at = timezone.now().replace(microsecond=0) + timedelta(
        seconds=settings.LOGIN_NONCE_SECONDS
    )
    claim = f"{int(expires_at.timestamp()):08x}{secrets.token_hex(RANDOM_LENGTH // 2)}"
    return claim + _proof(claim, browser_secret), expires_at


def verify_login(*, text: str, signature: str, browser_secret: str) -> Wallet:
    """Check a signed message, use its nonce up, and return its wallet.

    Raises LoginFailed, with the failed check as `reason_code`, Forbidden for a wallet that an
    operator has shut out, and ChainUnavailable if no node tells whether the wallet is a contract.
    """
    now = timezone.now()
    try:
        message = siwe.parse(text)
        expires_at = _read_nonce(message.nonce, browser_secret)
        if expires_at is None or expires_at <= now:
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
        _verify_signature(text, signature, message.address)
        # Last, so that only who holds a key can make a row.
        if not _spend(message.nonce, browser_secret, expires_at):
            raise siwe.SiweError("wrong_nonce")
    except siwe.SiweError as error:
        raise LoginFailed(error.reason, reason_code=error.code) from error
    wallet = wallet_for(message.address)
    if not wallet.is_active:
        raise Forbidden("This wallet may not log in.")
    return wallet


def _verify_signature(text: str, signature: str, address: str) -> None:
    """Require the signature of the address's key or, if that is not it, a contract's word for it.

    The network is asked here, so no transaction may be open. Raises SiweError, ChainUnavailable.
    """
    try:
        siwe.verify_signature(text, signature, address)
    except siwe.SiweError as not_the_key:
        raw = siwe.contract_signature(signature)
        if raw is None:
            raise
        ask = import_string(settings.CONTRACT_WALLET_CHECK)
        stands_by = ask(address=address, digest=siwe.digest(text), signature=raw)
        if stands_by is None:
            raise
        if not stands_by:
            raise siwe.SiweError("contract_refused") from not_the_key


def _proof(claim: str, browser_secret: str) -> str:
    mac = salted_hmac("wallets.login", f"{claim}{browser_secret}", algorithm="sha256")
    return mac.hexdigest()[:PROOF_LENGTH]


def _read_nonce(nonce: str, browser_secret: str) -> datetime | None:
    """When a nonce of ours expires; None for any other, also one given to another browser."""
    claim, proof = nonce[:-PROOF_LENGTH], nonce[-PROOF_LENGTH:]
    if not (browser_secret and constant_time_compare(proof, _proof(claim, browser_secret))):
        return None
    return datetime.fromtimestamp(int(claim[:EXPIRY_LENGTH], 16), UTC)


def _spend(nonce: str, browser_secret: str, expires_at: datetime) -> bool:
    """Use a nonce up: of any number of logins with it, one makes the row."""
    _, first = LoginNonce.objects.get_or_create(
        nonce=_fingerprint(nonce, 32),
        defaults={"session_key": _fingerprint(browser_secret, 40), "expires_at": expires_at},
    )
    return first


def _fingerprint(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


@in_transaction
def open_session(*, request: HttpRequest, wallet: Wallet) -> None:
    """A session for a browser, under a new key."""
    # Whatever session the browser came with, its key may be known to somebody else.
    request.session.flush()
    auth.login(request, wallet)
    claim_session(request=request, wallet=wallet)


@in_transaction
def claim_session(*, request: HttpRequest, wallet: Wallet) -> None:
    """Write down whose the request's session is, so that its owner can see and end it."""
    request.session.save()
    Session.objects.filter(pk=request.session.session_key).update(
        wallet=wallet, **callers.shown_to_owner(request)
    )
    _make_room(wallet.sessions.all())


@in_transaction
def issue_token(
    *,
    wallet: Wallet,
    name: str,
    scope: str = BearerToken.Scope.PLAY,
    user_agent: str = "",
    address_prefix: str = "",
) -> tuple[str, BearerToken]:
    """A bearer token for a program. Its text is returned this once; only its hash is kept."""
    text = f"bas_{secrets.token_urlsafe(32)}"
    token = BearerToken.objects.create(
        wallet=wallet,
        name=name,
        scope=scope,
        token_hash=token_hash(text),
        expires_at=timezone.now() + timedelta(seconds=settings.BEARER_TOKEN_SECONDS),
        user_agent=user_agent,
        address_prefix=address_prefix,
    )
    _make_room(wallet.tokens.all())
    return text, token


def _make_room(logins: QuerySet[Any]) -> None:
    """End those that have been unused the longest, if there are too many."""
    over = logins.order_by("-last_used_at", "-created_at").values("pk")[
        settings.LOGINS_PER_WALLET :
    ]
    logins.filter(pk__in=list(over.values_list("pk", flat=True))).delete()


def note_use(login: BearerToken | Session) -> None:
    """Note that a session or a token is in use, at most every few minutes."""
    now = timezone.now()
    if login.last_used_at < now - NOTED_EVERY:
        type(login).objects.filter(pk=login.pk).update(last_used_at=now)
        login.last_used_at = now


def revoke(*, wallet: Wallet, login_id: UUID) -> None:
    """End one of a wallet's sessions or tokens. Raises NotFound if it has none of this id."""
    mine = (wallet.tokens.filter(login_id=login_id), wallet.sessions.filter(login_id=login_id))
    if not sum(rows.delete()[0] for rows in mine):
        raise NotFound


def revoke_all(*, wallet: Wallet, but: UUID | None = None) -> None:
    """End all of a wallet's sessions and tokens, but perhaps one."""
    wallet.tokens.exclude(login_id=but).delete()
    wallet.sessions.exclude(login_id=but).delete()


def token_hash(text: str) -> bytes:
    """What is kept of a token: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(text.encode()).digest()
