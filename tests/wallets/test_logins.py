"""The list of one's logins: what it shows, ending them, and what each kind of token may do."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine
from django.test import RequestFactory
from eth_account import Account
from rest_framework.test import APIClient

from tests.wallets.login_helpers import LOGOUT, ME, csrf, log_in, problem
from wallets.callers import address_of, network_of
from wallets.models import BearerToken, Session

pytestmark = pytest.mark.django_db
LOGINS, TOKENS = "/api/v1/auth/logins", "/api/v1/auth/tokens"
REVOKE_ALL = f"{LOGINS}/revoke"


@pytest.fixture
def ann():
    return Account.create()


def session(account, **headers):
    client = APIClient(enforce_csrf_checks=True, headers=headers)
    log_in(client, account)
    return client


def program(account, scope="play", name="a bot"):
    client = APIClient()
    log_in(client, account, token_name=name, token_scope=scope)
    return client


def logins(client):
    return client.get(LOGINS).json()


def current(client):
    (row,) = [row for row in logins(client) if row["current"]]
    return row


def revoke(client, login_id):
    return client.post(f"{LOGINS}/{login_id}/revoke", headers=csrf(client))


def test_each_login_is_listed_with_what_tells_it_from_the_others(ann):
    with time_machine.travel(datetime(2030, 1, 1, tzinfo=UTC), tick=False) as clock:
        program(ann, "read", name="a bot")
        clock.shift(60)
        client = session(ann, **{"User-Agent": "Firefox \x00\u202e\ud83d/1"})
        newest, oldest = logins(client)
    assert newest == newest | {
        "kind": "session",
        "current": True,
        "name": "",
        "scope": "money",
        "created_at": "2030-01-01T00:01:00Z",
        "last_used_at": "2030-01-01T00:01:00Z",
        "expires_at": "2030-01-15T00:01:00Z",
        "address_prefix": "127.0.0.0/24",
    }
    assert newest["user_agent"].startswith("Firefox ")
    assert newest["user_agent"].isprintable()
    assert oldest == oldest | {"kind": "token", "current": False, "name": "a bot", "scope": "read"}
    assert client.cookies["sessionid"].value not in str((newest, oldest))


def test_another_players_logins_are_not_listed(ann):
    session(Account.create())
    assert len(logins(session(ann))) == 1


def test_a_login_that_has_expired_is_not_listed(ann):
    with time_machine.travel(datetime(2030, 1, 1, tzinfo=UTC), tick=False) as clock:
        program(ann)
        clock.shift(timedelta(days=29))
        client = session(ann)
        assert len(logins(client)) == 2
        clock.shift(timedelta(days=1))
        assert [row["kind"] for row in logins(client)] == ["session"]


@pytest.mark.parametrize("log_in_as", [session, program])
def test_use_is_noted_every_few_minutes(ann, log_in_as, django_assert_num_queries):
    with time_machine.travel(datetime(2030, 1, 1, tzinfo=UTC), tick=False) as clock:
        client = log_in_as(ann)
        clock.shift(299)
        before = current(client)["last_used_at"]
        clock.shift(2)
        client.get(ME)
        assert current(client)["last_used_at"] == "2030-01-01T00:05:01Z"
        assert before == "2030-01-01T00:00:00Z"


def test_one_login_is_revoked_and_no_other(ann):
    client, other, bot = session(ann), session(ann), program(ann)
    assert revoke(client, current(other)["id"]).status_code == 204
    problem(other.get(ME), 401, "not_authenticated")
    assert revoke(client, current(bot)["id"]).status_code == 204
    problem(bot.get(ME), 401, "authentication_failed")
    assert client.get(ME).status_code == 200
    assert len(logins(client)) == 1


def test_a_login_of_another_player_looks_as_one_that_does_not_exist(ann):
    client, victim = session(ann), session(Account.create())
    answers = [revoke(client, login_id) for login_id in (current(victim)["id"], uuid4())]
    assert answers[0].content == answers[1].content
    problem(answers[0], 404, "not_found")
    assert victim.get(ME).status_code == 200


@pytest.mark.parametrize("keep", [False, True])
def test_all_logins_are_revoked_at_once(ann, keep):
    client, bot, stranger = session(ann), program(ann), session(Account.create())
    answer = client.post(REVOKE_ALL, {"keep_current": keep}, headers=csrf(client))
    assert answer.status_code == 204
    problem(bot.get(ME), 401, "authentication_failed")
    assert client.get(ME).status_code == (200 if keep else 401)
    assert stranger.get(ME).status_code == 200
    assert Session.objects.count() == 1 + keep


def test_a_session_makes_a_token_for_a_program(ann):
    client = session(ann)
    answer = client.post(TOKENS, {"name": "a bot", "scope": "read"}, headers=csrf(client))
    assert answer.status_code == 201
    bot = APIClient(headers={"Authorization": f"Bearer {answer.json()['token']}"})
    assert current(bot) == current(bot) | {"id": answer.json()["id"], "name": "a bot"}


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": "a\0b"}, {"name": "a", "scope": "all"}, [], None]
)
def test_a_malformed_token_form_is_refused(ann, body):
    client = program(ann, "money")
    problem(client.post(TOKENS, body, format="json"), 400, "invalid")


WRITES = {
    LOGOUT: "read",
    "/api/v1/matches": "play",
    "/api/v1/withdrawals": "money",
    TOKENS: "money",
    REVOKE_ALL: "money",
    f"{LOGINS}/{uuid4()}/revoke": "money",
}


@pytest.mark.parametrize("scope", ["read", "play", "money"])
def test_a_token_may_do_what_its_scope_says_and_read_everything(ann, scope):
    client = program(ann, scope)
    for url in (ME, LOGINS, "/api/v1/credits", "/api/v1/matches", "/api/v1/withdrawals"):
        assert client.get(url).status_code == 200
    ladder = ["read", "play", "money"]
    for url, needed in reversed(WRITES.items()):
        answer = client.post(url, {"bad": "body"})
        if ladder.index(scope) < ladder.index(needed):
            assert problem(answer, 403, "insufficient_scope")["scope"] == needed
        else:
            assert answer.status_code in (204, 400, 401, 404)


def test_a_token_plays_unless_it_was_asked_for_more(ann):
    bot = APIClient()
    log_in(bot, ann, token_name="a bot")
    assert current(bot)["scope"] == "play"


def test_the_login_unused_for_the_longest_makes_room(ann, settings):
    settings.LOGINS_PER_WALLET = 2
    with time_machine.travel(datetime(2030, 1, 1, tzinfo=UTC), tick=False) as clock:
        clients = []
        for log_in_as in (program, session) * 2:
            clock.shift(600)
            clients.append(log_in_as(ann))
        clock.shift(600)
        for client in clients[:2]:
            assert client.get(ME).status_code == 200
        program(ann)
        session(ann)
    assert [client.get(ME).status_code for client in clients] == [200, 200, 401, 401]
    assert (BearerToken.objects.count(), Session.objects.count()) == (2, 2)


def test_a_session_that_is_written_again_stays_its_owners(ann):
    client = session(ann)
    kept = client.session
    kept["anything"] = 1
    kept.save()
    assert current(client)["address_prefix"] == "127.0.0.0/24"


FORWARDED = {
    "no proxy": (0, "10.0.0.9", "1.1.1.1", "10.0.0.9"),
    "one proxy": (1, "10.0.0.9", "1.1.1.1", "1.1.1.1"),
    "a made-up address before it": (1, "10.0.0.9", "6.6.6.6, 1.1.1.1", "1.1.1.1"),
    "two proxies": (2, "10.0.0.9", "6.6.6.6, 1.1.1.1, 10.0.0.8", "1.1.1.1"),
    "fewer addresses than proxies": (3, "10.0.0.9", "6.6.6.6, 10.0.0.8", "10.0.0.9"),
    "IPv6": (1, "10.0.0.9", "2001:DB8::1", "2001:db8::1"),
    "not an address": (1, "10.0.0.9", "unknown", ""),
    "nothing at all": (1, "10.0.0.9", "", "10.0.0.9"),
    "a Unix socket": (0, "", "1.1.1.1", ""),
}


@pytest.mark.parametrize(("count", "peer", "header", "expected"), FORWARDED.values(), ids=FORWARDED)
def test_the_clients_address_is_the_one_that_our_outermost_proxy_saw(
    settings, count, peer, header, expected
):
    settings.TRUSTED_PROXY_COUNT = count
    request = RequestFactory(REMOTE_ADDR=peer, HTTP_X_FORWARDED_FOR=header).get("/")
    assert address_of(request) == expected


def test_the_network_is_shown_and_not_the_address():
    assert network_of("192.0.2.77", v4_bits=24, v6_bits=48) == "192.0.2.0/24"
    assert network_of("2001:db8:1:2::3", v4_bits=24, v6_bits=48) == "2001:db8:1::/48"
    assert network_of("", v4_bits=24, v6_bits=48) == ""
