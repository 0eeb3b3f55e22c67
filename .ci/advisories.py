"""Look every pinned package up among the known vulnerabilities.

Fails if one is known; of npm packages, which build and test, if it is a grave one. Where an
advisory service can't be reached, says so loudly and passes: what nobody could look up is not the
fault of whoever runs it.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

SECONDS = 45


class Auditor(NamedTuple):
    """A program that looks packages up, and what its report says is known."""

    name: str
    command: list[str]
    holes: Callable[[dict[str, Any]], list[str]]


def _python(report: dict[str, Any]) -> list[str]:
    return [
        f"{package['name']} {package['version']}: {hole['id']}"
        for package in report["dependencies"]
        for hole in package.get("vulns", [])
    ]


def _npm(report: dict[str, Any]) -> list[str]:
    return [f"{name}: {hole['severity']}" for name, hole in report["vulnerabilities"].items()]


AUDITORS = (
    Auditor(
        "pip-audit",
        [
            *(sys.executable, "-m", "pip_audit", "--requirement", "requirements.txt"),
            *("--require-hashes", "--disable-pip", "--format", "json"),
            *("--progress-spinner", "off", "--timeout", "10"),
        ],
        _python,
    ),
    Auditor(
        "npm audit",
        [
            *("npm", "audit", "--json", "--audit-level=high"),
            *("--fetch-timeout=10000", "--fetch-retries=0"),
        ],
        _npm,
    ),
)


def look_up(auditor: Auditor) -> tuple[list[str], bool] | None:
    """The known holes, and whether they are too grave; None if they could not be looked up."""
    try:
        done = subprocess.run(
            auditor.command, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        return auditor.holes(json.loads(done.stdout)), done.returncode != 0
    except (subprocess.TimeoutExpired, ValueError, KeyError, OSError):
        return None


def main() -> int:
    """Ask all auditors at once; 1 if a hole is known."""
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(look_up, AUDITORS))
    failed = False
    for auditor, answer in zip(AUDITORS, answers, strict=True):
        if answer is None:
            print(f"!!! {auditor.name}: NOT LOOKED UP, the advisory service can't be reached")
            continue
        holes, grave = answer
        failed = failed or grave
        print(f"{auditor.name}: {len(holes)} known vulnerabilities", *holes, sep="\n  ")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
