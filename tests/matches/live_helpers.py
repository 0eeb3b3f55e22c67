"""A real web server on the tests' database, and readers of its streams."""

import http.client
import json
import os
import socket
import sys
import threading
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.db import connection

from bas_site.devstack.ports import HOST, free_port
from bas_site.devstack.processes import Process, wait_until
from bas_site.devstack.service import PROJECT
from wallets.login import issue_token

SECONDS = 20


def database_url():
    """The tests' own database, by the address that the settings were read from."""
    name = connection.settings_dict["NAME"]
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()


class Web:
    """A uvicorn process that serves the site."""

    def __init__(self, root, *, valkey_url, **env):
        self.port = free_port()
        self.process = Process("web", root, log=root / f"web-{self.port}.log")
        self.env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "bas_site.settings",
            "DATABASE_URL": database_url(),
            "VALKEY_URL": valkey_url,
            **{name: str(value) for name, value in env.items()},
        }

    def start(self, application="bas_site.asgi:application"):
        command = [sys.executable, "-m", "uvicorn", application]
        command += ["--host", HOST, "--port", str(self.port), "--no-proxy-headers"]
        command += ["--timeout-graceful-shutdown", "30"]
        self.process.start(command, env=self.env, cwd=PROJECT)
        wait_until(self.answers, seconds=60, process=self.process)
        return self

    def answers(self):
        try:
            return self.get("/healthz")[0] == 200
        except OSError:
            return False

    def get(self, path, **headers):
        """Status, headers and text of an answer that has an end."""
        link = http.client.HTTPConnection(HOST, self.port, timeout=SECONDS)
        link.request("GET", path, headers=headers)
        answer = link.getresponse()
        # A stream where none was expected must fail a test, not hold it up.
        endless = answer.headers["Content-Type"] == "text/event-stream"
        found = answer.status, answer.headers, "" if endless else answer.read().decode()
        link.close()
        return found

    def log(self):
        return self.process.log.read_text()


def bearer(wallet):
    return {"Authorization": f"Bearer {issue_token(wallet=wallet, name='test')[0]}"}


def path_of(table, **query):
    return f"/api/v1/matches/{table.id}/events" + "".join(f"?{k}={v}" for k, v in query.items())


@dataclass
class Message:
    kind: str
    id: int | None
    data: dict = field(default_factory=dict)


class Reader(threading.Thread):
    """Reads a stream as a browser does, until it ends or is hung up on."""

    def __init__(self, web, table, headers, *, last=None, after=None):
        super().__init__(daemon=True)
        query = {} if after is None else {"after": after}
        resumed = {} if last is None else {"Last-Event-ID": str(last)}
        self._link = http.client.HTTPConnection(HOST, web.port, timeout=60)
        self._link.request("GET", path_of(table, **query), headers=headers | resumed)
        self.answer = self._link.getresponse()
        self.raw = b""
        self.messages = []
        self.heartbeats = 0
        self.ended = False
        self.start()

    def run(self):
        rest = b""
        try:
            while piece := self.answer.read1():
                self.raw += piece
                *blocks, rest = (rest + piece).split(b"\n\n")
                for block in blocks:
                    self._take(block.decode())
            self.ended = not rest
        except (OSError, http.client.HTTPException, ValueError):
            pass

    def _take(self, block):
        if block.startswith(":"):
            self.heartbeats += 1
            return
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        if "event" in fields:
            number = int(fields["id"]) if "id" in fields else None
            self.messages.append(Message(fields["event"], number, json.loads(fields["data"])))

    @property
    def events(self):
        """The messages that have a number."""
        return [message for message in self.messages if message.id is not None]

    @property
    def ids(self):
        return [message.id for message in self.events]

    @property
    def clocks(self):
        return [message.data for message in self.messages if message.kind == "clock"]

    def hang_up(self):
        try:
            self._link.sock and self._link.sock.shutdown(socket.SHUT_RDWR)
            self.answer.fp and self.answer.fp.raw._sock.shutdown(socket.SHUT_RDWR)
        except (OSError, AttributeError):
            pass
        self.join(SECONDS)

    def until(self, done, what="what was waited for"):
        until(lambda: done(self), what)
        return self


def until(done, what, seconds=SECONDS):
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.01)


def sessions_of_others():
    """How many connections the tests' database has, this one apart."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()",
            [connection.settings_dict["NAME"]],
        )
        return cursor.fetchone()[0]
