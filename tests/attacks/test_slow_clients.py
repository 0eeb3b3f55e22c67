"""Clients that take for ever, against a real server of one process."""

import contextlib
import socket
import time

import pytest

from bas_site.devstack.ports import HOST
from bas_site.devstack.services import Valkey
from tests.matches.live_helpers import Web

pytestmark = pytest.mark.django_db(transaction=True)
BODY_SECONDS = 2
SLOW = 60
LIMIT = 64 * 1024


@pytest.fixture(scope="module")
def web(tmp_path_factory, django_db_setup, django_db_blocker):
    root = tmp_path_factory.mktemp("slow")
    with Valkey(root) as valkey, django_db_blocker.unblock():
        web = Web(root, valkey_url=valkey.url, REQUEST_BODY_SECONDS=BODY_SECONDS)
        web.start()
        yield web
        web.process.stop()


@contextlib.contextmanager
def connections(web, count, begin):
    """So many clients, each of which has said so much and now takes its time."""
    opened = [socket.create_connection((HOST, web.port), timeout=30) for _ in range(count)]
    try:
        for link in opened:
            link.sendall(begin)
        yield opened
    finally:
        for link in opened:
            link.close()


def request(path, *headers, body=b""):
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def answer(link):
    """All that comes until the server hangs up."""
    told = b""
    with contextlib.suppress(ConnectionError):
        while part := link.recv(65536):
            told += part
    return told.decode()


HALF = {
    "a first line": b"POST /api/v1/auth/lo",
    "headers": b"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nX-A: ",
    "a body": request("/api/v1/auth/login", "Content-Length: 100", body=b'{"message":'),
    "a chunk": request("/api/v1/auth/login", "Transfer-Encoding: chunked", body=b"5\r\n{"),
}


@pytest.mark.parametrize("begin", HALF.values(), ids=HALF.keys())
def test_many_that_stop_in_the_middle_keep_nobody_else_waiting(web, begin):
    with connections(web, SLOW, begin):
        for _ in range(3):
            assert web.get("/api/v1/leaderboard")[0] == 200
            assert web.get("/api/v1/auth/me")[0] == 401


def test_a_body_that_does_not_come_in_time_is_refused_and_hung_up_on(web):
    with connections(web, 1, HALF["a body"]) as (link,):
        told = answer(link)
    assert told.startswith("HTTP/1.1 408")
    assert '"code": "too_slow"' in told


def test_a_body_that_drips_is_refused_all_the_same(web):
    """Each byte comes in time; the whole doesn't."""
    with connections(web, 1, HALF["a body"]) as (link,):
        with contextlib.suppress(ConnectionError):
            for _ in range(BODY_SECONDS * 8):
                link.sendall(b" ")
                time.sleep(0.25)
        assert answer(link).startswith("HTTP/1.1 408")


@pytest.mark.parametrize("path", ["/api/v1/auth/login", "/", "/admin/login/", "/nothing"])
def test_a_body_without_an_end_is_cut_off_at_the_limit_on_every_path(web, path):
    begin = request(path, "Transfer-Encoding: chunked")
    with connections(web, 1, begin) as (link,):
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                link.sendall(b"1000\r\n" + b" " * 4096 + b"\r\n")
        told = answer(link)
    # The server may have hung up before all was sent, which loses its answer on the way.
    assert told == "" or told.startswith("HTTP/1.1 413")


def test_a_body_of_the_very_limit_is_read(web):
    body = b" " * (LIMIT - 2) + b"{}"
    begin = request(
        "/api/v1/auth/login", f"Content-Length: {LIMIT}", "Connection: close", body=body
    )
    with connections(web, 1, begin) as (link,):
        assert answer(link).startswith("HTTP/1.1 400")
