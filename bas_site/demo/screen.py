"""What the demo prints: bars on a terminal, plain lines anywhere else, and the tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from bas_site.demo.figures import Figures

PLAIN_COLUMNS = 110


class Meter(Protocol):
    """Shows how far something has come."""

    def __call__(self, row: str, done: int, total: int, text: str) -> None:
        """Show `done` of `total`, and what is happening, in one row."""


@dataclass(frozen=True, slots=True)
class Step:
    """A line of the story."""

    who: str
    what: str
    credits: int | None = None
    available: int | None = None


class Screen:
    """The demo's output."""

    def __init__(self) -> None:
        self.console = Console(highlight=False)
        if not self.console.is_terminal:
            self.console.width = PLAIN_COLUMNS

    def say(self, text: str) -> None:
        """Print a line of text as it is."""
        self.console.print(Text(text))

    def refuse(self, text: str) -> None:
        """Print a line that says what is wrong."""
        self.console.print(Text(text, style="bold red"))

    @contextmanager
    def meter(self) -> Iterator[Meter]:
        """Show progress until the block ends."""
        if self.console.is_terminal:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.fields[text]}"),
            )
            with Progress(*columns, console=self.console) as progress:
                yield _Bars(progress)
        else:
            yield _Lines(self)

    def story(self, steps: list[Step]) -> None:
        """Print what happened."""
        table = Table(title="The story")
        table.add_column("#", justify="right")
        table.add_column("who")
        table.add_column("what", overflow="fold")
        table.add_column("credits", justify="right")
        table.add_column("available", justify="right")
        for number, step in enumerate(steps, start=1):
            table.add_row(
                str(number),
                step.who,
                step.what,
                "" if step.credits is None else f"{step.credits:+d}",
                "" if step.available is None else str(step.available),
            )
        self.console.print(table)

    def balances(self, figures: Figures) -> None:
        """Print each balance, before and after."""
        table = Table(title="Balances")
        table.add_column("of")
        for moment in ("at first", "deposited", "staked", "at the end"):
            table.add_column(moment, justify="right")
        for player in figures.players:
            moments = (player.at_first, player.minted, player.staked, player.at_last)
            table.add_row(f"{player.name}, available", *(str(m.available) for m in moments))
            table.add_row(f"{player.name}, in play", *(str(m.in_play) for m in moments))
        for player in figures.players:
            deposit = player.deposit
            unit = f"the vault, 10^-{deposit.decimals} {deposit.symbol}"
            table.add_row(unit, str(deposit.vault_before), str(deposit.vault_after))
        self.console.print(table)
        self.say(
            f"Pot {2 * figures.stake}, house fee {figures.fee} "
            f"({figures.fee_bps} basis points, rounded down), prize {figures.prize}."
        )


class _Bars:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, row: str, done: int, total: int, text: str) -> None:
        if row not in self._tasks:
            self._tasks[row] = self._progress.add_task(row, total=total, text=text)
        self._progress.update(self._tasks[row], completed=done, total=total, text=text)


class _Lines:
    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._shown: dict[str, tuple[int, str]] = {}

    def __call__(self, row: str, done: int, total: int, text: str) -> None:
        if self._shown.get(row) != (done, text):
            self._shown[row] = (done, text)
            self._screen.say(f"{row}: {done} of {total} {text}")
