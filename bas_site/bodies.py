"""How large a request's body may be, and how long it may take to come.

Django writes a body to disk as it comes, whatever its size, and looks at the size when somebody
reads it; a client that never ends its request keeps it for ever. So both are bounded before.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from bas_site import problems

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


class _TooLarge(Exception):
    pass


class BoundedBodies:
    """An ASGI application before another, which gets each body whole and in time, or not at all."""

    def __init__(self, app: App, *, bytes_: int, seconds: float) -> None:
        self.app, self.bytes, self.seconds = app, bytes_, seconds

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Read the body, then let the application answer, or answer that it is too much."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        try:
            async with asyncio.timeout(self.seconds):
                first = await self._read(receive)
        except _TooLarge:
            return await refuse(send, 413, *problems.TOO_LARGE)
        except TimeoutError:
            return await refuse(send, 408, *problems.TOO_SLOW)

        waiting = [first]

        async def replay() -> Message:
            return waiting.pop() if waiting else await receive()

        return await self.app(scope, replay, send)

    async def _read(self, receive: Receive) -> Message:
        """The whole body as one message, or the word that the client has gone."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return message
            body += message.get("body", b"")
            if len(body) > self.bytes:
                raise _TooLarge
            if not message.get("more_body"):
                return {"type": "http.request", "body": bytes(body), "more_body": False}


async def refuse(
    send: Send, status: int, code: str, title: str, *, more: Mapping[str, str] | None = None
) -> None:
    """Answer before the application does, and close the connection: the body is not waited for.

    `more` are headers.
    """
    body = json.dumps(problems.problem(status, code, title)).encode()
    headers = {
        "content-type": problems.CONTENT_TYPE,
        "content-length": str(len(body)),
        "connection": "close",
        "cache-control": "no-store",
        **(more or {}),
    }
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
