import os
import re
import subprocess
import sys

import pytest

from bas_site.demo import PROJECT
from bas_site.devstack.stack import Stack

pytestmark = pytest.mark.xdist_group("stack")

README_EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def run(stack: Stack, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=PROJECT,
        env={**stack.env, "BAS_URL": stack.url, "PYTHONPATH": "clients/python"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_demo_plays_the_main_job_and_every_figure_is_right(stack: Stack) -> None:
    done = run(stack, "-m", "bas_site.demo")
    assert "Every figure is what it must be." in done.stdout, done.stdout
    assert "The audit's exit status is 0." in done.stdout, done.stdout
    assert done.returncode == 0
    for step in ("signs in", "deposits 0.12 ETH", "deposits 85 TUSD", "wins and is paid"):
        assert step in done.stdout
    assert re.search(r"deposit: 3 of 3 confirmations, credited", done.stdout)


def test_the_clients_example_runs_as_it_is_printed(stack: Stack) -> None:
    (example,) = README_EXAMPLE.findall((PROJECT / "clients/python/README.md").read_text())
    done = run(stack, "-c", example)
    assert done.returncode == 0, done.stdout
    assert "409 too_early" in done.stdout
    assert "won by a Credits(available=25, in_play=0, pending_withdrawal=0)" in done.stdout


def test_the_client_stands_alone(stack: Stack) -> None:
    code = "import bas_client, sys; print(*{m.partition('.')[0] for m in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=PROJECT / "clients" / "python",
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    ours = {"bas_site", "wallets", "contracts", "matches", "engine", "django", "web3"}
    assert not ours & set(done.stdout.split())
