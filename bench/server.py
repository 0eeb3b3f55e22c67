"""A throwaway Postgres as it would be in production: every commit is on the disk."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
from psycopg import sql

from bas_site.devstack.service import PROJECT
from bas_site.devstack.services import Services, remove_root, throwaway_root
from bench.report import say

DURABLE = ("fsync", "synchronous_commit", "full_page_writes")


@dataclass(frozen=True)
class Server:
    """The running server and the environment that leads to it."""

    services: Services

    @property
    def env(self) -> dict[str, str]:
        """The environment with the settings that lead to the server."""
        return {**os.environ, **self.services.env}

    def url(self, role: str, database: str = "bas") -> str:
        """The URL by which a role reaches a database."""
        return self.services.postgres.url(role, database)

    def superuser(self, database: str = "bas") -> psycopg.Connection:
        """A connection for preparing tables: with it no trigger fires."""
        return psycopg.connect(
            self.url("postgres", database),
            autocommit=True,
            options="-c session_replication_role=replica",
        )

    def create_database(self, name: str) -> None:
        """Create a database as the application's is, and migrate it as its owner."""
        with self.superuser("postgres") as connection:
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER bas_owner").format(sql.Identifier(name))
            )
        self.migrate(name)

    def migrate(self, database: str) -> None:
        """Bring about the application's tables."""
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
            cwd=PROJECT,
            env={**self.env, "DATABASE_URL": self.url("bas_owner", database)},
            check=True,
        )


@contextlib.contextmanager
def throwaway_server(*, with_chain: bool = False) -> Iterator[Server]:
    """Start a server of our own, point Django at it, and remove it with all its data at the end."""
    root = throwaway_root("bench")
    try:
        with Services(root, with_chain=with_chain) as services:
            server = Server(services)
            say("Migrating a new database.")
            server.migrate("bas")
            _refuse_unless_durable(server)
            # Nothing that is measured is to wait for a log.
            os.environ.update(services.env, LOG_LEVEL="CRITICAL")
            import django

            django.setup()
            yield server
    finally:
        remove_root(root)


def _refuse_unless_durable(server: Server) -> None:
    with server.superuser() as connection:
        for name in DURABLE:
            (value,) = connection.execute("SELECT current_setting(%s)", [name]).fetchone()
            if value != "on":
                raise RuntimeError(f"{name} is {value}: what is measured would not be durable")
