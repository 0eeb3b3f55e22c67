"""What stands before every view: limits by address, and a look at what can't be read.

The ASGI server counts a call before it waits for a thread: who calls too often takes none, and
makes nobody wait. Any other server counts it in the middleware.
"""

import asyncio
import io
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from corsheaders.middleware import CorsMiddleware
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.security import SecurityMiddleware
from django.utils.deprecation import MiddlewareMixin
from rest_framework.exceptions import ParseError

from bas_site import problems
from bas_site.bodies import App, Message, Receive, Send
from bas_site.browser_headers import BrowserHeaders
from wallets.callers import address_of, network_of
from wallets.errors import Unavailable
from wallets.limits import State, call_of, headers_of, take, wait_of


class AddressLimits(MiddlewareMixin):
    """Limits by address, for every path, before anything else is done for a request."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Refuse a request that is over a limit, or closed, unless it was counted before."""
        counted = getattr(request, "scope", {}).get("limits")
        if counted is None:
            return _count(request)
        request.limits = counted  # type: ignore[attr-defined]
        return None

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Tell where the caller stands, after what a view has told already."""
        for name, text in headers_of(getattr(request, "limits", [])).items():
            if told := [part for part in (response.headers.get(name), text) if part]:
                response.headers[name] = ", ".join(told)
        return response


# What PostgreSQL can't store in a text: the character, and how a query and a cookie spell it.
NUL = re.compile(r"\0|%00|\\000")


class Unreadable(MiddlewareMixin):
    """Refuse what would break whoever reads it, in the framework or in the database."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Refuse a NUL in what names things, and read forms in UTF-8, whatever a caller names.

        The framework asks Python for the named codec, and some, such as `zlib`, decode no text.
        """
        request.encoding = "utf-8"
        said = (request.path, request.META["QUERY_STRING"], request.META.get("HTTP_COOKIE", ""))
        if any(map(NUL.search, said)):
            malformed = problems.FRAMEWORK_CODES[ParseError]
            return _refusal(problems.problem(400, *malformed, "A NUL character is in it."))
        return None


class CountedFirst:
    """An ASGI application before another: refuses each request that is over a limit, or closed."""

    def __init__(self, app: App) -> None:
        self.app = app
        # One is enough: each question to Valkey is short, and while it is down few are asked.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="limits")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Count a request, then let the application answer, or refuse it."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request = ASGIRequest(scope, io.BytesIO())
        loop = asyncio.get_running_loop()
        if refusal := await loop.run_in_executor(self._thread, _refuse, request):
            pairs = [(name.encode(), value.encode()) for name, value in refusal.items()]
            start = {"type": "http.response.start", "status": refusal.status_code}
            await send({**start, "headers": pairs})
            return await send({"type": "http.response.body", "body": refusal.content})
        return await self.app({**scope, "limits": request.limits}, receive, send)


def _count(request: HttpRequest) -> HttpResponse | None:
    """Count a request; what it is answered if it is over a limit, or closed."""
    who = network_of(address_of(request), v4_bits=32, v6_bits=64)
    states: list[State] = []
    try:
        states = take("address", who, call_of(request))
    except Unavailable as error:
        return _refusal(problems.problem(503, error.code, error.title, error.detail), 1)
    finally:
        request.limits = states  # type: ignore[attr-defined]
    if wait := wait_of(states):
        return _refusal(problems.problem(429, *problems.THROTTLED), wait)
    return None


def _refuse(request: HttpRequest) -> HttpResponse | None:
    """The same, with the headers of all that would have stood before it."""
    if refusal := _count(request):
        limited = AddressLimits(lambda _: refusal).process_response(request, refusal)
        return SecurityMiddleware(CorsMiddleware(BrowserHeaders(lambda _: limited)))(request)
    return None


def _refusal(body: dict[str, Any], wait: int = 0) -> JsonResponse:
    return JsonResponse(
        body,
        status=body["status"],
        content_type=problems.CONTENT_TYPE,
        headers={"Cache-Control": "no-store"} | ({"Retry-After": str(wait)} if wait else {}),
    )
