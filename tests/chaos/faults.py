"""All that a node may do wrong, picked at random."""

import random
from collections import Counter
from collections.abc import Callable

from tests.chaos.worker import TIMEOUT_SECONDS
from tests.contracts.rpc_proxy import (
    Fault,
    Forward,
    Json,
    Raw,
    RpcProxy,
    edited,
    html_page,
    http_status,
    range_limit,
    result,
    rpc_error,
    silence,
    stale_head,
    truncated_json,
)

READS = ("eth_chainId", "eth_getBlockByNumber", "eth_getLogs", "eth_call")
LOGS = ("eth_getLogs",)

ANYWHERE: dict[str, Fault] = {
    "HTTP 500": http_status(500),
    "429 with Retry-After": http_status(429, ("Retry-After", "1")),
    "429": http_status(429),
    "truncated JSON": truncated_json,
    "HTML page": html_page,
    "time-out": silence(TIMEOUT_SECONDS * 1.5),
    "slow": silence(TIMEOUT_SECONDS / 3),
    "error": rpc_error(-32000, "internal error"),
    "busy": rpc_error(-32005, "rate limit exceeded"),
    "null": result(None),
}
ON_LOGS: dict[str, Fault] = {
    "range limit": range_limit(4),
    "removed log": edited(lambda logs: [log | {"removed": True} for log in logs]),
    "duplicated logs": edited(lambda logs: logs + logs),
    "logs out of order": edited(lambda logs: logs[::-1]),
    "no logs": result([]),
    "first log missing": edited(lambda logs: logs[1:]),
    "last log missing": edited(lambda logs: logs[:-1]),
    "logs of another fork": edited(
        lambda logs: [log | {"blockHash": "0x" + "77" * 32} for log in logs]
    ),
}


class Faults:
    """Lets proxies fail, and counts how often they did."""

    def __init__(self, proxies: list[RpcProxy], dice: random.Random, head: Callable[[], int]):
        self.proxies = proxies
        self.dice = dice
        self.head = head
        self.counts: Counter[str] = Counter()

    def step(self) -> None:
        """Let one of the proxies fail at one of its next calls, or for a while, or heal."""
        proxy = self.dice.choice(self.proxies)
        match self.dice.randrange(10):
            case 0:
                proxy.heal()
            case 1:
                proxy.heal()
                self.counts["lagging"] += 1
                stale_head(proxy, max(1, self.head() - self.dice.randint(1, 8)))
            case 2:
                self.counts["another chain"] += 1
                proxy.once("eth_chainId", result("0x1"))
            case 3 | 4 | 5:
                name = self.dice.choice(sorted(ON_LOGS))
                proxy.once("eth_getLogs", self._counted(name, ON_LOGS[name]))
            case _:
                name = self.dice.choice(sorted(ANYWHERE))
                proxy.once(self.dice.choice(READS), self._counted(name, ANYWHERE[name]))

    def heal(self) -> None:
        """Let all of them be well."""
        for proxy in self.proxies:
            proxy.heal()

    def _counted(self, name: str, fault: Fault) -> Fault:
        def counted(request: Json, forward: Forward) -> Json | Raw:
            self.counts[name] += 1
            return fault(request, forward)

        return counted
