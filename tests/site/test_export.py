"""The export of one's own data: all of it, nobody else's, and no secret."""

import json

import pytest
from rest_framework.test import APIClient

from bas_site import export
from contracts.models import Withdrawal
from matches import lobby, own_data
from matches.sealing import unseal
from tests.matches.helpers import PAPER, ROCK, SCISSORS, Table, player
from tests.site.admin_world import a_chain, a_deposit, a_vault, number
from wallets.export import in_batches, own_statement
from wallets.login import issue_token

# Between two pieces of an answer its connection is closed, a test's transaction or not.
pytestmark = pytest.mark.django_db(transaction=True)
ignore_sync = pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")


def client_for(wallet):
    client = APIClient()
    client.force_authenticate(user=wallet)
    return client


def exported(wallet):
    answer = client_for(wallet).get("/api/v1/export")
    assert answer.status_code == 200
    assert answer.is_async  # a server that speaks ASGI would gather a synchronous one in memory
    return b"".join(answer).decode()


def a_withdrawal(vault, wallet):
    return Withdrawal.objects.create(
        wallet=wallet, token=vault.tokens.first(), credits=5, amount=5, voucher=number()
    )


@pytest.fixture
def table():
    """A running match of two players who both have something of everything."""
    table, vault = Table(), a_vault(a_chain())
    table.tokens = {}
    for side, wallet in table.wallets.items():
        table.tokens[side], _ = issue_token(wallet=wallet, name=f"program of {side}")
        a_deposit(vault, wallet)
        a_withdrawal(vault, wallet)
    return table


@ignore_sync
def test_it_has_all_that_the_other_calls_show(table):
    wallet = table.wallets["a"]
    lobby.create_match(wallet=wallet, stake=7, visibility="invitation")
    client, data = client_for(wallet), json.loads(exported(wallet))

    def shown(path):
        return client.get(f"/api/v1/{path}").json()

    assert data["wallet"] == shown("auth/me")
    assert data["record"] == shown(f"players/{wallet.address}")
    for name, path in (("deposits", "deposits"), ("withdrawals", "withdrawals")):
        assert data[name] == shown(path)["results"]
        assert len(data[name]) == 1
    lines = shown("credits/statement")["results"]
    assert [line["balance"] for line in data["statement"]] == [x["balance"] for x in lines][::-1]
    logins = [row | {"current": False} for row in shown("auth/logins")]
    assert data["logins"] == logins
    assert [login["name"] for login in logins] == ["program of a"]
    cards = [{k: m[k] for k in m if k not in ("you", "choices")} for m in data["matches"]]
    assert cards == shown("matches?mine=true")["results"][::-1]
    assert set(data) == {"wallet", "record", *export.LISTS}


@ignore_sync
def test_ones_own_choices_are_in_it_once_their_movement_is_over(table):
    table.movement(PAPER, ROCK)
    table.play("b", ROCK)
    table.miss()
    table.play("a", SCISSORS)
    (match,) = json.loads(exported(table.wallets["a"]))["matches"]
    assert match["choices"] == [
        {"movement": 1, "choice": {"move": "paper", "tribute": None}},
        {"movement": 2, "choice": None},
    ]
    (match,) = json.loads(exported(table.wallets["b"]))["matches"]
    assert [row["choice"]["move"] for row in match["choices"]] == ["rock", "rock"]


@ignore_sync
def test_nothing_of_another_wallet_and_no_secret_is_in_it(table):
    stranger = Table()
    table.movement(ROCK, ROCK)
    table.play("a", SCISSORS)
    table.play("b", ROCK) if table.state.movement > 2 else table.lock_in("b", PAPER)
    text = exported(table.wallets["a"])
    other = table.wallets["b"]
    theirs = [
        *(wallet.address for wallet in stranger.wallets.values()),
        other.deposits.get().tx_hash,
        "program of b",
        str(stranger.id),
        f"stake:{table.id}:b",
    ]
    secrets = [
        *table.tokens.values(),
        *(bytes(t.token_hash).hex() for t in table.wallets["a"].tokens.all()),
        unseal(table.now().sealed_secret),
        table.now().invitation,
        *(unseal(lock.sealed_choice)["salt"] for lock in table.now().lock_ins.filter(side="a")),
        *table.salts.values(),
        "scissors",
        "paper",
        "salt",
    ]
    for word in (*theirs, *secrets):
        assert word not in text, word
    assert text.count(other.address) == 1  # as the opponent


@ignore_sync
def test_without_a_login_there_is_none_and_a_newcomers_is_empty():
    assert APIClient().get("/api/v1/export").status_code == 401
    data = json.loads(exported(player(0)))
    assert [data[name] for name in export.LISTS] == [[]] * 5


@ignore_sync
def test_it_is_read_in_pieces_that_join_without_a_gap(monkeypatch):
    wallet = player()
    for stake in range(1, 6):
        lobby.create_match(wallet=wallet, stake=stake, visibility="open")
    monkeypatch.setattr(own_data, "BATCH", 2)
    pieces = list(export.written(wallet))
    assert [m["stake"] for m in json.loads("".join(pieces))["matches"]] == [1, 2, 3, 4, 5]
    assert [piece.count('"stake"') for piece in pieces if '"stake":' in piece] == [2, 2, 1]
    (postings,) = own_statement(wallet)
    assert len(postings) == 6
    batches = list(in_batches(wallet.seats.all(), size=4))
    assert [len(batch) for batch in batches] == [4, 1]
