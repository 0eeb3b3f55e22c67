"""The command line: `python -m engine replay FILE` and `python -m engine verify FILE`."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from engine.replay import ReplayError, replay
from engine.verify import Fault, is_transcript, replay_transcript, verify


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

    command = commands.add_parser(
        "verify",
        help="verify a match's transcript",
        description="Verify a match's transcript: the server's secret, the hash chain, the "
        "commitments, the draws, the rules, the result and what was paid. Exit status 0 if all is "
        "as it must be; 1 and the first thing that is off; 2 if it is no transcript.",
    )
    command.add_argument("file", metavar="FILE", help="the transcript; - for standard input")
    command.set_defaults(run=run_verify)

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
        document = read_json(options.file)
        lines = replay_transcript(document) if is_transcript(document) else replay(document)
        for line in lines:
            sys.stdout.write(json.dumps(line) + "\n")
    except ReplayError as error:
        sys.stdout.flush()
        print(error, file=sys.stderr)
        return 2
    return 0


def run_verify(options: argparse.Namespace) -> int:
    """Print what the transcript in `options.file` proves; return 0, 1 or 2."""
    try:
        proved = verify(read_json(options.file))
    except ReplayError as error:
        print(error, file=sys.stderr)
        return 1 if isinstance(error, Fault) else 2
    result = proved.result
    won = f" by ape {result['winner']}" if result["winner"] else ""
    paid = ", ".join(f"{amount} to ape {ape}" for ape, amount in result["payouts"].items())
    print(f"OK: match {proved.match}")
    print(f"{proved.events} events, {proved.movements} movements, {proved.draws} influences drawn")
    print(f"{result['status']}{won} ({result['ended_by']})")
    print(f"pot {result['pot']}: {paid}, fee {result['fee']}")
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
        return json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeated_keys
        )
    except RecursionError as error:
        raise ReplayError("not JSON that can be read: nested too deeply") from error
    except ValueError as error:
        raise ReplayError(f"not JSON that can be read: {_one_line(error)}") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Readers differ on which one counts, so that one file could be two matches.
    if len(members := dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return members


def _one_line(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.splitlines()[0] if text else type(error).__name__


if __name__ == "__main__":
    sys.exit(main())
