"""The API of wallets: logging in and out, and credits. Views parse, call, answer."""

from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpResponse
from django.middleware.csrf import get_token
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.generics import ListAPIView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from wallets import selectors
from wallets.callers import shown_to_owner
from wallets.errors import NotFound
from wallets.export import FORMATS, lines
from wallets.login import (
    issue_nonce,
    issue_token,
    new_browser_secret,
    open_session,
    revoke,
    revoke_all,
    verify_login,
)
from wallets.models import BearerToken, Posting
from wallets.pagination import NewestFirst
from wallets.parsers import JsonParser
from wallets.serializers import (
    CreditsSerializer,
    IssuedTokenSerializer,
    LoggedInSerializer,
    LoginRowSerializer,
    LoginSerializer,
    NewTokenSerializer,
    NonceSerializer,
    PostingSerializer,
    RevokeSerializer,
    WalletSerializer,
)

# Ties a nonce to the browser that asked for it. Not the session's cookie: another site can make a
# browser ask for a nonce, and must not get it a new session in place of the one it has.
LOGIN_COOKIE = "bas_login"
LOGIN_COOKIE_PATH = "/api/v1/auth"
NO_STORE = {"Cache-Control": "no-store"}


class NonceView(APIView):
    """A challenge for one login."""

    permission_classes = [AllowAny]
    authentication_classes: list[type] = []

    @extend_schema(request=None, responses=NonceSerializer, tags=["auth"])
    def post(self, request: Request) -> Response:
        """Get a nonce, good for one login, together with the cookie that comes with it."""
        # Kept if there is one, so that two tabs don't spoil each other's login.
        browser_secret = request.COOKIES.get(LOGIN_COOKIE) or new_browser_secret()
        nonce, expires_at = issue_nonce(browser_secret=browser_secret)
        challenge = {
            "nonce": nonce,
            "expires_at": expires_at,
            "domain": urlsplit(settings.SITE_URL).netloc,
            "uri": settings.SITE_URL,
            "chain_id": settings.CHAIN_ID,
        }
        response = Response(NonceSerializer(challenge).data, headers=NO_STORE)
        response.set_cookie(
            LOGIN_COOKIE,
            browser_secret,
            path=LOGIN_COOKIE_PATH,
            max_age=settings.LOGIN_NONCE_SECONDS,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Strict",
        )
        return response


class LoginView(APIView):
    """Log in with a signed message."""

    permission_classes = [AllowAny]
    # No session is looked at, so no CSRF token is asked for: the nonce's cookie, which is never
    # sent from another site's page, keeps that site from logging somebody in.
    authentication_classes: list[type] = []
    parser_classes = [JsonParser]

    @extend_schema(request=LoginSerializer, responses=LoggedInSerializer, tags=["auth"])
    def post(self, request: Request) -> Response:
        """Log in with a signed EIP-4361 message, to a session or for a bearer token."""
        form = LoginSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wallet = verify_login(
            text=form.validated_data["message"],
            signature=form.validated_data["signature"],
            browser_secret=request.COOKIES.get(LOGIN_COOKIE, ""),
        )
        answer: dict[str, object] = {"wallet": wallet}
        if name := form.validated_data.get("token_name"):
            answer["token"], token = issue_token(
                wallet=wallet,
                name=name,
                scope=form.validated_data["token_scope"],
                **shown_to_owner(request._request),
            )
            answer["token_expires_at"] = token.expires_at
        else:
            open_session(request=request._request, wallet=wallet)
            get_token(request._request)
        response = Response(LoggedInSerializer(answer).data, headers=NO_STORE)
        response.delete_cookie(LOGIN_COOKIE, path=LOGIN_COOKIE_PATH, samesite="Strict")
        return response


class LogoutView(APIView):
    """Log out."""

    write_scope = BearerToken.Scope.READ  # whoever got in may leave

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
        if not request.auth:  # a browser: it gets the CSRF token that its writes need
            get_token(request._request)
        return Response(WalletSerializer(request.user).data)


def _login_id(request: Request) -> UUID | None:
    """The id of the session or token that a request comes with."""
    login = request.auth or request._request.session.row
    return login and login.login_id


class LoginsView(APIView):
    """Where you are logged in."""

    @extend_schema(responses=LoginRowSerializer(many=True), tags=["auth"])
    def get(self, request: Request) -> Response:
        """Your sessions and tokens, the last used first."""
        rows = selectors.logins_of(request.user, current=_login_id(request))
        return Response(LoginRowSerializer(rows, many=True).data)


class RevokeLoginView(APIView):
    """Log out somewhere else."""

    write_scope = BearerToken.Scope.MONEY

    @extend_schema(request=None, responses={204: OpenApiResponse()}, tags=["auth"])
    def post(self, request: Request, login_id: UUID) -> Response:
        """End one of your sessions, or one of your tokens."""
        revoke(wallet=request.user, login_id=login_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RevokeLoginsView(APIView):
    """Log out everywhere."""

    write_scope = BearerToken.Scope.MONEY

    @extend_schema(
        request=RevokeSerializer,
        responses={204: OpenApiResponse()},
        tags=["auth"],
        operation_id="auth_logins_revoke_all",
    )
    def post(self, request: Request) -> Response:
        """End all your sessions and tokens, but on request not the one that you come with."""
        form = RevokeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        but = _login_id(request) if form.validated_data["keep_current"] else None
        revoke_all(wallet=request.user, but=but)
        return Response(status=status.HTTP_204_NO_CONTENT)


class TokensView(APIView):
    """Another way in, for a program."""

    write_scope = BearerToken.Scope.MONEY

    @extend_schema(
        request=NewTokenSerializer, responses={201: IssuedTokenSerializer}, tags=["auth"]
    )
    def post(self, request: Request) -> Response:
        """Get a bearer token for a program of yours, without signing again."""
        form = NewTokenSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        text, token = issue_token(
            wallet=request.user, **form.validated_data, **shown_to_owner(request._request)
        )
        answer = {"token": text, "token_expires_at": token.expires_at, "id": token.login_id}
        return Response(IssuedTokenSerializer(answer).data, status=status.HTTP_201_CREATED)


class CreditsView(APIView):
    """A player's credits."""

    @extend_schema(responses=CreditsSerializer, tags=["credits"])
    def get(self, request: Request) -> Response:
        """Credits: available, in play, and pending withdrawal."""
        return Response(CreditsSerializer(selectors.credits_of(request.user)).data)


class NewestPostings(NewestFirst):
    """By the account's own count of its postings, which its index is ordered by."""

    ordering = "-version"


@extend_schema(tags=["credits"])
class StatementView(ListAPIView):
    """Every change of the available credits, newest first, with the balance it left."""

    serializer_class = PostingSerializer
    pagination_class = NewestPostings
    queryset = Posting.objects.none()

    def get_queryset(self):
        """The postings of the wallet that is logged in."""
        return selectors.statement(self.request.user)


class StatementFileView(APIView):
    """The whole statement as a file."""

    @extend_schema(
        tags=["credits"],
        parameters=[OpenApiParameter("form", str, OpenApiParameter.PATH, enum=list(FORMATS))],
        responses={(200, "text/csv"): str, (200, "application/x-ndjson"): str},
    )
    def get(self, request: Request, form: str) -> HttpResponse:
        """Every change of the available credits, oldest first: CSV, or JSON, an object a line."""
        if form not in FORMATS:
            raise NotFound
        content_type, write = FORMATS[form]
        return HttpResponse(
            "".join(write(lines(request.user))),
            content_type=content_type,
            headers={"Content-Disposition": f'attachment; filename="statement.{form}"'},
        )
