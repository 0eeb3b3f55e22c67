"""Fixtures for every test; bas_site.devstack.pytest_plugin starts PostgreSQL and Valkey before."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bas_site.devstack import ChainNode
from bas_site.devstack.chain_nodes import chosen_chain_node


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> None:
    """Let the flush after a transactional test empty the ledger's tables too.

    Triggers there refuse TRUNCATE to everybody, as they should. A session in the role of a replica
    fires no triggers; only a superuser may take that role, and only the test database is touched.
    """
    from django.db import connections, transaction

    def flush_as_replica(connection: Any) -> None:
        execute_sql_flush = connection.ops.execute_sql_flush

        def execute(sql_list: list[str]) -> None:
            if not connection.settings_dict["NAME"].startswith("test_"):
                raise RuntimeError("Only a test database may be flushed.")
            with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
                cursor.execute("SET LOCAL session_replication_role = replica")
                execute_sql_flush(sql_list)

        connection.ops.execute_sql_flush = execute

    for connection in connections.all():
        flush_as_replica(connection)


@pytest.fixture(scope="session")
def chain_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChainNode]:
    """A chain of this worker's own that mines each transaction at once."""
    root = os.environ.get("DEVSTACK_ROOT")
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    folder = Path(root) / worker if root else tmp_path_factory.mktemp("chain_node")
    with chosen_chain_node()(folder, keep=False) as chain:
        yield chain


@pytest.fixture
def chain(chain_node: ChainNode) -> Iterator[ChainNode]:
    """The worker's chain; what a test does to it is undone after the test."""
    snapshot = chain_node.rpc("evm_snapshot")
    yield chain_node
    chain_node.rpc("evm_revert", snapshot)


@pytest.fixture(autouse=True)
def usual_recursion_limit() -> None:
    """Start each test under Python's usual limit; hypothesis leaves a higher one behind.

    Under a higher one, deeply nested JSON runs out of stack instead of being refused.
    """
    sys.setrecursionlimit(1_000)
