"""What can go wrong."""

from collections.abc import Mapping
from typing import Any

import httpx


class ApiProblem(Exception):
    """The server refused a request (RFC 9457). `code` is stable, for programs to act on.

    `extra` holds what else the problem says, such as `movement` with the code `stale_movement`.
    """

    def __init__(
        self, status: int, code: str, detail: str, extra: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.extra = dict(extra or {})

    @classmethod
    def of(cls, response: httpx.Response) -> "ApiProblem":
        """Read the problem of an answer; one that carries none (a proxy's page) is `http_<status>`.

        Nothing of such a page is kept: it may be long, and may be anything.
        """
        try:
            body = response.json()
        except ValueError:
            body = None
        if not isinstance(body, dict) or "code" not in body:
            status = response.status_code
            return cls(status, f"http_{status}", response.reason_phrase)
        known = {"status", "code", "detail", "title", "type"}
        extra = {name: value for name, value in body.items() if name not in known}
        return cls(response.status_code, str(body["code"]), str(body.get("detail", "")), extra)


class ChainError(Exception):
    """The node refused a call, or a transaction failed or was not mined in time."""
