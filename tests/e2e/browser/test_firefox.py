"""The same site in Firefox."""

import subprocess

import pytest

from bas_site.devstack.service import PROJECT
from bas_site.devstack.stack import Stack

pytestmark = pytest.mark.xdist_group("stack")
SCRIPT = PROJECT / "tests" / "e2e" / "browser" / "firefox.mjs"
SECONDS = 300


def test_every_page_a_deposit_and_a_movement_in_firefox(stack: Stack, firefox: str) -> None:
    command = ["node", str(SCRIPT), stack.url, firefox]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
