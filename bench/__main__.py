"""The command line: `python -m bench [PART ...]`."""

import argparse
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from bench import engine
from bench.report import say, show_aim, show_table

if TYPE_CHECKING:
    from bench.server import Server

PARTS = ("engine", "ledger", "watcher", "live", "matches", "size", "console")
AIM = 300_000


def main() -> int:
    """Read the command line, measure, print."""
    options = _options()
    # As Ctrl-C does: what was started is stopped and removed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parts = options.parts
    if "engine" in parts:
        _engine()
    if set(parts) - {"engine"}:
        from bench.server import throwaway_server

        with throwaway_server(with_chain="watcher" in parts) as server:
            for part in PARTS:
                if part in parts and part != "engine":
                    ON_SERVER[part](server, options)
    return 0


# What each needs is imported when its turn comes: models can't be before Django is set up.
def _ledger(server: "Server", options: argparse.Namespace) -> None:
    from bench import ledger

    ledger.run(
        server, seconds=options.seconds, rounds=options.rounds, clients=tuple(options.clients)
    )


def _watcher(server: "Server", options: argparse.Namespace) -> None:
    from bench import watcher

    watcher.run(server, deposits=options.deposits)


def _live(server: "Server", options: argparse.Namespace) -> None:
    from bench import live

    live.run(server, streams=options.streams)


def _matches(server: "Server", options: argparse.Namespace) -> None:
    from bench import matches

    matches.run(server, matches=options.matches, idle=options.streams)


def _size(server: "Server", options: argparse.Namespace) -> None:
    from bench import size

    size.run(server, postings=options.postings)


def _console(server: "Server", options: argparse.Namespace) -> None:
    from bench import console

    console.run(server)


ON_SERVER: dict[str, Callable[["Server", argparse.Namespace], None]] = {
    "ledger": _ledger,
    "watcher": _watcher,
    "live": _live,
    "matches": _matches,
    "size": _size,
    "console": _console,
}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Speeds, as ratios to baselines that are measured in the same run.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "parts", nargs="*", metavar="PART", default=PARTS, help=f"any of {', '.join(PARTS)}"
    )
    parser.add_argument("--seconds", type=int, default=2, help="ledger: length of a round")
    parser.add_argument("--rounds", type=int, default=3, help="ledger: rounds of each cell")
    parser.add_argument(
        "--clients", type=int, nargs="+", default=[1, 8, 16], help="ledger: clients at a time"
    )
    parser.add_argument(
        "--deposits", type=int, default=100_000, help="watcher: how many there are to catch up"
    )
    parser.add_argument("--streams", type=int, default=2_000, help="live and matches: idle streams")
    parser.add_argument("--matches", type=int, default=200, help="matches: at once")
    parser.add_argument(
        "--postings", type=int, default=5_000_000, help="size: rows in the large table"
    )
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    return options


def _engine() -> None:
    say("engine: random matches, by the engine and by the plain loop in turns")
    found = engine.run()
    speed = found["engine_movements_per_second"]
    rows = [["engine", f"{speed:,}", ""]]
    for name, other in (
        ("plain mutable loop over the same rules", found["baseline_movements_per_second"]),
        ("PettingZoo's rock paper scissors", found["pettingzoo_movements_per_second"]),
        ("boardgame.io, the same movements", found["boardgame_io_movements_per_second"]),
    ):
        cells = [f"{other:,.0f}", f"{speed / other:.2f}"] if other else ["skipped", ""]
        rows.append([name, *cells])
    show_table(
        f"The engine ({found['movements']:,} movements, processor time)",
        ["", "movements /s", "engine : this"],
        rows,
    )
    show_aim("300,000 movements/s", "median", speed, met=speed >= AIM)


if __name__ == "__main__":
    sys.exit(main())
