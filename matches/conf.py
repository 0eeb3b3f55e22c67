"""What an operator can set about matches (docs/operations.md), and what is usual."""

from datetime import timedelta
from typing import Any

from django.conf import settings

USUAL: dict[str, Any] = {
    "MATCH_GRACE_SECONDS": 1.0,
    "MATCH_OUTAGE_SECONDS": 15.0,
    "MATCH_MAX_REPLACEMENTS": 10,
    "MATCH_OPEN_SECONDS": 24 * 3600,
    "MATCH_MAX_LIVE": 20,
}


def setting(name: str) -> Any:
    """The value of a setting."""
    return getattr(settings, name, USUAL[name])


def seconds(name: str) -> timedelta:
    """A setting that is a span of time."""
    return timedelta(seconds=setting(name))
