"""`python -m tests.races --rounds 2000`: the race on services of its own."""

import argparse
import sys
import time

from bas_site.devstack import Services
from tests.own_services import own_services
from tests.races.plan import SETTINGS

SHOWN = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.races", description=__doc__)
    parser.add_argument("--rounds", type=int, default=2_000, help="movements to race for")
    parser.add_argument("--tables", type=int, default=3, help="matches at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--leaky", action="store_true", help="on a server that tells too much: it must be seen"
    )
    options = parser.parse_args()
    settings = {name: str(value) for name, value in SETTINGS.items()}
    with own_services("races", **settings) as services:
        return _run(services, options)


def _run(services: Services, options: argparse.Namespace) -> int:
    from tests.races.run import race

    started = time.monotonic()
    outcome = race(
        root=services.root,
        valkey_url=services.env["VALKEY_URL"],
        rounds=options.rounds,
        tables=options.tables,
        seed=options.seed,
        say=lambda text: print(text, file=sys.stderr, flush=True),
        application=(
            "tests.races.leaky:application" if options.leaky else "bas_site.asgi:application"
        ),
    )
    for name, count in sorted(outcome.counts.items()):
        print(f"{count:>9,} {name}")
    for fault in outcome.faults[:SHOWN]:
        print(f"FAULT: {fault}")
    for leak in outcome.leaks[: SHOWN if not options.leaky else 0]:
        print(f"LEAK: {leak.what} in {leak.where}")
    leaks = ", ".join(sorted({leak.what for leak in outcome.leaks}))
    print(
        f"{outcome.rounds:,} movements raced for in {outcome.matches:,} matches in "
        f"{time.monotonic() - started:.0f} s: {len(outcome.faults)} faults, "
        f"{len(outcome.leaks)} leaks{leaks and f' ({leaks})'}"
    )
    return 1 if outcome.faults or outcome.leaks else 0


if __name__ == "__main__":
    sys.exit(main())
