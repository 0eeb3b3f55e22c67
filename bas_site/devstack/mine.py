"""Mine the blocks that confirm what just happened on the development chain, and no others.

Anvil mines a block for each transaction; a deposit also waits for blocks after its own. Mining one
every second around the clock would do, but Anvil keeps about 15 kB in memory for each block,
however empty: over a gigabyte a day. So an idle chain stands still. Run by its path, as a script.
"""

import os
import sys
import time

import httpx

POLL_SECONDS = 1
# More than the confirmations a development set-up asks for by default.
BLOCKS_AFTER_A_TRANSACTION = max(12, int(os.environ.get("CHAIN_CONFIRMATIONS", "0")) + 2)


class Chain:
    """The few calls that are needed of the chain."""

    def __init__(self, url: str) -> None:
        # A proxy set for the internet doesn't lead to loopback.
        self._http = httpx.Client(base_url=url, trust_env=False, timeout=30)

    def call(self, method: str, *params: object) -> object:
        """Call a JSON-RPC method and return its result."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self._http.post("", json=request).raise_for_status().json()
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def head(self) -> int:
        """Return the number of the newest block."""
        return int(str(self.call("eth_blockNumber")), 16)

    def has_transactions(self, number: int) -> bool:
        """Say whether the block has any."""
        return self.call("eth_getBlockTransactionCountByNumber", hex(number)) != "0x0"


def mine(chain: Chain) -> None:
    """Poll for ever; each time, mine a block if one of the newest ones has transactions."""
    seen = busy = -1
    while True:
        head = chain.head()
        # After a reorganisation to a shorter chain, everything is looked at again.
        first = max(seen + 1 if head >= seen else 0, head - BLOCKS_AFTER_A_TRANSACTION, 0)
        busy = max(
            [busy, *(number for number in range(first, head + 1) if chain.has_transactions(number))]
        )
        seen = head
        if 0 <= head - busy < BLOCKS_AFTER_A_TRANSACTION and busy >= 0:
            chain.call("evm_mine")
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    try:
        mine(Chain(os.environ["CHAIN_RPC_URLS"]))
    except (httpx.TransportError, RuntimeError) as error:
        sys.exit(f"The chain doesn't answer: {error}")
