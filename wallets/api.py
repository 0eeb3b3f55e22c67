"""The API of wallets: logging in and out, and credits. Views parse, call, answer."""

from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import login, logout
from django.middleware.csrf import get_token
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.generics import ListAPIView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from wallets import selectors
from wallets.login import issue_nonce, issue_token, verify_login
from wallets.models import BearerToken, Posting
from wallets.serializers import (
    CreditsSerializer,
    LoggedInSerializer,
    LoginSerializer,
    NonceSerializer,
    PostingSerializer,
    WalletSerializer,
)


class NonceView(APIView):
    """A challenge for one login."""

    permission_classes = [AllowAny]
    authentication_classes: list[type] = []

    @extend_schema(request=None, responses=NonceSerializer, tags=["auth"])
    def post(self, request: Request) -> Response:
        """Get a nonce, good for one login in this session (keep the cookie that comes with it)."""
        if request.session.session_key is None:
            request.session.create()
        nonce = issue_nonce(session_key=request.session.session_key)
        return Response(
            NonceSerializer(
                {
                    "nonce": nonce.nonce,
                    "expires_at": nonce.expires_at,
                    "domain": urlsplit(settings.SITE_URL).netloc,
                    "uri": settings.SITE_URL,
                    "chain_id": settings.CHAIN_ID,
                }
            ).data
        )


class LoginView(APIView):
    """Log in with a signed message."""

    permission_classes = [AllowAny]
    # No session is looked at, so no CSRF token is asked for: the nonce, bound to the browser's
    # session, keeps another site from logging somebody in.
    authentication_classes: list[type] = []

    @extend_schema(request=LoginSerializer, responses=LoggedInSerializer, tags=["auth"])
    def post(self, request: Request) -> Response:
        """Log in with a signed EIP-4361 message, to a session or for a bearer token."""
        form = LoginSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wallet = verify_login(
            text=form.validated_data["message"],
            signature=form.validated_data["signature"],
            session_key=request.session.session_key,
        )
        answer: dict[str, object] = {"wallet": wallet}
        if name := form.validated_data.get("token_name"):
            answer["token"], token = issue_token(wallet=wallet, name=name)
            answer["token_expires_at"] = token.expires_at
        else:
            login(request._request, wallet)
            get_token(request._request)
        return Response(LoggedInSerializer(answer).data)


class LogoutView(APIView):
    """Log out."""

    @extend_schema(request=None, responses={204: OpenApiResponse()}, tags=["auth"])
    def post(self, request: Request) -> Response:
        """End the session, or revoke the bearer token, that this request came with."""
        if isinstance(request.auth, BearerToken):
            request.auth.delete()
        else:
            logout(request._request)
        return Response(status=status.HTTP_204_NO_CONTENT)


class MeView(APIView):
    """Who is logged in."""

    @extend_schema(responses=WalletSerializer, tags=["auth"])
    def get(self, request: Request) -> Response:
        """The wallet that this request comes from."""
        get_token(request._request)
        return Response(WalletSerializer(request.user).data)


class CreditsView(APIView):
    """A player's credits."""

    @extend_schema(responses=CreditsSerializer, tags=["credits"])
    def get(self, request: Request) -> Response:
        """Credits: available, in play, and pending withdrawal."""
        return Response(CreditsSerializer(selectors.credits_of(request.user)).data)


@extend_schema(tags=["credits"])
class StatementView(ListAPIView):
    """Every change of the available credits, newest first, with the balance it left."""

    serializer_class = PostingSerializer
    queryset = Posting.objects.none()

    def get_queryset(self):
        """The postings of the wallet that is logged in."""
        return selectors.statement(self.request.user)
