"""The command line: `python -m engine replay FILE`."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from engine.replay import ReplayError, replay


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m engine", description="The rules of GOD mode, on the command line."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser(
        "replay",
        help="replay a recorded match",
        description="Replay a recorded match: one JSON line for the start and one for each event. "
        "An illegal event stops it with exit status 2 and one line on standard error.",
    )
    command.add_argument("file", metavar="FILE", help="the match as JSON; - for standard input")
    command.set_defaults(run=run_replay)

    options = parser.parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # that is only a reader who has seen enough
            print(f"cannot write: {_one_line(error)}", file=sys.stderr)
        # Python flushes standard output once more on exit: give it a sink.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def run_replay(options: argparse.Namespace) -> int:
    """Print the lines of the match in `options.file`; return 0, or 2 if it is not a legal one."""
    try:
        for line in replay(read_json(options.file)):
            sys.stdout.write(json.dumps(line) + "\n")
    except ReplayError as error:
        sys.stdout.flush()
        print(error, file=sys.stderr)
        return 2
    return 0


def read_json(path: str) -> object:
    """Return the parsed JSON of a file, or of standard input for `-`.

    Raises `ReplayError` if it cannot be read or is not JSON.
    """
    try:
        if path == "-":
            text = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as file:
                text = file.read()
    except (OSError, ValueError) as error:
        raise ReplayError(f"cannot read {path!a}: {_one_line(error)}") from error
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ReplayError("not JSON that can be read: nested too deeply") from error
    except ValueError as error:
        raise ReplayError(f"not JSON that can be read: {_one_line(error)}") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _one_line(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.splitlines()[0] if text else type(error).__name__


if __name__ == "__main__":
    sys.exit(main())
