"""How a request says who it is from: a session cookie or a bearer token (RFC 6750)."""

from typing import TYPE_CHECKING

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from wallets.login import token_hash
from wallets.models import BearerToken, Wallet

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
        return token.wallet, token

    def authenticate_header(self, request: Request) -> str:
        """Say how to log in; with it a missing login is 401 rather than 403."""
        return "Bearer"


class IsPlayer(BasePermission):
    """Players only: an operator has no address, hence no credits to play with."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Whether the request comes from a wallet with an address.

        What a player is told is that player's own, so it also tells every cache to keep nothing.
        """
        view.headers["Cache-Control"] = "no-store"
        return bool(getattr(request.user, "address", None))
