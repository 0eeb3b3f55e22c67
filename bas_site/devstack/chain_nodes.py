"""The development chain: Anvil's node, or Hardhat's, out of their npm packages."""

import os
import platform
import shutil
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx

from bas_site.devstack.errors import DevStackError
from bas_site.devstack.ports import HOST
from bas_site.devstack.processes import wait_until
from bas_site.devstack.service import (
    PROBE_SECONDS,
    PROJECT,
    READY_SECONDS,
    Say,
    Service,
    say_on_stderr,
)

CHAIN_ID = 31337
# The mnemonic every Ethereum tool uses for its test accounts: public, so worthless on purpose.
DEV_MNEMONIC = "test test test test test test test test test test test junk"
DEV_ACCOUNTS = 10
# Of a node without history.
STATES_KEPT = 256


class ChainNode(Service):
    """A development chain of our own, which mines a block for each transaction, at once.

    What differs between the programs behind it stays in here. Where one of them has a method that
    the standard hasn't, Hardhat's name is called: Anvil knows its own methods by that, too.
    """

    def __init__(
        self,
        root: Path,
        *,
        port: int | None = None,
        keep: bool = True,
        history: bool = True,
        chain_id: int = CHAIN_ID,
        say: Say = say_on_stderr,
    ) -> None:
        """`keep=False` forgets the chain when it is stopped; `history=False` also the accounts'
        state at all but the newest blocks.
        """
        super().__init__(root, port=port, say=say)
        self.keep = keep
        self.history = history
        self.chain_id = chain_id
        self.home = root / self.name

    @property
    def url(self) -> str:
        """Where its JSON-RPC answers."""
        return f"http://{HOST}:{self.port}"

    @cached_property
    def _client(self) -> httpx.Client:
        # Kept, since a new one takes 25 ms to read the certificates of all authorities. A proxy
        # that is set for the internet doesn't lead to loopback.
        return httpx.Client(trust_env=False)

    def rpc(self, method: str, *params: object, timeout_seconds: float = 30) -> Any:
        """Call a JSON-RPC method and return its result."""
        answer = self._client.post(
            self.url,
            json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
            timeout=timeout_seconds,
        ).json()
        if "error" in answer:
            raise DevStackError(f"{method}: {answer['error']}")
        return answer["result"]

    def ready(self) -> bool:
        """Whether it answers with its chain id."""
        try:
            answer = self.rpc("eth_chainId", timeout_seconds=PROBE_SECONDS)
        except httpx.TransportError:
            return False
        return bool(answer == hex(self.chain_id))

    def mine(self, blocks: int = 1) -> None:
        """Mine so many empty blocks."""
        self.rpc("hardhat_mine", hex(blocks))

    def set_balance(self, address: str, wei: int) -> None:
        """Give an address this much of the chain's coin, whatever it had."""
        self.rpc("hardhat_setBalance", address, hex(wei))

    def set_code(self, address: str, code: str) -> None:
        """Put code at an address, whatever was there."""
        self.rpc("hardhat_setCode", address, code)

    def impersonate(self, address: str) -> None:
        """Sign for an address from now on without having its key."""
        self.rpc("hardhat_impersonateAccount", address)


class Anvil(ChainNode):
    """Anvil, which keeps the chain in a file from one start to the next.

    Blocks, receipts and logs survive a restart; the state of accounts at *earlier* blocks does not,
    so what is read from the chain must be read at its head or from logs.
    """

    name = "anvil"
    stop_seconds = 60.0  # writes its state at the end

    def start(self) -> None:
        """Start it, on the state it left if there is one, and wait until it answers."""
        self.home.mkdir(parents=True, exist_ok=True)
        # Old states that didn't fit into memory: of no use to the next start, and never removed.
        cache = self.home / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        command: list[str | Path] = [
            *(anvil_binary(), "--host", HOST, "--port", str(self.port)),
            *("--chain-id", str(self.chain_id), "--mnemonic", DEV_MNEMONIC, "--quiet"),
            *("--accounts", str(DEV_ACCOUNTS), "--cache-path", cache),
        ]
        if self.keep:
            command += ["--state", self.home / "state.json", "--state-interval", "60"]
        if not self.history:
            command += ["--prune-history", str(STATES_KEPT)]
        self.process.start(command, cwd=self.home)
        wait_until(self.ready, seconds=READY_SECONDS, process=self.process)


class Hardhat(ChainNode):
    """Hardhat's node, which keeps nothing: each start is another chain."""

    name = "hardhat"

    def start(self) -> None:
        """Start it and wait until it answers."""
        node = shutil.which("node")
        program = PROJECT / "node_modules" / "hardhat" / "internal" / "cli" / "bootstrap.js"
        if node is None or not program.exists():
            raise DevStackError(f"Node or {program} is missing; run `npm ci` in {PROJECT}.")
        self.process.start(
            [
                *(node, program, "--config", Path(__file__).with_name("hardhat.config.cjs")),
                *("node", "--hostname", HOST, "--port", str(self.port)),
            ],
            cwd=PROJECT,  # it insists on being installed where it is started
            env={
                **os.environ,
                "HARDHAT_DISABLE_TELEMETRY_PROMPT": "true",
                "DEV_CHAIN_ID": str(self.chain_id),
                "DEV_MNEMONIC": DEV_MNEMONIC,
                "DEV_ACCOUNTS": str(DEV_ACCOUNTS),
            },
        )
        wait_until(self.ready, seconds=READY_SECONDS, process=self.process)

    def mine(self, blocks: int = 1) -> None:
        """Mine so many empty blocks, one by one: of many at once, most would have no parent."""
        for _ in range(blocks):
            self.rpc("evm_mine")


CHAIN_NODES: dict[str, type[ChainNode]] = {"anvil": Anvil, "hardhat": Hardhat}


def chosen_chain_node() -> type[ChainNode]:
    """Return the development chain that the setting BAS_CHAIN_NODE names: Anvil, if none."""
    name = os.environ.get("BAS_CHAIN_NODE", "anvil")
    if name not in CHAIN_NODES:
        raise DevStackError(f"BAS_CHAIN_NODE={name} is none of: {', '.join(CHAIN_NODES)}.")
    return CHAIN_NODES[name]


def anvil_binary() -> Path:
    """Return the platform's own Anvil; the package's launcher leaves its child when killed."""
    machine = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}.get(
        platform.machine().lower(), platform.machine()
    )
    package = f"anvil-{platform.system().lower()}-{machine}"
    binary = PROJECT / "node_modules" / "@foundry-rs" / package / "bin" / "anvil"
    if not binary.exists():
        raise DevStackError(f"{binary} is missing; run `npm ci` in {PROJECT}.")
    return binary
