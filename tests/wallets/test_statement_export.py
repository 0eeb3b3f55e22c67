"""Statements as files."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from tests.wallets.ledger_helpers import new_escrow, new_wallet
from wallets import ledger
from wallets.export import as_csv
from wallets.models import Transfer

pytestmark = pytest.mark.django_db


@pytest.fixture
def wallet():
    wallet = new_wallet(100)
    ledger.move(
        kind=Transfer.Kind.STAKE,
        key="stake:1",
        source=ledger.player_account(wallet),
        target=new_escrow(),
        amount=30,
    )
    return wallet


def export(wallet, form, tmp_path):
    path = tmp_path / "statement"
    call_command("statement", wallet.address.lower(), "--format", form, "--output", str(path))
    return path.read_bytes().decode()


def test_a_csv_has_a_line_for_each_change_with_the_balance_it_left(wallet, tmp_path):
    rows = list(csv.DictReader(io.StringIO(export(wallet, "csv", tmp_path))))
    assert [(row["kind"], row["amount"], row["balance"]) for row in rows] == [
        ("deposit", "100", "100"),
        ("stake", "-30", "70"),
    ]


def test_json_has_the_same_lines(wallet, tmp_path):
    rows = [json.loads(line) for line in export(wallet, "json", tmp_path).splitlines()]
    assert [(row["cause"], row["amount"], row["balance"]) for row in rows][1] == (
        "stake:1",
        -30,
        70,
    )


def test_a_wallet_without_a_history_has_a_csv_with_the_column_names(tmp_path):
    assert export(new_wallet(), "csv", tmp_path).strip() == (
        "id,created_at,kind,cause,memo,amount,balance"
    )


def test_text_that_a_spreadsheet_would_run_is_marked_as_text():
    row = {"id": 1, "created_at": "", "kind": "", "cause": "", "memo": "=1+1", "amount": -5}
    assert "'=1+1,-5" in "".join(as_csv([row | {"balance": 0}]))


@pytest.mark.parametrize("address", ["nonsense", "0x" + "12" * 20])
def test_an_unknown_address_is_said_so(address, db):
    with pytest.raises(CommandError, match=address):
        call_command("statement", address)


@pytest.mark.parametrize(
    ("form", "content_type"), [("csv", "text/csv"), ("json", "application/x-ndjson")]
)
def test_a_player_gets_the_own_statement_as_a_file(wallet, form, content_type, tmp_path):
    client = APIClient()
    client.force_authenticate(wallet)
    response = client.get(f"/api/v1/credits/statement.{form}")
    assert response.headers["Content-Type"] == content_type
    assert response.headers["Content-Disposition"] == f'attachment; filename="statement.{form}"'
    assert response.headers["Cache-Control"] == "no-store"
    assert response.content.decode() == export(wallet, form, tmp_path)
    stranger = APIClient()
    stranger.force_authenticate(new_wallet())
    assert "stake" not in stranger.get(f"/api/v1/credits/statement.{form}").content.decode()


def test_there_is_no_other_kind_of_file_and_none_for_strangers(wallet):
    client = APIClient()
    assert client.get("/api/v1/credits/statement.csv").status_code == 401
    client.force_authenticate(wallet)
    assert client.get("/api/v1/credits/statement.exe").json()["code"] == "not_found"
