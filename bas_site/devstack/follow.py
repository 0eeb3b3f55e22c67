"""Print what a server adds to its log, until the server ends. Run by its path, as a script.

It lets a server be a process among others to honcho (a prefix, a colour, an end that is noticed)
although honcho neither starts nor stops it: it would stop servers and their clients all at once.
"""

import argparse
import sys
import time
from pathlib import Path

import psutil

POLL_SECONDS = 0.2


def follow(log: Path, pid: int) -> None:
    """Copy the log's new lines to standard output while the process runs."""
    with log.open(errors="replace") as lines:
        lines.seek(0, 2)
        while True:
            # Asked before reading: what it wrote before its end is still printed.
            try:
                process = psutil.Process(pid)
                running = process.status() != psutil.STATUS_ZOMBIE
            except psutil.NoSuchProcess:
                running = False
            sys.stdout.write(lines.read())
            sys.stdout.flush()
            if not running:
                return
            time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("pid", type=int)
    options = parser.parse_args()
    follow(options.log, options.pid)
    sys.exit(f"pid {options.pid} ended; without it the stack can't go on.")
