"""Errors as RFC 9457 problem details: one shape, the right status, a stable code."""

from collections.abc import Mapping
from typing import Any

import structlog
from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from prometheus_client import Counter
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from wallets.errors import LedgerRefusal, Problem, Unavailable

CONTENT_TYPE = "application/problem+json"
log = structlog.get_logger(__name__)
ANSWERED = Counter("bas_problems", "Errors answered", ["status", "code"], registry=None)

THROTTLED = ("throttled", "Too many requests")
# What DRF and Django raise by themselves: exception class -> (code, title).
FRAMEWORK_CODES: Mapping[type[Exception], tuple[str, str]] = {
    exceptions.ValidationError: ("invalid", "The request has invalid fields"),
    exceptions.ParseError: ("malformed", "The request can't be read"),
    exceptions.UnsupportedMediaType: ("unsupported_media_type", "Send JSON"),
    exceptions.NotAcceptable: ("not_acceptable", "Only JSON can be had"),
    exceptions.MethodNotAllowed: ("method_not_allowed", "Not with this method"),
    exceptions.NotAuthenticated: ("not_authenticated", "Log in first"),
    exceptions.AuthenticationFailed: ("authentication_failed", "These credentials are not valid"),
    exceptions.PermissionDenied: ("forbidden", "That is not allowed"),
    exceptions.NotFound: ("not_found", "There is no such thing"),
    exceptions.Throttled: THROTTLED,
}
# Codes that stand in no class of their own, with their titles.
CSRF_FAILED = ("csrf_failed", "The CSRF token is missing or wrong")
TOO_LARGE = ("too_large", "The request is too large")
TOO_SLOW = ("too_slow", "The request took too long to come")
BUSY = ("busy", "More is asked at once than can be answered")
TRY_AGAIN = ("try_again", "The database did not answer")
SERVER_ERROR = ("server_error", "Something broke on our side; it has been logged")
OTHER_CODES = (CSRF_FAILED, TOO_LARGE, TOO_SLOW, BUSY, TRY_AGAIN, SERVER_ERROR)
# What alerts count. An increase is seen of a series alone that Prometheus knew before: so that the
# first one counts too, they are told from the start.
for _status, _code in (
    (500, SERVER_ERROR[0]),
    (LedgerRefusal.status, LedgerRefusal.code),
    (503, TRY_AGAIN[0]),
):
    ANSWERED.labels(_status, _code)


def problem(status: int, code: str, title: str, detail: str = "", **extra: Any) -> dict[str, Any]:
    """The body of a problem response (RFC 9457, section 3.1), which is counted."""
    ANSWERED.labels(status, code).inc()
    return {
        "type": f"/api/problems#{code}",
        "title": title,
        "status": status,
        "code": code,
        "detail": detail or title,
        **extra,
    }


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Turn an exception of an API view into a problem response; None lets Django answer 500."""
    headers: dict[str, str] = {}
    if isinstance(error, Problem):
        headers, body = _problem_of_ours(error)
    elif isinstance(error, RequestDataTooBig):
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = problem(413, *TOO_LARGE, f"A body has at most {limit} bytes.")
    elif isinstance(error, RecursionError):
        log.warning("nested too deeply", exc_info=error)
        body = problem(400, "malformed", "The request can't be read", "It is nested too deeply.")
    elif isinstance(error, OperationalError | InterfaceError):
        # A time-out, a lost connection, a deadlock that outlived its retries: not the caller's
        # fault, nothing was written, and the same request may be sent again.
        log.error("database unavailable", exc_info=error)
        headers["Retry-After"] = "1"
        body = problem(503, *TRY_AGAIN, "Send the request again.")
    else:
        if isinstance(error, Http404):
            error = exceptions.NotFound()
        elif isinstance(error, PermissionDenied):
            error = exceptions.PermissionDenied()
        if not isinstance(error, exceptions.APIException):
            return None
        body = _framework_problem(error)
        if challenge := getattr(error, "auth_header", None):
            headers["WWW-Authenticate"] = challenge
        if wait := getattr(error, "wait", None):
            headers["Retry-After"] = str(int(wait) + 1)
    if body["status"] == 401:  # RFC 9110 asks for it, also of a login that was refused
        headers.setdefault("WWW-Authenticate", "Bearer")
    set_rollback()
    return Response(body, status=body["status"], headers=headers, content_type=CONTENT_TYPE)


def _problem_of_ours(error: Problem) -> tuple[dict[str, str], dict[str, Any]]:
    if isinstance(error, Unavailable):
        log.warning("unavailable", code=error.code, detail=error.detail, exc_info=error)
        return {"Retry-After": "1"}, problem(error.status, error.code, error.title, error.detail)
    if error.status >= 500:
        # Our mistake: its details are for the log.
        log.error("problem", code=error.code, detail=error.detail, exc_info=error)
        return {}, problem(error.status, error.code, error.title)
    return {}, problem(error.status, error.code, error.title, error.detail, **error.extra)


def _framework_problem(error: exceptions.APIException) -> dict[str, Any]:
    code, title = next(
        (words for kind, words in FRAMEWORK_CODES.items() if isinstance(error, kind)),
        (error.default_code, "The request can't be carried out"),
    )
    if isinstance(error, exceptions.ValidationError):
        return problem(
            error.status_code,
            code,
            title,
            "See `errors` for each field.",
            errors=_field_errors(error.detail),
        )
    # The framework says in words only which kind of refusal this is.
    if str(error.detail).startswith("CSRF Failed"):
        code, title = CSRF_FAILED
    return problem(error.status_code, code, title, str(error.detail))


def _field_errors(detail: Any, pointer: str = "") -> list[dict[str, str]]:
    """Flatten DRF's nested errors into rows with a JSON pointer (RFC 6901) to the field."""
    if isinstance(detail, Mapping):
        return [
            row
            for name, inner in detail.items()
            for row in _field_errors(
                inner, pointer if name == "non_field_errors" else f"{pointer}/{name}"
            )
        ]
    if isinstance(detail, list):
        return [
            row
            for index, inner in enumerate(detail)
            for row in _field_errors(
                inner, f"{pointer}/{index}" if isinstance(inner, Mapping | list) else pointer
            )
        ]
    # It may quote the caller, whose JSON may hold half of a character that UTF-8 can't write.
    text = str(detail).encode(errors="replace").decode()
    return [{"pointer": pointer, "code": getattr(detail, "code", "invalid"), "detail": text}]


def _page(status: int, code: str, title: str) -> Any:
    def view(_request: HttpRequest, *_args: Any, **_kwargs: Any) -> JsonResponse:
        return JsonResponse(problem(status, code, title), status=status, content_type=CONTENT_TYPE)

    return view


# Django's own error pages, for what never reaches an API view.
bad_request = _page(400, "malformed", "The request can't be read")
forbidden = _page(403, "forbidden", "That is not allowed")
not_found = _page(404, "not_found", "There is no such thing")
server_error = _page(500, *SERVER_ERROR)


def csrf_failure(_request: HttpRequest, reason: str = "") -> JsonResponse:
    """Answer a request whose CSRF token is missing or wrong."""
    body = problem(403, *CSRF_FAILED, reason)
    return JsonResponse(body, status=403, content_type=CONTENT_TYPE)
