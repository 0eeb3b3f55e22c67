"""The threads that requests are answered in, and who waits for them."""

import asyncio
import contextlib
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

import psutil
import pytest
from asgiref.sync import sync_to_async
from django.db import connection, transaction

from bas_site.devstack.ports import HOST
from bas_site.devstack.services import Valkey
from bas_site.threads import Threads
from tests.matches.live_helpers import Web, bearer
from tests.wallets.ledger_helpers import new_wallet

SECONDS = 10
SLOW_READERS, THREADS = 30, 8
# Larger than what the sockets between a server and a reader who reads nothing hold.
LARGE = "/static/drf_spectacular_sidecar/redoc/bundles/redoc.standalone.js.map"


class Application:
    """Blocks in a thread until it is let go, or only at its first calls, then sends an answer."""

    def __init__(self, *, blocks=100):
        self.blocks = blocks
        self.go_on = threading.Event()
        self.begun = threading.Semaphore(0)
        self.names = []

    async def __call__(self, scope, receive, send):
        await sync_to_async(self.block)()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def block(self):
        self.names.append(threading.current_thread().name)
        self.begun.release()
        if len(self.names) <= self.blocks:
            assert self.go_on.wait(SECONDS)


class Caller:
    """Calls an application, and may be slow to take its answer."""

    def __init__(self, application, *, takes=None):
        self.status = None
        self.takes = takes
        self.task = asyncio.create_task(application({"type": "http"}, self.receive, self.send))

    async def receive(self):
        await asyncio.Event().wait()

    async def send(self, message):
        self.status = message.get("status", self.status)
        if self.takes:
            await self.takes.wait()


async def begun(application, times=1):
    for _ in range(times):
        assert await asyncio.to_thread(application.begun.acquire, timeout=SECONDS)


def test_who_finds_no_thread_free_waits_and_gets_the_next_in_the_order_of_coming():
    async def run():
        blocking = Application()
        threads = Threads(blocking, count=2, seconds=SECONDS)
        callers = [Caller(threads) for _ in range(6)]
        await begun(blocking, 2)
        await asyncio.sleep(0.05)
        assert len(blocking.names) == 2
        blocking.go_on.set()
        await asyncio.gather(*(caller.task for caller in callers))
        assert [caller.status for caller in callers] == [200] * 6
        assert len(set(blocking.names)) == 2

    asyncio.run(run())


def test_who_has_waited_too_long_is_told_to_come_again():
    async def run():
        blocking = Application()
        threads = Threads(blocking, count=1, seconds=0.05)
        first, second = Caller(threads), Caller(threads)
        await second.task
        assert second.status == 503
        blocking.go_on.set()
        await first.task
        third = Caller(threads)
        await third.task
        assert (first.status, third.status) == (200, 200)

    asyncio.run(run())


def test_a_thread_is_free_again_when_an_answer_begins_to_be_sent():
    async def run():
        blocking, taken = Application(), asyncio.Event()
        blocking.go_on.set()
        threads = Threads(blocking, count=1, seconds=SECONDS)
        slow, quick = Caller(threads, takes=taken), Caller(threads)
        await quick.task
        assert quick.status == 200
        assert not slow.task.done()
        taken.set()
        await slow.task

    asyncio.run(run())


def test_a_thread_that_works_for_somebody_who_has_gone_is_lent_to_nobody():
    async def run():
        blocking = Application(blocks=1)
        threads = Threads(blocking, count=2, seconds=SECONDS)
        gone = Caller(threads)
        await begun(blocking)
        gone.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await gone.task
        callers = [Caller(threads) for _ in range(3)]
        answered = asyncio.gather(*(caller.task for caller in callers))
        await asyncio.wait_for(answered, SECONDS / 2)
        assert [caller.status for caller in callers] == [200] * 3
        blocking.go_on.set()

    asyncio.run(run())


@pytest.fixture
def web(tmp_path, transactional_db):
    with Valkey(tmp_path) as valkey:
        web = Web(tmp_path, valkey_url=valkey.url, DATABASE_POOL_SIZE=THREADS)
        web.start()
        yield web
        web.process.stop()


def test_hundreds_at_once_are_all_answered_and_counted(web):
    headers = bearer(new_wallet())
    server = psutil.Process(web.process.pid)
    web.get("/api/v1/auth/me", **headers)
    quiet = server.num_threads()
    with ThreadPoolExecutor(300) as callers:
        calls = [callers.submit(web.get, "/api/v1/auth/me", **headers) for _ in range(300)]
        most = 0
        while not all(call.done() for call in calls):
            most = max(most, server.num_threads())
        assert [call.result()[0] for call in calls] == [200] * 300
    assert most <= quiet + THREADS
    assert "not counted" not in web.log()


def test_those_who_do_not_read_their_answers_hold_nobody_up(web):
    headers = bearer(new_wallet())
    with contextlib.ExitStack() as stack:
        for _ in range(SLOW_READERS):
            link = stack.enter_context(socket.socket())
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            link.connect((HOST, web.port))
            link.sendall(f"GET {LARGE} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert link.recv(12) == b"HTTP/1.1 200"
        assert web.get("/api/v1/auth/me", **headers)[0] == 200


OTHER_SITE = "https://other.example"


@pytest.fixture
def narrow_web(tmp_path, transactional_db):
    """A server of one thread, where an address has three calls a minute."""
    settings = {"RATE_LIMIT_SCALE": 0.001, "CORS_ALLOWED_ORIGINS": OTHER_SITE}
    with Valkey(tmp_path) as valkey:
        web = Web(tmp_path, valkey_url=valkey.url, DATABASE_POOL_SIZE=1, **settings)
        web.start()
        yield web
        web.process.stop()


def test_who_calls_too_often_is_refused_before_waiting_for_a_thread(narrow_web):
    def call(_):
        return narrow_web.get("/api/v1/leaderboard", Origin=OTHER_SITE)

    with ThreadPoolExecutor(4) as callers:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE matches_rating IN ACCESS EXCLUSIVE MODE")
            calls = [callers.submit(call, n) for n in range(4)]
            refused = next(as_completed(calls, timeout=SECONDS / 2))
        answers = [call.result() for call in calls if call is not refused]
    status, headers, text = refused.result()
    assert (status, json.loads(text)["code"]) == (429, "throttled")
    assert 0 < int(headers["Retry-After"]) <= 20
    assert headers["RateLimit"].startswith('"address";r=0;')
    # A page of another origin can read why, and the usual headers are there.
    assert headers["Access-Control-Allow-Origin"] == OTHER_SITE
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Content-Security-Policy" in headers
    # Each was counted once.
    left = [int(answer[1]["RateLimit"].split(";")[1].removeprefix("r=")) for answer in answers]
    assert ([answer[0] for answer in answers], sorted(left)) == ([200] * 3, [0, 1, 2])


def test_what_needs_no_counting_is_not_counted(narrow_web):
    for path in ("/healthz", "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui.css"):
        for _ in range(5):
            assert narrow_web.get(path)[0] == 200
