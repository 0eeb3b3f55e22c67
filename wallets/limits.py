"""How often a caller may call, counted in Valkey: by address at first, by wallet once it is known.

Each limit is a bucket that holds `count` calls and is refilled evenly over `seconds` (GCRA). One
script looks at all the limits of a call and counts it in all of them, or in none if one is over.

While Valkey is down nothing is counted. Then the calls of limits that are `closed` are refused, and
all others let through.
"""

import functools
import re
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

import redis
import structlog
from django.conf import settings
from django.http import HttpRequest
from redis.backoff import NoBackoff
from redis.commands.core import Script
from redis.retry import Retry
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from wallets.errors import Unavailable

if TYPE_CHECKING:  # the framework's views import this module
    from rest_framework.views import APIView

log = structlog.get_logger(__name__)
# Every request waits for it.
TIMEOUT_SECONDS = 0.5
# Not every request has to wait for a Valkey that does not answer.
REST_SECONDS = 1
MICROSECONDS = 1_000_000

TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full, waits, over = {}, {}, false
for i, key in ipairs(KEYS) do
  local interval, window = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  full[i] = math.max(now, tonumber(redis.call('GET', key) or now))
  waits[i] = math.max(0, full[i] + interval - window - now)
  over = over or waits[i] > 0
end
local answers = {}
for i, key in ipairs(KEYS) do
  local interval, window = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  if not over then
    full[i] = full[i] + interval
    redis.call('SET', key, string.format('%.0f', full[i]), 'PX', math.ceil((full[i] - now) / 1000))
  end
  local left = math.max(0, math.floor((now + window - full[i]) / interval))
  answers[i] = {left, math.ceil((full[i] - now) / 1000000), math.ceil(waits[i] / 1000000)}
end
return answers
"""


class Limit(NamedTuple):
    """At most `count` calls in a row, and as many in each `seconds`, by one wallet or address.

    `calls` is a regular expression over the start of `METHOD /path`. `closed` calls are refused
    while Valkey is down.
    """

    name: str
    by: Literal["address", "wallet"]
    calls: str
    count: int
    seconds: int
    closed: bool


class State(NamedTuple):
    """Where a caller stands with a limit: calls left, seconds until all are, seconds to wait."""

    limit: Limit
    left: int
    reset: int
    wait: int


def take(by: str, who: str, call: str) -> list[State]:
    """Count a call in each of its limits, unless it is over one of them; where it stands with each.

    Raises Unavailable for a call that is closed while Valkey is down.
    """
    rows = (Limit(*row) for row in settings.RATE_LIMITS)
    limits = [limit for limit in rows if limit.by == by and re.match(limit.calls, call)]
    if not limits:
        return []
    keys = [f"limit:{limit.name}:{who}" for limit in limits]
    spans = [span for limit in limits for span in _spans(limit)]
    answers = _ask(keys, spans)
    if answers is None:
        if any(limit.closed for limit in limits):
            raise Unavailable("This is closed until calls can be counted again.")
        return []
    return [State(limit, *answer) for limit, answer in zip(limits, answers, strict=True)]


def _spans(limit: Limit) -> tuple[int, int]:
    interval = max(1, limit.seconds * MICROSECONDS // limit.count)
    return interval, interval * limit.count


_silent_until = 0.0


def _ask(keys: list[str], spans: list[int]) -> list[list[int]] | None:
    """The script's answers; None if Valkey is down."""
    global _silent_until
    if time.monotonic() < _silent_until:
        return None
    try:
        return _script(settings.VALKEY_URL)(keys=keys, args=spans)
    except (redis.RedisError, OSError) as error:
        _silent_until = time.monotonic() + REST_SECONDS
        log.warning("calls are not counted: no Valkey", reason=str(error))
        return None


@functools.cache
def _script(url: str) -> Script:
    client = redis.Redis.from_url(
        url,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        # One that was closed while idle is opened again; nothing is waited for.
        retry=Retry(NoBackoff(), 1),
    )
    return client.register_script(TAKE)


def wait_of(states: Iterable[State]) -> int:
    """Seconds until the call may be made; 0 if it may be made now."""
    return max((state.wait for state in states), default=0)


def headers_of(states: Iterable[State]) -> dict[str, str]:
    """The headers of draft-ietf-httpapi-ratelimit-headers."""
    return {
        "RateLimit-Policy": ", ".join(
            f'"{s.limit.name}";q={s.limit.count};w={s.limit.seconds}' for s in states
        ),
        "RateLimit": ", ".join(f'"{s.limit.name}";r={s.left};t={s.reset}' for s in states),
    }


def call_of(request: HttpRequest) -> str:
    """A call, as limits name it."""
    return f"{request.method} {request.path_info}"


class WalletLimits(BaseThrottle):
    """Limits by wallet, for the API."""

    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Whether the call is over none. Raises Unavailable."""
        self._states: list[State] = []
        if getattr(request.user, "address", None):
            self._states = take("wallet", str(request.user.pk), call_of(request._request))
        if self._states:
            view.headers.update(headers_of(self._states))
        return not wait_of(self._states)

    def wait(self) -> float:
        """Seconds until it may be made."""
        return wait_of(self._states)
