"""The command line of the demo."""

import argparse
import os
import subprocess
import sys
from random import Random

import httpx
from bas_client import ApiProblem, ChainError

from bas_site.demo import PROJECT
from bas_site.demo.figures import mistakes
from bas_site.demo.screen import Screen
from bas_site.demo.story import Limits, Stuck, play_story

AUDIT_SECONDS = 120


def main(argv: list[str] | None = None) -> int:
    """Play the story, check every figure, run the audit; return the exit status."""
    options = _options(argv)
    screen = Screen()
    try:
        figures, steps = play_story(
            url=options.url,
            rpc_url=options.rpc,
            screen=screen,
            limits=Limits(options.mint_seconds, options.match_seconds),
            dice=Random(),  # noqa: S311 - for strategies; keys and salts come from `secrets`
        )
    except (Stuck, ApiProblem, ChainError) as error:
        screen.refuse(f"The demo stopped. {error}")
        return 1
    except httpx.TransportError as error:
        screen.refuse(f"The demo stopped: no answer ({type(error).__name__}) from {_host(error)}.")
        return 1
    screen.console.print()
    screen.story(steps)
    screen.balances(figures)
    wrong = mistakes(figures)
    for mistake in wrong:
        screen.refuse(f"WRONG: {mistake}")
    if not wrong:
        screen.say("Every figure is what it must be.")
    return 1 if audit(screen) != 0 or wrong else 0


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bas_site.demo",
        description="Play the main job on a running stack: two new wallets deposit, play a whole "
        "match, and one is paid. `make demo` runs it on a stack of its own.",
        epilog="Exit status 0 if every figure is what it must be and the audit agrees, else 1. The "
        "audit needs the stack's settings in the environment: `source .dev/run/env`.",
    )
    parser.add_argument(
        "--url",
        default=os.environ.get("BAS_URL") or os.environ.get("SITE_URL"),
        help="the site's origin (default: BAS_URL, else SITE_URL)",
    )
    parser.add_argument(
        "--rpc",
        default=os.environ.get("CHAIN_RPC_URLS", "").split(",")[0],
        help="a node of the chain, with an account of its own (default: first of CHAIN_RPC_URLS)",
    )
    limits = Limits()
    parser.add_argument("--mint-seconds", type=float, default=limits.mint_seconds, metavar="S")
    parser.add_argument("--match-seconds", type=float, default=limits.match_seconds, metavar="S")
    options = parser.parse_args(argv)
    if not (options.url and options.rpc):
        parser.error("BAS_URL and CHAIN_RPC_URLS lead to the stack; set them, or use `make demo`.")
    return options


def _host(error: httpx.TransportError) -> str:
    try:
        return error.request.url.host + f":{error.request.url.port}"
    except RuntimeError:
        return "the stack"


def audit(screen: Screen) -> int:
    """Run the audit of the whole ledger and show what it says; return its exit status."""
    command = [sys.executable, "manage.py", "audit"]
    try:
        done = subprocess.run(  # noqa: S603 - the command is ours
            command,
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=AUDIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        screen.refuse(f"The audit did not end within {AUDIT_SECONDS} s; look at the database.")
        return 1
    screen.say("\nThe audit\n" + done.stdout.rstrip())
    verdict = screen.say if done.returncode == 0 else screen.refuse
    verdict(f"The audit's exit status is {done.returncode}.")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
