"""Plays the house's apes against each other, and looks at the rules while they play."""

import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import combinations_with_replacement
from statistics import quantiles
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from engine import GOD_V1, Ruleset
from engine.apes import APES
from engine.apes.contest import CHANGED, CHANGES, Record, Score, play_pair, wilson

Pair = tuple[str, str]
Results = dict[Pair, tuple[Score, list[Record]]]


class Command(BaseCommand):
    """Plays a round robin."""

    help = (
        "Play the house's apes against each other, each pair as many matches as asked for, and "
        "print who wins how often (with 95 % intervals), how long matches last and how they end, "
        "and how often each ruling mattered. The same seed gives the same figures."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Options."""
        parser.add_argument(
            "--apes", type=_apes, default=list(APES), help=f"by commas; all: {','.join(APES)}"
        )
        parser.add_argument("--matches", type=_count, default=100, help="of each pair (100)")
        parser.add_argument("--seed", default="1", help="any text (1)")
        parser.add_argument(
            "--rulings", action="store_true", help="play all again with each ruling changed"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Play and print."""
        console = Console(file=self.stdout._out, width=None if self.stdout.isatty() else 140)
        rulesets = {"": GOD_V1} | (CHANGED if options["rulings"] else {})
        apes, matches, seed = options["apes"], options["matches"], options["seed"]
        pairs = list(combinations_with_replacement(apes, 2))
        with _progress(len(rulesets) * len(pairs) * matches) as advance:
            played = {
                changed: _round_robin(pairs, matches, seed, ruleset, advance)
                for changed, ruleset in rulesets.items()
            }
        results = played.pop("")
        console.print(_winners(apes, results))
        console.print(_lengths(results))
        console.print(_rulings(results))
        if played:
            console.print(_changes({"as it is": results} | played, apes))


def _apes(text: str) -> list[str]:
    apes = text.split(",")
    if unknown := [ape for ape in apes if ape not in APES]:
        raise ArgumentTypeError(f"no ape is called {unknown[0]!r}; there are {', '.join(APES)}")
    return list(dict.fromkeys(apes))


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError("a whole number from 1")
    return int(text)


@contextmanager
def _progress(matches: int) -> Iterator[Callable[[], None]]:
    """A bar where there is a terminal, a line for each tenth where there is none."""
    console = Console(file=sys.stderr)
    if console.is_terminal:
        columns = (TextColumn("Matches"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console) as progress:
            task = progress.add_task("", total=matches)
            yield lambda: progress.advance(task)
        return
    done = 0

    def advance() -> None:
        nonlocal done
        done += 1
        if 10 * done // matches > 10 * (done - 1) // matches:
            console.print(f"{done} of {matches} matches")

    yield advance


def _round_robin(
    pairs: Iterable[Pair],
    matches: int,
    seed: str,
    ruleset: Ruleset,
    advance: Callable[[], None],
) -> Results:
    return {
        (one, two): play_pair(
            APES[one].play, APES[two].play, matches, f"{seed}/{one}/{two}", ruleset, advance
        )
        for one, two in pairs
    }


def _score(results: Results, one: str, two: str) -> Score:
    if (one, two) in results:
        return results[one, two][0]
    won, lost, drawn = results[two, one][0]
    return Score(lost, won, drawn)


def _overall(results: Results, ape: str, apes: list[str]) -> Score:
    """Against all others."""
    scores = [_score(results, ape, other) for other in apes if other != ape]
    return (
        Score(*(sum(column) for column in zip(*scores, strict=True))) if scores else Score(0, 0, 0)
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _interval(score: Score) -> str:
    low, high = wilson(score.won, score.played)
    return f"{_share(score.won, score.played)} ({100 * low:.1f}-{100 * high:.1f})"


def _winners(apes: list[str], results: Results) -> Table:
    table = Table(
        "wins of",
        *(f"against {ape}" for ape in apes),
        "all others",
        title="Who wins",
        title_justify="left",
    )
    for one in apes:
        cells = [_interval(_score(results, one, two)) if one != two else "" for two in apes]
        table.add_row(one, *cells, _interval(_overall(results, one, apes)))
    return table


def _lengths(results: Results) -> Table:
    table = Table(
        "match", "movements: mean", "median", "9 of 10", "rounds: mean", "seat a wins", "drawn",
        title="How long matches last, and how they end",
        title_justify="left",
    )  # fmt: skip
    for (one, two), (_, records) in results.items():
        table.add_row(f"{one} - {two}", *_length(records))
    table.add_section()
    table.add_row("all", *_length(_all(results)))
    return table


def _length(records: list[Record]) -> list[str]:
    lengths = [record.movements for record in records]
    tenths = quantiles(lengths, n=10) if len(lengths) > 1 else 9 * lengths
    first = sum(record.winner == "a" for record in records)
    drawn = sum(record.winner is None for record in records)
    return [
        f"{sum(lengths) / len(lengths):.1f}",
        f"{tenths[4]:.0f}",
        f"{tenths[8]:.0f}",
        f"{sum(record.rounds for record in records) / len(records):.2f}",
        _share(first, len(records)),
        _share(drawn, len(records)),
    ]


def _all(results: Results) -> list[Record]:
    return [record for _, records in results.values() for record in records]


def _rulings(results: Results) -> Table:
    table = Table(
        "ruling, or what happens", "other reading", "times in a match", "matches with it",
        title="How often each ruling matters: a movement ends otherwise under its other reading",
        title_justify="left",
    )  # fmt: skip
    records = _all(results)
    for name in (*CHANGES, "sudden death", "tribute", "potion"):
        times = sum(record.happened[name] for record in records)
        matches = sum(record.happened[name] > 0 for record in records)
        other = str(CHANGES.get(name, "")).lower()
        table.add_row(name, other, f"{times / len(records):.3f}", _share(matches, len(records)))
    return table


def _changes(played: dict[str, Results], apes: list[str]) -> Table:
    table = Table(
        "ruling", "changed to", "movements: mean", "drawn", *(f"{ape} wins" for ape in apes),
        title="What the other readings do",
        title_justify="left",
    )  # fmt: skip
    for name, results in played.items():
        mean, *_, drawn = _length(_all(results))
        shares = [_overall(results, ape, apes) for ape in apes]
        wins = [_share(score.won, score.played) for score in shares]
        table.add_row(name, str(CHANGES.get(name, "")).lower(), mean, drawn, *wins)
    return table
