"""How a request says who it is from: a session cookie or a bearer token (RFC 6750)."""

from typing import TYPE_CHECKING

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.authentication import SessionAuthentication as FrameworksSessions
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from wallets.errors import InsufficientScope
from wallets.login import note_use, token_hash
from wallets.models import BearerToken, Wallet

Scope = BearerToken.Scope
if TYPE_CHECKING:  # the framework's views import this module
    from rest_framework.views import APIView


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer bas_…`."""

    def authenticate(self, request: Request) -> tuple[Wallet, BearerToken] | None:
        """Find the token's wallet. Raises AuthenticationFailed if it is unknown or expired."""
        scheme, _, text = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        token = (
            BearerToken.objects.select_related("wallet")
            .filter(
                token_hash=token_hash(text.strip().decode("latin-1")),
                expires_at__gt=timezone.now(),
                wallet__is_active=True,
            )
            .first()
        )
        if token is None:
            raise AuthenticationFailed("This token is unknown or has expired.")
        note_use(token)
        return token.wallet, token

    def authenticate_header(self, request: Request) -> str:
        """Say how to log in; with it a missing login is 401 rather than 403."""
        return "Bearer"


class SessionAuthentication(FrameworksSessions):
    """The cookie `sessionid`; a write needs the CSRF token too."""

    def authenticate(self, request: Request) -> tuple[Wallet, None] | None:
        """Find the session's wallet. Raises PermissionDenied if a write has no CSRF token."""
        found = super().authenticate(request)
        if found and request._request.session.row:
            note_use(request._request.session.row)
        return found


class IsPlayer(BasePermission):
    """Players only: an operator has no address, hence no credits to play with.

    A session may do everything. A token may read if its scope is `read`, and otherwise what the
    view's `write_scope` says: `play`, unless the view names another.
    """

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Whether the request comes from a wallet with an address.

        What a player is told is that player's own, so it also tells every cache to keep nothing.
        Raises InsufficientScope.
        """
        view.headers["Cache-Control"] = "no-store"
        if isinstance(request.auth, BearerToken):
            needed = Scope.READ
            if request.method not in SAFE_METHODS:
                needed = getattr(view, "write_scope", Scope.PLAY)
            if not request.auth.may(needed):
                raise InsufficientScope(f"This needs a token of the scope {needed}.", scope=needed)
        return bool(getattr(request.user, "address", None))


class Anyone(BasePermission):
    """Everybody, with a login or without; some are told more than others."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Let everybody in, and keep caches from telling one what another was told."""
        view.headers["Vary"] = "Authorization"  # and the cookie, which the session's use adds
        if request.user.is_authenticated:
            view.headers["Cache-Control"] = "no-store"
        return True
