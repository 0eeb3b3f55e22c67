"""What the engine is measured beside: a boardgame.io game, and PettingZoo's rock paper scissors.

Each is installed where it is first asked for, apart from the product's own parts: boardgame.io into
`bench/rivals/node_modules`, PettingZoo into `.dev/bench-venv`. What can't be had is skipped, and
said so.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bas_site.devstack.service import DEV, PROJECT
from bench.report import say
from engine import GOD_V1, Choice
from engine.tables import MOVE_COST, meetings

HERE = Path(__file__).parent
VENV = DEV / "bench-venv"
REQUIREMENTS = PROJECT / "bench" / "requirements.txt"
# What others are asked for: enough for a second or two of each.
BOARDGAME_MATCHES, PETTINGZOO_MOVEMENTS = 30, 50_000

Movements = list[tuple[Choice | None, Choice | None]]


def boardgame_io(matches: list[tuple[Movements, list[str]]]) -> float | None:
    """Movements a second of processor time, in matches whose phases are given; None: skipped."""
    npm = ["npm", "ci", "--silent", "--ignore-scripts"]
    if not _installed("boardgame.io", HERE / "node_modules", [npm]):
        return None
    document = {
        "matches": [
            {"choices": [[_move(a), _move(b)] for a, b in movements], "phases": phases}
            for movements, phases in matches[:BOARDGAME_MATCHES]
        ],
        "table": {
            f"{phase} {_move(a)} {_move(b)}": [met.outcome, met.effect._asdict()]
            for (phase, a, b), met in meetings(
                GOD_V1.sun_wild_steals,
                GOD_V1.earth_wild_steals,
                GOD_V1.core_loser_to_alpha_gains_wild,
                GOD_V1.tie_keeps_power_moves,
                GOD_V1.tribute_returned_on_win,
            ).items()
            if not any(choice and choice.tribute for choice in (a, b))
        },
        "cost": {**MOVE_COST, "none": (0, 0)},
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(document, file)
        file.flush()
        return _rate(["node", HERE / "boardgame.mjs", file.name])


def pettingzoo() -> float | None:
    """Movements a second of processor time, of two steps each; None if it was skipped."""
    python = VENV / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--requirement", REQUIREMENTS]
    if not _installed("PettingZoo", VENV, [[sys.executable, "-m", "venv", VENV], pip]):
        return None
    return _rate([python, HERE / "pettingzoo_rps.py", str(PETTINGZOO_MOVEMENTS)])


def _move(choice: Choice | None) -> str:
    return choice.move if choice else "none"


def _installed(name: str, place: Path, commands: list[list[Any]]) -> bool:
    """Whether it is there, now at the latest."""
    stamp = place / ".installed"
    if stamp.exists():
        return True
    say(f"engine: installing {name}")
    for command in commands:
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
        if done.returncode:
            say(f"SKIPPED: {name}: {done.stderr.strip()[-300:]}")
            return False
    stamp.touch()
    return True


def _rate(command: list[Any]) -> float | None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        say(f"SKIPPED: {command[1]} failed: {done.stderr.strip()[-300:]}")
        return None
    counted = json.loads(done.stdout.splitlines()[-1])
    return float(counted["movements"] / counted["seconds"])
