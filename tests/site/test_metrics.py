"""What Prometheus is told without a database: that, and what the process itself has counted."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client

from bas_site.devstack.ports import free_port
from bas_site.devstack.service import PROJECT
from tests.ops.promql import Scrape

pytestmark = pytest.mark.django_db(transaction=True)
POOLED = {"min_size": 0, "max_size": 2, "timeout": 30}


@pytest.fixture(params=[None, POOLED], ids=["without a pool", "with a pool"])
def no_database(request: pytest.FixtureRequest) -> Iterator[None]:
    """Nobody listens where it was."""
    with pytest.MonkeyPatch.context() as elsewhere:
        connection.close()
        elsewhere.setitem(connection.settings_dict, "PORT", str(free_port()))
        elsewhere.setitem(connection.settings_dict["OPTIONS"], "pool", request.param)
        yield
        connection.close_pool()
    connection.close()


def told() -> list[str]:
    answer = Client().get("/metrics")
    assert answer.status_code == 200
    return answer.content.decode().splitlines()


def test_without_a_database_that_is_told_soon_and_what_was_counted_is_not_lost(no_database: None):
    Client().get("/nowhere")
    began = time.monotonic()
    lines = told()
    assert time.monotonic() - began < 5  # Prometheus waits for ten seconds
    assert "bas_database_up 0.0" in lines
    assert any(line.startswith('bas_problems_total{code="not_found"') for line in lines)


def test_a_probe_is_answered_soon_without_a_database(no_database: None):
    began = time.monotonic()
    assert Client().get("/readyz").json()["database"] == "failed"
    assert time.monotonic() - began < 5


def test_what_can_be_read_is_told_where_a_table_is_missing():
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE contracts_node RENAME TO gone")
        try:
            lines = told()
        finally:
            cursor.execute("ALTER TABLE gone RENAME TO contracts_node")
    assert "bas_database_up 0.0" in lines
    assert "bas_match_overdue_seconds 0.0" in lines
    assert "bas_database_up 1.0" in told()


@pytest.mark.parametrize("shares_its_counts", [False, True])
def test_a_new_process_tells_of_errors_before_the_first_so_that_the_first_is_an_increase(
    shares_its_counts: bool, tmp_path: Path
):
    first_scrape = """
import django
django.setup()
from django.test import Client
print(Client(headers={"Host": "localhost"}).get("/metrics").content.decode())
"""
    shared = {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)} if shares_its_counts else {}
    done = subprocess.run(
        [sys.executable, "-c", first_scrape],
        cwd=PROJECT,
        env={**os.environ, **shared, "DJANGO_SETTINGS_MODULE": "bas_site.settings"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    counted = Scrape(done.stdout).select("bas_problems_total").samples
    assert {
        (label["status"], label["code"], n)
        for labels, n in counted.items()
        if (label := dict(labels))
    } == {
        ("500", "server_error", 0),
        ("500", "ledger_refusal", 0),
        ("503", "try_again", 0),
    }
