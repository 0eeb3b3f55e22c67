"""Keep a program of the stack running: start it again when it dies, end it with the stack.

Honcho ends everything as soon as one process ends; that is right for a server that holds data, but
web, worker and beat may die and come back. This stands between.
"""

import argparse
import signal
import sys
import time
from pathlib import Path

import psutil

from bas_site.devstack.processes import Process

BACKOFF_SECONDS = (1, 2, 5, 10, 30)
# Having run for this long, it starts with the shortest backoff again.
STABLE_SECONDS = 60
POLL_SECONDS = 0.2


class Keeper:
    """Runs one program over and over until told to stop, or until the stack's process is gone."""

    def __init__(self, *, name: str, root: Path, stack_pid: int, command: list[str]) -> None:
        self.name = name
        self.command = command
        self.process = Process(name, root)
        self._stack = psutil.Process(stack_pid)
        self._told = False

    def run(self) -> None:
        """Keep the program running; return when it was stopped for good."""
        signal.signal(signal.SIGTERM, self._tell)
        signal.signal(signal.SIGINT, self._tell)
        failures = 0
        try:
            while not self._stopping():
                started = time.monotonic()
                self.process.start(self.command, output=sys.stdout.buffer)
                while not self._stopping() and not self.process.wait(POLL_SECONDS):
                    pass
                if self._stopping():
                    return
                if time.monotonic() - started > STABLE_SECONDS:
                    failures = 0
                pause = BACKOFF_SECONDS[min(failures, len(BACKOFF_SECONDS) - 1)]
                failures += 1
                self.say(f"{self._how_it_ended()}; starting it again in {pause} s.")
                self.process.kill()  # what a killed parent left behind
                until = time.monotonic() + pause
                while time.monotonic() < until and not self._stopping():
                    time.sleep(POLL_SECONDS)
        finally:
            self.process.stop()

    def _tell(self, signum: int, frame: object) -> None:
        self._told = True

    def _stopping(self) -> bool:
        return self._told or not self._stack.is_running()

    def _how_it_ended(self) -> str:
        code = self.process.returncode or 0
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
        return f"{self.name} (pid {self.process.pid}) {how}"

    def say(self, text: str) -> None:
        """Print a line among the program's own."""
        print(text, flush=True)  # noqa: T201


def main() -> None:
    """Read the command line and keep."""
    parser = argparse.ArgumentParser(prog="python -m bas_site.devstack.keep", description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--stack-pid", type=int, required=True)
    parser.add_argument("name")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    Keeper(
        name=options.name,
        root=options.root,
        stack_pid=options.stack_pid,
        command=options.command,
    ).run()


if __name__ == "__main__":
    main()
