"""An HTTP proxy in front of a node that misbehaves as a test tells it to."""

import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

# The key that every provider puts into its URLs, and that must never be seen anywhere.
KEY = "key-that-nobody-may-see"

Json = dict[str, Any]
Forward = Callable[[], Json]


@dataclass(frozen=True)
class Raw:
    """An answer that is not JSON-RPC."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


# Gets the request, and what asks the real node; gives the answer.
Fault = Callable[[Json, Forward], Json | Raw]


@dataclass
class RpcProxy:
    """What a test says to the proxy, and what it saw."""

    target: str
    client: httpx.Client
    port: int = 0
    calls: list[str] = field(default_factory=list)
    on_request: Callable[[str], None] = lambda _method: None
    _faults: dict[str, list[Fault]] = field(default_factory=lambda: defaultdict(list))
    _always: dict[str, Fault] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v2/{KEY}"

    def once(self, method: str, *faults: Fault) -> None:
        """Answer the next calls of a method with these faults, one each; `*` is any method."""
        self._faults[method] += faults

    def always(self, method: str, fault: Fault) -> None:
        """Answer every call of a method with a fault, until `heal`."""
        self._always[method] = fault

    def heal(self) -> None:
        self._faults.clear()
        self._always.clear()

    def count(self, method: str) -> int:
        return self.calls.count(method)

    def answer(self, request: Json) -> Json | Raw:
        method = request["method"]
        self.calls.append(method)
        self.on_request(method)

        def forward() -> Json:
            return self.client.post(self.target, json=request).json()

        for name in (method, "*"):
            if self._faults[name]:
                return self._faults[name].pop(0)(request, forward)
            if name in self._always:
                return self._always[name](request, forward)
        return forward()


@contextmanager
def running_proxy(target: str) -> Iterator[RpcProxy]:
    """A proxy on a free port of the loopback interface."""
    client = httpx.Client(timeout=30, trust_env=False)
    proxy = RpcProxy(target, client)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = self.rfile.read(length)
            if len(body) < length:
                return  # the client was killed as it asked
            answer = proxy.answer(json.loads(body))
            if not isinstance(answer, Raw):
                answer = Raw(200, json.dumps(answer).encode())
            try:
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.content_type)
                self.send_header("Content-Length", str(len(answer.body)))
                for name, value in answer.headers:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body)
            except OSError:
                pass  # the client gave up waiting

        def log_message(self, *_args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    proxy.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        client.close()


def http_status(status: int, *headers: tuple[str, str]) -> Fault:
    return lambda _request, _forward: Raw(status, b'{"message": "no"}', headers=headers)


def html_page(_request: Json, _forward: Forward) -> Raw:
    return Raw(200, b"<html><h1>Bad gateway</h1></html>", content_type="text/html")


def truncated_json(_request: Json, forward: Forward) -> Raw:
    body = json.dumps(forward()).encode()
    return Raw(200, body[: len(body) // 2])


def silence(seconds: float) -> Fault:
    def fault(_request: Json, forward: Forward) -> Json:
        time.sleep(seconds)
        return forward()

    return fault


def result(value: Any) -> Fault:
    """Answer with this result, whatever was asked."""
    return lambda request, _forward: {"jsonrpc": "2.0", "id": request["id"], "result": value}


def rpc_error(code: int, message: str) -> Fault:
    return lambda request, _forward: {
        "jsonrpc": "2.0",
        "id": request["id"],
        "error": {"code": code, "message": message},
    }


def whole(answer: Any) -> Fault:
    """Answer with this JSON, which need not be JSON-RPC at all."""
    return lambda _request, _forward: answer


def range_limit(blocks: int) -> Fault:
    """Refuse eth_getLogs over more than so many blocks, as providers do."""

    def fault(request: Json, forward: Forward) -> Json:
        asked = request["params"][0]
        if int(asked["toBlock"], 16) - int(asked["fromBlock"], 16) + 1 > blocks:
            return rpc_error(-32005, "query returned more than 10000 results")(request, forward)
        return forward()

    return fault


def edited(edit: Callable[[Any], Any]) -> Fault:
    """Change the result on its way."""

    def fault(_request: Json, forward: Forward) -> Json:
        answer = forward()
        # An error is passed on as it is.
        return answer | {"result": edit(answer["result"])} if "result" in answer else answer

    return fault


def then(action: Callable[[], object]) -> Fault:
    """Answer truly, and let something happen before the client knows."""

    def fault(_request: Json, forward: Forward) -> Json:
        answer = forward()
        action()
        return answer

    return fault


def stale_head(proxy: RpcProxy, head: int) -> None:
    """Let the node know no block above this one, and say "no logs" of those, as some do."""

    def block(request: Json, forward: Forward) -> Json:
        asked = request["params"][0]
        if asked == "latest":
            request["params"][0] = hex(head)
        elif int(asked, 16) > head:
            return result(None)(request, forward)
        return forward()

    proxy.always("eth_getBlockByNumber", block)
    proxy.always(
        "eth_getLogs",
        edited(lambda logs: [log for log in logs if int(log["blockNumber"], 16) <= head]),
    )
