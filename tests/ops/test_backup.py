"""A database restored from yesterday, into an empty server, is sound and catches up by itself."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from bas_site.devstack.postgres import Postgres, postgres_binaries
from bas_site.devstack.service import PROJECT
from tests.contracts.conftest import house, world  # noqa: F401
from tests.contracts.withdraw_world import House
from tests.ops.commands import run

pytestmark = pytest.mark.django_db(transaction=True)

BALANCES = """
    SELECT w.address, ledger_balance(a.id)::int FROM wallets_account a
    JOIN wallets_wallet w ON w.id = a.wallet_id WHERE a.kind = 'available'
"""


class Restored:
    """The restored database, on a server of its own."""

    def __init__(self, server: Postgres) -> None:
        self.server = server
        self.url = server.url("bas_owner")

    def restore(self, dump: Path) -> None:
        """The second command of docs/ops/backup.md."""
        self._run(
            "pg_restore", "--exit-on-error", "--no-owner", "--no-acl", "--dbname", self.url, dump
        )

    def manage(self, *arguments: str, settings: Any) -> str:
        env = os.environ | {
            "DATABASE_URL": self.url,
            "DATABASE_APP_ROLE": "bas_app",
            "CHAIN_RPC_URLS": settings.CHAIN_RPC_URLS[0],
            "CHAIN_ACCEPT_NEW": "off",
        }
        return self._run(sys.executable, "manage.py", *arguments, env=env)

    def balances(self) -> dict[str, int]:
        with psycopg.connect(self.url) as there:
            return dict(there.execute(BALANCES).fetchall())

    @staticmethod
    def dump(to: Path) -> None:
        """The first command of docs/ops/backup.md."""
        here = connection.settings_dict
        url = f"postgresql://{here['USER']}:{here['PASSWORD']}@{here['HOST']}:{here['PORT']}"
        Restored._run("pg_dump", "--format=custom", "--file", to, f"{url}/{here['NAME']}")

    @staticmethod
    def _run(program: str, *arguments: str | Path, env: dict[str, str] | None = None) -> str:
        if program.startswith("pg_"):
            program = str(postgres_binaries() / program)
        return run([program, *arguments], folder=PROJECT, env=env)


@pytest.fixture
def restored(tmp_path: Path) -> Iterator[Restored]:
    """An empty server."""
    with Postgres(tmp_path / "elsewhere") as server:
        yield Restored(server)


def test_what_happened_on_the_chain_since_the_backup_is_read_again(
    house: House,  # noqa: F811
    restored: Restored,
    tmp_path: Path,
    settings: Any,
):
    ann, bob, eve = house.world.players[:3]
    house.fund(ann, 10)
    house.fund(bob, 10)
    redeemed_later, open_still = house.signed(ann, 3), house.signed(bob, 2)
    restored.dump(tmp_path / "yesterday.dump")
    # Today, which the backup knows nothing of: deposits, and a voucher of yesterday redeemed.
    house.fund(ann, 5)
    house.fund(eve, 7)
    house.redeem(redeemed_later)
    house.confirm()
    assert house.world.credits(ann) == 12

    restored.restore(tmp_path / "yesterday.dump")
    restored.manage("migrate", "--no-input", settings=settings)
    assert restored.balances() == {ann: 7, bob: 8}
    restored.manage("watch_chain", "--once", settings=settings)

    assert restored.balances() == {ann: 12, bob: 8, eve: 7}
    with psycopg.connect(restored.url) as there:
        rows = there.execute("SELECT id, status FROM contracts_withdrawal").fetchall()
        grants = there.execute(
            "SELECT has_table_privilege('bas_app', 'wallets_posting', 'SELECT'),"
            " has_table_privilege('bas_app', 'wallets_posting', 'INSERT')"
        ).fetchone()
    assert dict(rows) == {redeemed_later.pk: "paid", open_still.pk: "signed"}
    # `migrate` gives the application's role what it needs, and no way to write the ledger.
    assert grants == (True, False)
    assert "off" not in restored.manage("audit", "--full", settings=settings)


def test_a_backup_with_a_bent_balance_is_found_by_the_audit(
    house: House,  # noqa: F811
    restored: Restored,
    tmp_path: Path,
    settings: Any,
):
    house.fund(house.world.players[0], 10)
    restored.dump(tmp_path / "bent.dump")
    restored.restore(tmp_path / "bent.dump")
    with psycopg.connect(restored.server.url("postgres")) as there:
        there.execute("SET session_replication_role = replica")
        there.execute("UPDATE contracts_deposit SET credits = credits + 1")
    with pytest.raises(AssertionError, match="The audit is red"):
        restored.manage("audit", "--full", settings=settings)
