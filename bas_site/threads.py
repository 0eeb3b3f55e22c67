"""The threads that requests are answered in: as many as there are connections to the database.

Django's own ASGI handler starts a thread for each request and ends it after, goes back and forth
between thread and event loop for each middleware, and keeps thread and connection until the last
byte is sent, to however slow a reader. Here a request has all that blocks done in one go, in one of
a few threads that stay; who finds none free waits in the event loop, first come, first served.
"""

import asyncio
import contextlib
from concurrent.futures import Executor, ThreadPoolExecutor

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.db import connections
from django.http.response import HttpResponseBase

from bas_site import problems
from bas_site.bodies import App, Message, Receive, Send, refuse


class OneGoHandler(ASGIHandler):
    """Django's handler, with all the middleware and the view in one call to a thread."""

    def load_middleware(self, is_async: bool = False) -> None:
        """Join the middleware for synchronous calls, as Django does for WSGI."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: ASGIRequest) -> HttpResponseBase:
        """The answer, whose parts are still to be sent."""
        return await sync_to_async(self._answer)(request)

    def _answer(self, request: ASGIRequest) -> HttpResponseBase:
        try:
            return self.get_response(request)
        finally:
            connections.close_all()


class Threads:
    """An ASGI application before another, which lends each request one of so many threads.

    It is lent until the answer begins to be sent. What a streamed answer still has to read, it
    reads in the same thread, in turn with others. Who waits for one for longer than `seconds` is
    answered 503, `busy`.
    """

    def __init__(self, app: App, *, count: int, seconds: float) -> None:
        self.app, self.seconds = app, seconds
        self._free: asyncio.Queue[Executor] = asyncio.Queue()
        for n in range(count):
            self._free.put_nowait(ThreadPoolExecutor(1, thread_name_prefix=f"request-{n}"))

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Wait for a thread, then let the application answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self.seconds):
                thread = await self._free.get()
        except TimeoutError:
            await refuse(send, 503, *problems.BUSY, more={"retry-after": "1"})
            return
        with contextlib.ExitStack() as lent:
            lent.callback(self._take_back, thread)

            async def sending(message: Message) -> None:
                lent.close()
                await send(message)

            async with ThreadSensitiveContext(executor=thread):
                await self.app(scope, receive, sending)

    def _take_back(self, thread: Executor) -> None:
        """Once it has done what it was given: that may be work for a client that has gone."""
        loop = asyncio.get_running_loop()
        thread.submit(loop.call_soon_threadsafe, self._free.put_nowait, thread)
