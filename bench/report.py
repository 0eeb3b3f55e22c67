"""Progress for whoever waits, and tables for whoever reads."""

import sys

from rich import box
from rich.console import Console
from rich.table import Table

# Where there is no terminal to measure: wide enough for the widest table.
PLAIN_WIDTH = 150

stdout = Console() if sys.stdout.isatty() else Console(width=PLAIN_WIDTH)


def say(text: str) -> None:
    """Tell progress, apart from the results."""
    print(text, file=sys.stderr, flush=True)


def show_table(title: str, headings: list[str], rows: list[list[str]]) -> None:
    """Print a table that can be pasted into a document as it is."""
    table = Table(*headings, box=box.MARKDOWN)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*row)
    stdout.print(f"\n{title}")
    stdout.print(table)


def show_aim(aim: str, where: str, worst: float, *, met: bool) -> None:
    """Print an aim, whether it was met everywhere, and the worst that was measured."""
    stdout.print(f"{'met' if met else 'NOT MET':8}{aim}: {worst:.2f} at the worst ({where})")
