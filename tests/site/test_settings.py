"""Settings that make no sense stop the start with a sentence that names them."""

import os
import subprocess
import sys

import pytest

from bas_site.devstack.service import PROJECT


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [
        ("MATCH_GRACE_SECONDS", "-0.5", 0),
        ("MATCH_MAX_REPLACEMENTS", "-1", 0),
        ("MATCH_OPEN_SECONDS", "0", 1),
        ("MATCH_LOCK_SECONDS", "0", 1),
    ],
)
def test_a_match_setting_below_its_least_stops_the_start(name: str, value: str, least: int):
    done = subprocess.run(
        [sys.executable, "-c", "import bas_site.settings"],
        cwd=PROJECT,
        env={**os.environ, name: value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(f"{name} is {value}; it must be {least} or more.")


PRODUCTION = {
    "BAS_ENV": "production",
    "SECRET_KEY": "a",
    "FIELD_KEY": "b",
    "SITE_URL": "https://play.example.org",
    "VALKEY_URL": "redis://127.0.0.1:1/0",
    "CHAIN_RPC_URLS": "http://127.0.0.1:1",
}


@pytest.mark.parametrize(
    ("name", "env", "value"),
    [
        ("OPERATOR_TWO_FACTOR", PRODUCTION, True),
        ("OPERATOR_TWO_FACTOR", PRODUCTION | {"OPERATOR_TWO_FACTOR": "off"}, False),
        ("OPERATOR_TWO_FACTOR", {"BAS_ENV": "development"}, False),
        ("CHAIN_STILL_SECONDS", PRODUCTION, 1_800),
        ("CHAIN_STILL_SECONDS", {"BAS_ENV": "development"}, 0),
    ],
)
def test_production_is_stricter_than_development(name: str, env: dict[str, str], value: object):
    done = subprocess.run(
        [sys.executable, "-c", f"import bas_site.settings as s; print(s.{name})"],
        cwd=PROJECT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == str(value), done.stderr
