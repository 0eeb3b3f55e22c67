"""Processes that can be found again: by this process, and by the next one if this one is killed.

Every process is recorded under its root with its pid and its time of birth, and carries a token in
its environment. The first two identify it even if the pid has been given to somebody else since;
the token also finds what it started itself and left behind.
"""

import contextlib
import fcntl
import json
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import psutil

from bas_site.devstack.errors import DevStackError

TOKEN = "BAS_DEVSTACK_TOKEN"  # noqa: S105 - the name of a mark, not a secret
# The kernel's idea of when it booted moves a little when the clock is set.
BIRTH_TOLERANCE_SECONDS = 2.0
LOG_TAIL_LINES = 15
LOG_MAX_BYTES = 5_000_000  # then the next start begins a new one and keeps one old one


def as_user(user: str | None) -> dict[str, Any]:
    """Return the arguments by which `subprocess` gives up root for a user, if one is named."""
    return {"user": user, "group": user, "extra_groups": []} if user else {}


class Process:
    """A process of the stack: started in a session of its own, its output in a log file."""

    def __init__(
        self,
        name: str,
        root: Path,
        *,
        stop_signal: signal.Signals = signal.SIGTERM,
        stop_seconds: float = 10,
        log: Path | None = None,
    ) -> None:
        self.name = name
        self.root = root
        self.stop_signal = stop_signal
        self.stop_seconds = stop_seconds
        self.log = log or root / "logs" / f"{name}.log"
        self._popen: subprocess.Popen[bytes] | None = None
        self._token = ""

    @property
    def pid(self) -> int:
        """The process id; an error if it was never started."""
        if self._popen is None:
            raise DevStackError(f"{self.name} was not started.")
        return self._popen.pid

    @property
    def running(self) -> bool:
        """Whether it was started and hasn't ended."""
        return self._popen is not None and self._popen.poll() is None

    @property
    def returncode(self) -> int | None:
        """How it ended; None while it runs."""
        return None if self._popen is None else self._popen.poll()

    def start(
        self,
        command: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        user: str | None = None,
        output: IO[bytes] | None = None,
    ) -> None:
        """Start the command; its output is appended to the log unless `output` is given."""
        self._token = secrets.token_hex(16)
        environment = {**(os.environ if env is None else env), TOKEN: self._token}
        self.log.parent.mkdir(parents=True, exist_ok=True)
        if self.log.exists() and self.log.stat().st_size > LOG_MAX_BYTES:
            self.log.replace(self.log.with_suffix(".1.log"))
        # Recorded before it exists as well: a kill in between must not lose it.
        self._record(pid=None)
        with contextlib.ExitStack() as stack:
            out = output or stack.enter_context(self.log.open("ab"))
            self._popen = subprocess.Popen(  # noqa: S603 - the commands are ours
                [str(part) for part in command],
                env=environment,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                # Out of the terminal's process group: a Ctrl-C reaches the stack only, and the
                # stack stops its parts in the order that loses nothing.
                start_new_session=True,
                **as_user(user),
            )
        self._record(pid=self._popen.pid)

    def _record(self, *, pid: int | None) -> None:
        record: dict[str, object] = {
            "name": self.name,
            "token": self._token,
            "pid": pid,
            "born": None,
            "recorded": time.time(),
            "stop_signal": int(self.stop_signal),
            "stop_seconds": self.stop_seconds,
        }
        if pid is not None:
            with contextlib.suppress(psutil.NoSuchProcess):
                record["born"] = psutil.Process(pid).create_time()
        path = self._record_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(record))
        fresh.replace(path)

    def _record_path(self) -> Path:
        return self.root / "processes" / f"{self.name}.json"

    def wait(self, seconds: float) -> bool:
        """Wait until it has ended; False if it still runs after so many seconds."""
        if self._popen is None:
            return True
        try:
            self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self) -> bool:
        """Ask it to end, insist after its time is up, and remove what it left behind.

        True if it ended by itself when asked.
        """
        willing = True
        if self.running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, self.stop_signal)
            willing = self.wait(self.stop_seconds)
        self.kill()
        self._record_path().unlink(missing_ok=True)
        return willing

    def kill(self) -> None:
        """SIGKILL it, with what it started itself."""
        if self._popen is None:
            return
        if self.running:
            self._popen.kill()
            self._popen.wait()
        for process in _carriers({self._token}):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()

    def log_tail(self) -> str:
        """Return the last lines of its log, for an error message."""
        if not self.log.exists():
            return "(no log)"
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:])


def wait_until(
    ready: Callable[[], bool], *, seconds: float, process: Process, every: float = 0.02
) -> None:
    """Poll `ready` until it is true; fail with the log if the process ends or time is up."""
    deadline = time.monotonic() + seconds
    while not ready():
        if not process.running:
            raise DevStackError(
                f"{process.name} ended with status {process.returncode} while starting; "
                f"the end of {process.log}:\n{process.log_tail()}"
            )
        if time.monotonic() > deadline:
            raise DevStackError(
                f"{process.name} was not ready after {seconds:.0f} s; "
                f"the end of {process.log}:\n{process.log_tail()}"
            )
        time.sleep(every)


def _carriers(tokens: set[str]) -> Iterator[psutil.Process]:
    """Yield the processes that have one of the tokens in their environment."""
    for process in psutil.process_iter():
        # Other people's processes can't be read, and are none of ours.
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(TOKEN) in tokens:
                yield process


def recorded(root: Path) -> list[dict[str, object]]:
    """Return the records under a root, the youngest process first."""
    records = []
    for path in root.glob("processes/*.json"):
        records.append({**json.loads(path.read_text()), "path": path})
    return sorted(records, key=lambda record: record["recorded"], reverse=True)


def find_recorded(record: Mapping[str, object]) -> psutil.Process | None:
    """Return the process a record speaks of, if it still runs."""
    pid, born = record["pid"], record["born"]
    if not isinstance(pid, int) or not isinstance(born, float):
        return None
    try:
        process = psutil.Process(pid)
        same = abs(process.create_time() - born) <= BIRTH_TOLERANCE_SECONDS
        if same and process.status() != psutil.STATUS_ZOMBIE:
            return process
    except psutil.NoSuchProcess:
        pass
    return None


def reap(root: Path, say: Callable[[str], None], *, names: set[str] | None = None) -> None:
    """End what a killed stack of this root left running, in reverse order of its start.

    Only for the holder of the root's lock. `names` narrows it to some of the processes.
    """
    records = [record for record in recorded(root) if names is None or record["name"] in names]
    for record in records:
        process = find_recorded(record)
        if process is not None:
            say(f"Found {record['name']} (pid {process.pid}) of a killed stack; stopping it.")
            end(process, record)
    if records:
        for process in _carriers({str(record["token"]) for record in records}):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
    for record in records:
        Path(str(record["path"])).unlink(missing_ok=True)


def end(process: psutil.Process, record: Mapping[str, object]) -> None:
    """Send a recorded process its stop signal, and SIGKILL when its time is up."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(signal.Signals(int(str(record["stop_signal"]))))
        try:
            process.wait(float(str(record["stop_seconds"])))
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(5)


class RootLock:
    """Held by the one process that runs a root's stack; the kernel lets go of it if that dies."""

    # fcntl locks, because they aren't inherited: a forked child must not hold the root of a dead
    # parent. Within one process they don't exclude each other, hence this set.
    _held: set[Path] = set()

    def __init__(self, root: Path) -> None:
        self.path = root / "lock"
        self._file: IO[str] | None = None

    def acquire(self) -> None:
        """Take the lock, or say who has it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        key = self.path.resolve()
        if key in self._held:
            raise DevStackError(f"This process already runs a stack on {self.path.parent}.")
        file = self.path.open("a+")
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            file.close()
            raise DevStackError(
                f"A stack already runs on {self.path.parent} (pid {holder}); stop it first."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        self._file = file
        self._held.add(key)

    def release(self) -> None:
        """Let go of it; harmless if it isn't held."""
        if self._file is not None:
            self._held.discard(self.path.resolve())
            self._file.close()
            self._file = None
