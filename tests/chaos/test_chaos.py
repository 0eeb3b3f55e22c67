import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]
# Of the stack that the other tests run on: chaos has its own, whose database it restarts.
OF_THE_STACK = ("DATABASE", "VALKEY", "CHAIN", "DEVSTACK", "DJANGO")


def test_a_short_run_of_chaos_ends_with_the_credits_that_the_chain_tells():
    env = {name: value for name, value in os.environ.items() if not name.startswith(OF_THE_STACK)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos", "--seeds", "7", "--deposits", "25"],
        cwd=PROJECT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 seeds passed: " in done.stdout
