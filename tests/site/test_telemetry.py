"""Sentry and OpenTelemetry are told what happens, by setting, and never a secret."""

import gzip
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bas_site.devstack.service import PROJECT

# A request that fails, for want of a database and a broker, by somebody with something to hide,
# after a node was asked whose URL holds a key.
REQUEST = """
import os
import django
django.setup()
from contracts.node import connect
from django.test import Client
if url := os.environ.get("NODE_URL"):
    connect(url=url)
headers = {
    "Host": "localhost",
    "Authorization": "Bearer hidden-token",
    "Cookie": "sessionid=hidden-session",
}
answer = Client(raise_request_exception=False).get("/readyz", headers=headers)
assert answer.status_code >= 500, answer.status_code
"""
SECRETS = ("hidden-token", "hidden-session", "hidden-password", "hidden-key")


class Collector:
    """Somebody who is told, on loopback; a node of the chain 31337 too."""

    def __init__(self) -> None:
        told: list[tuple[str, bytes]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                told.append((self.path, body))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b'{"jsonrpc": "2.0", "id": 0, "result": "0x7a69"}')

            def log_message(self, *_args: object) -> None:
                pass

        self.told = told
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port

    def text(self, path: str) -> str:
        return "".join(body.decode(errors="replace") for at, body in self.told if at == path)


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    thread = threading.Thread(target=collector.server.serve_forever)
    thread.start()
    yield collector
    collector.server.shutdown()
    collector.server.server_close()
    thread.join()


def request_with(**settings: str) -> None:
    """Make the request in a process that has these settings."""
    done = subprocess.run(
        [sys.executable, "-c", REQUEST],
        cwd=PROJECT,
        env=os.environ
        | {
            "DJANGO_SETTINGS_MODULE": "bas_site.settings",
            "DATABASE_URL": "postgres://nobody:hidden-password@127.0.0.1:1/nothing",
            "VALKEY_URL": "redis://127.0.0.1:1/0",
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
        }
        | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_sentry_and_a_collector_of_traces_are_told_what_failed_and_no_secret(collector: Collector):
    here = f"127.0.0.1:{collector.port}"
    request_with(
        SENTRY_DSN=f"http://key@{here}/7",
        OTEL_EXPORTER_OTLP_ENDPOINT=f"http://{here}",
        # Sentry records no request to its own host.
        NODE_URL=f"http://localhost:{collector.port}/v3/hidden-key",
    )
    assert collector.text("/v3/hidden-key")
    errors, traces = collector.text("/api/7/envelope/"), collector.text("/v1/traces")
    assert "OperationalError" in errors
    assert "/readyz" in errors
    assert "block-ape-scissors" in traces
    assert "GET readyz" in traces
    assert not [secret for secret in SECRETS if secret in errors + traces]


def test_nobody_is_told_anything_without_a_setting(collector: Collector):
    request_with()
    assert collector.told == []
