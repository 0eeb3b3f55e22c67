"""The command line: `python -m bench [engine] [ledger] [size]`."""

import argparse
import signal
import sys

from bench import engine
from bench.report import say, show_table

PARTS = ("engine", "ledger", "size")


def main() -> int:
    """Read the command line, measure, print."""
    options = _options()
    # As Ctrl-C does: what was started is stopped and removed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parts = options.parts or PARTS
    if "engine" in parts:
        _engine()
    if "ledger" in parts or "size" in parts:
        from bench.server import throwaway_server

        with throwaway_server() as server:
            if "ledger" in parts:
                from bench import ledger

                ledger.run(
                    server,
                    seconds=options.seconds,
                    rounds=options.rounds,
                    clients=tuple(options.clients),
                )
            if "size" in parts:
                from bench import size

                size.run(server, postings=options.postings)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Speeds, as ratios to baselines that are measured in the same run.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; or all")
    parser.add_argument("--seconds", type=int, default=2, help="ledger: length of a round")
    parser.add_argument("--rounds", type=int, default=3, help="ledger: rounds of each cell")
    parser.add_argument(
        "--clients", type=int, nargs="+", default=[1, 8, 16], help="ledger: clients at a time"
    )
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
    show_table(
        f"The engine ({found['movements']:,} movements)",
        ["", "movements /s"],
        [
            ["plain loop over the same rules", f"{found['baseline_movements_per_second']:,}"],
            ["engine", f"{found['engine_movements_per_second']:,}"],
            ["engine : plain loop", f"{found['ratio']:.2f}"],
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
