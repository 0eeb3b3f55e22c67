"""`python -m tests.chaos --seeds 1-5 --deposits 200`: chaos on a stack of its own."""

import argparse
import logging
import os
import subprocess
import sys
import time
from collections import Counter

from bas_site.devstack import Services
from bas_site.devstack.service import PROJECT
from bas_site.devstack.services import remove_root, throwaway_root


def _seeds(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seeds", type=_seeds, default=_seeds("1-5"), help="one, or FROM-TO")
    parser.add_argument("--deposits", type=int, default=200, help="of each seed")
    options = parser.parse_args()
    services = Services(throwaway_root("chaos"), throwaway_chain=True)
    try:
        with services:
            _prepare(services)
            return _run(services, options.seeds, options.deposits)
    finally:
        remove_root(services.root)


def _prepare(services: Services) -> None:
    os.environ.update(
        services.env,
        DJANGO_SETTINGS_MODULE="bas_site.settings",
        CHAIN_CONFIRMATIONS="3",
        LOG_LEVEL="CRITICAL",
    )
    env = {**os.environ, "DATABASE_URL": services.env["DATABASE_OWNER_URL"]}
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity=0"],
        cwd=PROJECT,
        env=env,
        check=True,
    )
    import django

    django.setup()
    logging.disable()


def _run(services: Services, seeds: range, deposits: int) -> int:
    from tests.chaos.run import Chaos, run_seed

    total: Counter[str] = Counter()
    for seed in seeds:
        started = time.monotonic()
        try:
            total += run_seed(services, seed, deposits, lambda text: print(text, flush=True))
        except Chaos as error:
            print(f"seed {seed} FAILED: {error}", flush=True)
            return 1
        print(f"seed {seed} passed in {time.monotonic() - started:.1f} s", flush=True)
    shown = ", ".join(f"{name} {times}" for name, times in sorted(total.items()))
    print(f"{len(seeds)} seeds passed: {shown}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
