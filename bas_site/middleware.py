"""What stands before every view: limits by address."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.deprecation import MiddlewareMixin

from bas_site import problems
from wallets.callers import address_of, network_of
from wallets.errors import Unavailable
from wallets.limits import State, call_of, headers_of, take, wait_of


class AddressLimits(MiddlewareMixin):
    """Limits by address, for every path, before anything else is done for a request."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Refuse a request that is over a limit, or closed."""
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

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Tell where the caller stands, after what a view has told already."""
        for name, text in headers_of(getattr(request, "limits", [])).items():
            if told := [part for part in (response.headers.get(name), text) if part]:
                response.headers[name] = ", ".join(told)
        return response


def _refusal(body: dict[str, Any], wait: int) -> JsonResponse:
    return JsonResponse(
        body,
        status=body["status"],
        content_type=problems.CONTENT_TYPE,
        headers={"Retry-After": str(wait), "Cache-Control": "no-store"},
    )
