"""Programs that a page or a file tells an operator to run."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run(
    command: Sequence[str | Path], *, folder: Path, env: Mapping[str, str] | None = None
) -> str:
    """Run a program to its end, which must be a good one; what it printed."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout
