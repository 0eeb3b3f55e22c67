"""The API's good cases: a whole way from a new match to its end, over HTTP."""

import hashlib

import pytest
from rest_framework.test import APIClient

from engine import Ape
from tests.matches.helpers import PAPER, ROCK, Table, available, player
from wallets.login import issue_token

pytestmark = pytest.mark.django_db(transaction=True)
SALT = "5a" * 32


@pytest.fixture
def bearer():
    """A client of the API that logs in with a real bearer token."""

    def make(wallet):
        text, _ = issue_token(wallet=wallet, name="test")
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
        return client

    return make


def posted(client, path, body=None, status=200, **headers):
    answer = client.post(f"/api/v1/matches{path}", body or {}, headers=headers)
    assert answer.status_code == status, answer.content
    return answer.json()


def test_two_programs_meet_fight_and_one_is_paid(bearer):
    wallets = {"a": player(), "b": player()}
    a, b = (bearer(wallet) for wallet in wallets.values())
    made = posted(a, "", {"stake": 100, "visibility": "invitation"}, status=201)
    path = f"/{made['id']}"
    joined = posted(b, f"{path}/join", {"invitation": made["invitation"]})
    assert (joined["you"], joined["status"], joined["invitation"]) == ("b", "running", None)
    assert joined["players"] == {side: wallet.address for side, wallet in wallets.items()}

    text = f"bas:{made['id']}:1:a:paper:none:{SALT}"
    commitment = hashlib.sha256(text.encode()).hexdigest()
    table = posted(a, f"{path}/moves", {"movement": 1, "commitment": commitment})
    assert table["play"]["apes"]["a"]["locked_in"]
    table = posted(b, f"{path}/moves", {"movement": 1, "move": "rock"})
    assert table["play"]["stage"] == "reveal"
    table = posted(a, f"{path}/reveals", {"movement": 1, "move": "paper", "salt": SALT})
    assert table["play"]["last_movement"] == {
        "movement": 1,
        "a": {"move": "paper", "tribute": None},
        "b": {"move": "rock", "tribute": None},
    }
    assert (table["play"]["movement"], table["play"]["apes"]["a"]["alphas"]) == (2, 1)

    for _ in range(2):
        table = posted(b, f"{path}/resign")
        assert (table["winner"], table["ended_by"]) == ("a", "resigned")
    assert hashlib.sha256(bytes.fromhex(table["server_secret"])).hexdigest() == made["secret_hash"]
    assert a.get("/api/v1/credits").json()["available"] == available(wallets["a"]) == 1_095
    mine = b.get("/api/v1/matches", {"mine": "true"}).json()["results"]
    assert [card["id"] for card in mine] == [made["id"]]


def test_without_a_login_nothing_is_shown(db):
    table = Table()
    for path in ("", f"/{table.id}"):
        answer = APIClient().get(f"/api/v1/matches{path}")
        assert answer.status_code == 401
        assert answer.json()["code"] == "not_authenticated"
    for call in ("join", "cancel", "resign", "moves", "reveals", "potions"):
        assert APIClient().post(f"/api/v1/matches/{table.id}/{call}").status_code == 401


def test_a_repeat_with_the_same_key_is_carried_out_once(client_of):
    maker, rival = player(), player()
    key = {"Idempotency-Key": "mine"}
    body = {"stake": 10}
    first = posted(client_of(maker), "", body, status=201, **key)
    assert posted(client_of(maker), "", body, status=201, **key) == first
    posted(client_of(maker), "", {"stake": 11}, status=409, **key)
    joined = posted(client_of(rival), f"/{first['id']}/join", **key)
    assert posted(client_of(rival), f"/{first['id']}/join", **key) == joined
    assert (available(maker), available(rival)) == (990, 990)


def test_a_join_that_failed_may_be_tried_again_with_the_same_key(client_of):
    maker, poor = player(), player(0)
    match = posted(client_of(maker), "", {"stake": 10}, status=201)
    key = {"Idempotency-Key": "mine"}
    refused = posted(client_of(poor), f"/{match['id']}/join", status=409, **key)
    assert refused["code"] == "insufficient_credits"
    refused = posted(client_of(poor), f"/{match['id']}/join", status=409, **key)
    assert refused["code"] == "insufficient_credits"


def test_a_potion_asked_for_twice_with_the_same_key_is_one(client_of):
    table = Table()
    table.put(a=Ape(health=3, potions=3))
    client = client_of(table.wallets["a"])
    for _ in range(2):
        posted(client, f"/{table.id}/potions", **{"Idempotency-Key": "sip"})
    assert table.state.a.potions == 2
    posted(client, f"/{table.id}/potions")
    assert table.state.a.potions == 1


def test_the_maker_cancels_and_has_the_stake_back(client_of):
    maker = player()
    made = posted(client_of(maker), "", {"stake": 10}, status=201)
    for _ in range(2):
        cancelled = posted(client_of(maker), f"/{made['id']}/cancel")
        assert (cancelled["status"], cancelled["play"]) == ("cancelled", None)
    assert available(maker) == 1_000


def test_a_late_message_gets_the_running_movement_and_the_deadline_stays_applied(client_of):
    table = Table()
    table.play("b", ROCK)
    table.pass_deadline()
    body = {"movement": 1, "move": "paper"}
    refused = posted(client_of(table.wallets["a"]), f"/{table.id}/moves", body, status=409)
    assert (refused["code"], refused["movement"]) == ("stale_movement", 2)
    assert (table.state.movement, table.state.outcome) == (2, "b")


def test_a_running_match_is_shown_up_to_date(client_of):
    table = Table()
    table.play("a", PAPER)
    table.pass_deadline()
    shown = client_of(player()).get(f"/api/v1/matches/{table.id}").json()
    assert (shown["play"]["movement"], shown["play"]["last_movement"]["b"]) == (2, None)
