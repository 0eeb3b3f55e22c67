"""The whole project as processes: the services, and web, worker, beat and miner on them."""

import contextlib
import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from bas_site.devstack.errors import DevStackError
from bas_site.devstack.passwords import password
from bas_site.devstack.ports import HOST, choose_port, free_port
from bas_site.devstack.processes import Process, wait_until
from bas_site.devstack.service import PROJECT, Say, say_on_stderr
from bas_site.devstack.services import Services

OPERATOR = "operator"
# How much may leave the development vault in a day.
DAILY_CREDITS = 100_000
WEB_READY_SECONDS = 60


class Stack:
    """Services with a migrated database and a deployed vault, and the programs on top of them.

    As a context manager it starts everything, output in files under `root/logs`. `up` and
    `commands` are its two halves for whoever runs the programs by other means.
    """

    PROGRAMS = ("web", "worker", "signer", "beat", "miner")

    def __init__(
        self,
        root: Path,
        *,
        fixed_ports: bool = False,
        env: dict[str, str] | None = None,
        say: Say = say_on_stderr,
    ) -> None:
        """`env` adds settings of its own, such as shorter timers."""
        self.root = root.resolve()
        self.say = say
        self.services = Services(self.root, fixed_ports=fixed_ports, say=say)
        self._fixed_ports = fixed_ports
        self._extra_env = env or {}
        self._processes: dict[str, Process] = {}
        self.port = 0

    @property
    def url(self) -> str:
        """The one origin of the site; a wallet's login is bound to it."""
        return f"http://localhost:{self.port}"

    @property
    def operator_password(self) -> str:
        """What the operator logs in to the admin with."""
        return password(self.root, OPERATOR)

    @property
    def env(self) -> dict[str, str]:
        """The environment of every program of the stack."""
        return {
            **os.environ,
            **self.services.env,
            "SITE_URL": self.url,
            "SECRET_KEY": password(self.root, "secret key"),
            "FIELD_KEY": password(self.root, "field key"),
            "PYTHONUNBUFFERED": "1",
            **self._extra_env,
        }

    @property
    def signer_env(self) -> dict[str, str]:
        """The settings that the signer has besides; no other program is given its key."""
        return {
            "WITHDRAWAL_KEYSTORE": str(self.root / "signer.json"),
            "WITHDRAWAL_KEYSTORE_PASSWORD": password(self.root, "signer keystore"),
        }

    def program_env(self, name: str) -> dict[str, str]:
        """The environment of one program."""
        return self.env | (self.signer_env if name == "signer" else {})

    def up(self) -> None:
        """Start the services and bring the database and the chain to the code's state."""
        self.services.start()
        try:
            self.port = (
                choose_port("BAS_WEB_PORT", 8000, self.say) if self._fixed_ports else free_port()
            )
            self.say("Migrating the database and deploying the contracts.")
            self.manage("migrate", "--no-input", DATABASE_URL=self.env["DATABASE_OWNER_URL"])
            signer = self.manage("make_keystore", "--keep", **self.signer_env).split()[-1]
            self.manage("deploy_vault", "--dev", "--signer", signer)
            self.manage(
                *("open_withdrawals", "--dev", "--signer", signer),
                *("--daily-credits", str(DAILY_CREDITS)),
            )
            self.manage("ensure_operator", OPERATOR_PASSWORD=self.operator_password)
            self._write_env_file()
        except BaseException:
            self.services.stop()
            raise

    def _write_env_file(self) -> None:
        """Leave the settings where a shell can read them, for `manage.py` by hand."""
        settings = {key: value for key, value in self.env.items() if os.environ.get(key) != value}
        path = self.root / "env"
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        path.write_text(
            "".join(f"export {key}={shlex.quote(value)}\n" for key, value in settings.items())
        )

    def manage(self, *arguments: str, **env: str) -> str:
        """Run a management command to its end and return what it printed."""
        done = subprocess.run(  # noqa: S603 - the commands are ours
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise DevStackError(f"manage.py {' '.join(arguments)} failed:\n{done.stdout}")
        return done.stdout

    def commands(self) -> dict[str, list[str]]:
        """Return the command line of each program."""
        python = [sys.executable, "-m"]
        celery = [*python, "celery", "-A", "bas_site"]
        # What workers tell each other is of no use to a single one.
        worker = [*celery, "worker", "--loglevel", "INFO", "--without-gossip", "--without-mingle"]
        schedule = self.root / "beat" / "schedule"
        schedule.parent.mkdir(parents=True, exist_ok=True)
        return {
            "web": [
                *(*python, "uvicorn", "bas_site.asgi:application"),
                *("--host", HOST, "--port", str(self.port), "--no-proxy-headers"),
                # Live updates are requests without an end; a stop doesn't wait for them.
                *("--timeout-graceful-shutdown", "2"),
            ],
            "worker": [*worker, "--concurrency", "2", "--hostname", "worker@%h"],
            "signer": [
                *(*worker, "--queues", "signer", "--concurrency", "1"),
                *("--hostname", "signer@%h"),
            ],
            "beat": [
                *(*celery, "beat", "--loglevel", "INFO", "--schedule", str(schedule)),
                # Its default is a file in the project; that there is one beat, the root's lock
                # sees to.
                "--pidfile=",
            ],
            "miner": [sys.executable, str(Path(__file__).with_name("mine.py"))],
        }

    def start(self) -> None:
        """Start everything and wait until the web server answers."""
        self.up()
        try:
            for name in self.PROGRAMS:
                self.start_process(name)
            wait_until(self.healthy, seconds=WEB_READY_SECONDS, process=self._processes["web"])
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop everything, clients before servers; harmless if nothing runs."""
        try:
            for name in list(self._processes):
                self.stop_process(name)
        finally:
            self.services.stop()

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

    def start_process(self, name: str) -> None:
        """Start a program (again)."""
        process = self._processes.get(name)
        if process is not None and process.running:
            raise DevStackError(f"{name} already runs.")
        process = self._processes[name] = Process(name, self.root)
        process.start(self.commands()[name], env=self.program_env(name), cwd=PROJECT)

    def stop_process(self, name: str) -> None:
        """Stop a program as an operator would (SIGTERM)."""
        if not self._processes.pop(name).stop():
            self.say(f"{name} did not stop in time; killed it.")

    def kill_process(self, name: str) -> None:
        """SIGKILL a program, as a crash would, with its children."""
        self._processes[name].kill()

    def log(self, name: str) -> Path:
        """Return the log file of a program or a service."""
        return self.root / "logs" / f"{name}.log"

    def healthy(self) -> bool:
        """Whether the web server answers on /healthz."""
        with contextlib.suppress(httpx.TransportError):
            return self.get("/healthz").is_success
        return False

    def get(self, path: str) -> httpx.Response:
        """GET a path of the site."""
        return httpx.get(self.url + path, timeout=10, trust_env=False)
