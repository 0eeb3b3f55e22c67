"""While new matches are paused nobody gets into one, and those that run are played on."""

import pytest
from django.contrib.auth.models import Permission
from rest_framework.test import APIClient

from matches import lobby
from tests.matches.helpers import PAPER, ROCK, Table, available, player
from wallets.models import Service, Wallet
from wallets.services import pause_service, resume_service

pytestmark = pytest.mark.django_db
MATCHES = Service.Name.MATCHES


@pytest.fixture
def operator() -> Wallet:
    operator = Wallet.objects.create(username="ann", is_staff=True)
    operator.user_permissions.add(Permission.objects.get(codename="pause_service"))
    return operator


WAYS_IN = (
    ("matches", {"stake": 5}),
    ("matches/quick", {"stake": 5}),
    ("matches/practice", {"ape": "boxer"}),
    ("matches/{open}/join", {}),
    ("matches/{played}/rematch", {}),
)


@pytest.mark.parametrize(("path", "body"), WAYS_IN, ids=[path for path, _ in WAYS_IN])
def test_no_way_leads_into_a_new_match_while_they_are_paused(operator, path, body):
    played = Table()
    played.resign("a")
    wallet = played.wallets["b"]
    waiting = lobby.create_match(wallet=player(), stake=5, visibility="open")
    before = available(wallet)
    pause_service(operator=operator, name=MATCHES, reason="we move house")
    client = APIClient()
    client.force_authenticate(wallet)
    address = "/api/v1/" + path.format(open=waiting.pk, played=played.id)

    answer = client.post(address, body)

    assert answer.status_code == 409
    problem = answer.json()
    assert (problem["code"], problem["service"]) == ("service_paused", "matches")
    assert problem["detail"] == "New matches are paused: we move house"
    assert available(wallet) == before
    resume_service(operator=operator, name=MATCHES)
    assert client.post(address, body).status_code in (200, 201)


def test_a_running_match_is_played_on_and_an_open_one_taken_back(operator):
    table, waiting = Table(), lobby.create_match(wallet=player(), stake=5, visibility="open")
    owner = waiting.seats.get().wallet
    pause_service(operator=operator, name=MATCHES, reason="we move house")

    table.movement(PAPER, ROCK)
    assert table.state.movement == 2
    lobby.cancel_match(wallet=owner, match_id=waiting.pk)
    assert available(owner) == 1_000
