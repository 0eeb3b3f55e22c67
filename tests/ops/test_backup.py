"""A database restored from yesterday, into an empty server, is sound and catches up by itself."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from django.db import connection
from eth_account import Account
from web3 import Web3
from web3.exceptions import ContractCustomError

from bas_site.devstack.postgres import Postgres, postgres_binaries
from bas_site.devstack.service import PROJECT
from contracts.models import Redemption
from contracts.redemptions import explain_redemption
from contracts.withdrawals import request_withdrawal
from tests.contracts.conftest import house, world  # noqa: F401
from tests.contracts.withdraw_world import House, operator, status
from tests.contracts.world import PRICE
from tests.ops.commands import run
from wallets.accounts import thaw_wallet, wallet_for
from wallets.adjustments import approve_adjustment, propose_adjustment
from wallets.errors import ServicePaused, WalletFrozen

pytestmark = pytest.mark.django_db(transaction=True)

BALANCES = """
    SELECT w.address, ledger_balance(a.id)::int FROM wallets_account a
    JOIN wallets_wallet w ON w.id = a.wallet_id WHERE a.kind = 'available'
"""
INCIDENTS = (PROJECT / "docs" / "ops" / "incidents.md").read_text()
# What docs/ops/backup.md runs beside the database, in its order, and what each is fed.
DUMP, EMPTY, RESTORE = re.findall(
    r"docker compose exec -T postgres sh -c \\\n  '([^']+)'(?: <<'SQL'\n(.+?)SQL$)?",
    (PROJECT / "docs" / "ops" / "backup.md").read_text(),
    re.MULTILINE | re.DOTALL,
)


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

    def told_to(self, words: str, *more: str, settings: Any) -> str:
        """Run a command that the page about restoring names."""
        assert f"manage.py {words}" in INCIDENTS
        return self.manage(*words.split(), *more, settings=settings)

    @contextmanager
    def as_the_site(self) -> Iterator[None]:
        """What runs here meanwhile is the site on the restored database."""
        here = connection.settings_dict.copy()
        there = psycopg.conninfo.conninfo_to_dict(self.server.url("bas_app"))
        names = {"user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
        connection.close()
        connection.settings_dict |= {names.get(n, "NAME"): value for n, value in there.items()}
        try:
            yield
        finally:
            connection.close()
            connection.settings_dict |= here

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


def beside(url: str, command: tuple[str, str], given: bytes = b"") -> bytes:
    """Run what the page runs in the database's container; what it printed."""
    there = psycopg.conninfo.conninfo_to_dict(url)
    script, sql = command
    done = subprocess.run(
        ["sh", "-euc", script],
        input=sql.encode() or given,
        capture_output=True,
        check=False,
        env={
            "PATH": f"{postgres_binaries()}:{os.environ['PATH']}",
            "PGHOST": cast(str, there["host"]),
            "PGPORT": str(there["port"]),
            "PGPASSWORD": cast(str, there["password"]),
            "POSTGRES_USER": cast(str, there["user"]),
            "POSTGRES_DB": cast(str, there["dbname"]),
        },
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_what_was_withdrawn_since_the_backup_is_not_paid_twice(
    house: House,  # noqa: F811
    restored: Restored,
    settings: Any,
):
    """The steps of docs/ops/incidents.md, one by one."""
    ann, bob = house.world.players[:2]
    house.fund(ann, 10)
    house.fund(bob, 10)
    boss = operator("pause_service", "propose_adjustment", "explain_redemption", "freeze_wallet")
    second = operator("decide_adjustment")
    here = connection.settings_dict
    url = f"postgresql://{here['USER']}:{here['PASSWORD']}@{here['HOST']}:{here['PORT']}"
    yesterday = beside(f"{url}/{here['NAME']}", DUMP)
    # Today, which the backup knows nothing of: one voucher is redeemed, another is not yet.
    house.redeem(house.signed(ann, 4))
    withdrawal = house.signed(bob, 3)
    forgotten = house.call(withdrawal)
    house.confirm()
    coins = {player: house.coins(player) for player in (ann, bob)}

    house.own("pause")
    house.world.confirm()
    restored.url = restored.server.url("postgres")  # as where compose.yaml's database is
    beside(restored.url, EMPTY)
    beside(restored.url, RESTORE, yesterday)
    restored.manage("migrate", "--no-input", settings=settings)
    by = ("--operator", str(boss), "--reason", "A backup is being restored.")
    restored.told_to("service pause withdrawals matches", *by, settings=settings)
    house.key = Account.create()
    house.own("setSigner", house.key.address)
    with pytest.raises(AssertionError, match="1 redemptions have no reason in the books"):
        restored.told_to("watch_chain --once", settings=settings)

    # All credits are there as yesterday, and nobody gets at them.
    assert restored.balances() == {ann: 10, bob: 10}
    with restored.as_the_site():
        for player in (ann, bob):
            with pytest.raises(ServicePaused):
                house.ask(player)
        redemption = Redemption.objects.get()
        assert (redemption.player, redemption.withdrawal) == (ann, None)
    restored.told_to("service resume withdrawals matches", *by, settings=settings)
    with restored.as_the_site():
        wallet = wallet_for(ann)
        with pytest.raises(WalletFrozen):
            request_withdrawal(wallet=wallet, credits_=1)
        taken = propose_adjustment(operator=boss, wallet=wallet, amount=-4, reason="as redeemed")
        approve_adjustment(operator=second, adjustment_id=taken.pk)
        explain_redemption(operator=boss, redemption_id=redemption.pk, explanation="restored")
        thaw_wallet(operator=boss, wallet_id=wallet.pk)
    assert "off" not in restored.told_to("audit --full", settings=settings)

    house.own("unpause")
    wrong_signer = Web3.to_hex(Web3.keccak(text="WrongSigner(address)")[:4])
    with pytest.raises(ContractCustomError, match=wrong_signer):
        forgotten.call({"from": house.relayer})
    with restored.as_the_site():
        for player, left in ((ann, 6), (bob, 10)):
            voucher = house.signed(player, left)
            house.redeem(voucher)
            house.confirm()
            assert status(voucher) == "paid"
    # Each has taken out what each had put in, once, and the vault is empty.
    gained = {player: house.coins(player) - coins[player] for player in (ann, bob)}
    assert gained == {ann: 6 * PRICE, bob: 10 * PRICE}
    assert house.coins(house.world.vault.address) == 0
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
