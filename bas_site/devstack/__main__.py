"""The command line of the development stack."""

import argparse
import os
import signal
import subprocess
import sys

from bas_site.devstack.errors import DevStackError
from bas_site.devstack.service import DEV, PROJECT, say_on_stderr
from bas_site.devstack.services import Services, remove_root, throwaway_root
from bas_site.devstack.stack import Stack


def main() -> int:
    """Read the command line and do it; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m bas_site.devstack",
        description="PostgreSQL, Valkey and a chain, nothing installed, and the project on them.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run", help="the whole stack in the foreground, data kept in .dev/run")
    commands.add_parser("demo", help="the main job, played on a stack of its own")
    commands.add_parser("reset", help="remove the data of `run`")
    with_services = commands.add_parser(
        "exec", help="run a command with throwaway services: exec -- CMD ..."
    )
    with_services.add_argument("argv", nargs="+", metavar="CMD")
    options = parser.parse_args()
    _interrupt_once()
    try:
        if options.command == "run":
            # Imported late: it needs more than the other commands do.
            from bas_site.devstack.run import run

            return run()
        if options.command == "demo":
            return demo()
        if options.command == "reset":
            remove_root(DEV / "run")
            return 0
        return execute(options.argv)
    except DevStackError as error:
        say_on_stderr(str(error))
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _interrupt_once() -> None:
    """Make every signal to end a KeyboardInterrupt, but only the first one.

    A second one must not interrupt the stop: what it didn't get to would be left behind.
    """
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop(signum: int, frame: object) -> None:
        for number in signals:
            signal.signal(number, lambda *_: say_on_stderr("Stopping; a moment."))
        raise KeyboardInterrupt

    for number in signals:
        signal.signal(number, stop)


def execute(argv: list[str]) -> int:
    """Run a command with the settings of throwaway services; return its exit status."""
    root = throwaway_root("exec")
    try:
        with Services(root) as services:
            return _call(argv, {**os.environ, **services.env})
    finally:
        remove_root(root)


def demo() -> int:
    """Play the demo on a stack of its own; keep the logs if it fails."""
    root = throwaway_root("demo")
    try:
        with Stack(root) as stack:
            status = _call(
                [sys.executable, "-m", "bas_site.demo"], {**stack.env, "BAS_URL": stack.url}
            )
    except BaseException:
        say_on_stderr(f"The logs are in {root / 'logs'}")
        raise
    if status == 0:
        remove_root(root)
    else:
        say_on_stderr(f"The demo failed (status {status}); the logs are in {root / 'logs'}")
    return status


def _call(argv: list[str], env: dict[str, str]) -> int:
    """Run a command in the project's folder; a signal to end reaches it before its services end."""
    try:
        child = subprocess.Popen(argv, env=env, cwd=PROJECT)  # noqa: S603 - asked for by the user
    except OSError as error:
        raise DevStackError(f"Can't run {argv[0]}: {error.strerror}") from error
    try:
        code = child.wait()
    except KeyboardInterrupt:
        child.terminate()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        raise
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
