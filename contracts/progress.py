"""How far a command has come: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

LINE_SECONDS = 5.0


# Says how far it has come: a block, out of how many, and what to say of it.
Report = Callable[[int, int, str], None]


@contextmanager
def reporting(out: IO[str], what: str) -> Iterator[Report]:
    """Report on one piece of work."""
    if getattr(out, "isatty", lambda: False)():
        columns = (
            *(TextColumn("{task.description}"), BarColumn()),
            *(TextColumn("block {task.completed:,.0f} of {task.total:,.0f}"),),
            *(TextColumn("{task.fields[said]}"), TimeRemainingColumn()),
        )
        with Progress(*columns, console=Console(file=sys.stdout)) as progress:
            bar = progress.add_task(what, total=None, said="")

            def show(block: int, of: int, text: str) -> None:
                progress.update(bar, completed=block, total=of, said=text)

            yield show
    else:
        said_at = float("-inf")

        def line(block: int, of: int, text: str) -> None:
            nonlocal said_at
            if block >= of or time.monotonic() - said_at > LINE_SECONDS:
                said_at = time.monotonic()
                out.write(f"{what}: block {block:,} of {of:,}, {text}\n")

        yield line
