"""What every server of the stack has: a root folder, a port, a process."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from bas_site.devstack.ports import free_port
from bas_site.devstack.processes import Process

PROJECT = Path(__file__).resolve().parents[2]
DEV = PROJECT / ".dev"
READY_SECONDS = 60
# One attempt to see whether a server answers: whoever has its port may accept and say nothing.
PROBE_SECONDS = 2

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
