"""Every refusal is a problem with a stable code; no request, however odd, breaks the server."""

import base64
import json
import uuid
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from engine import Ape
from matches import lobby
from tests.matches.helpers import PAPER, ROCK, Table, player

pytestmark = pytest.mark.django_db(transaction=True)
API = "/api/v1/matches"
CALLS = {
    "join": {"invitation": "wrong"},
    "cancel": None,
    "resign": None,
    "moves": {"movement": 1, "move": "rock"},
    "reveals": {"movement": 1, "move": "rock", "salt": "00" * 32},
    "potions": None,
}
COMMITMENT = "ab" * 32


def problem(answer, status, code):
    """The answer is this problem (RFC 9457); its body."""
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    body = answer.json()
    assert (body["status"], body["code"]) == (status, code), body
    assert body["title"]
    assert body["detail"]
    return body


def test_unknown_matches_strangers_matches_and_wrong_invitations_look_all_the_same(client_of):
    client = client_of(player())
    maker = player()
    hidden = [
        uuid.uuid4(),
        lobby.create_match(wallet=maker, stake=1, visibility="invitation").pk,
        Table(visibility="invitation").id,
    ]
    ended = Table(visibility="invitation")
    ended.resign("a")
    due = Table(visibility="invitation")
    due.pass_deadline()
    seen = set()
    for match_id in (*hidden, ended.id, due.id):
        url = f"{API}/{match_id}"
        for headers in ({}, {"Invitation": "wrong"}, {"Invitation": ""}):
            answer = client.get(url, headers=headers)
            problem(answer, 404, "not_found")
            seen.add(answer.content)
        for call, body in CALLS.items():
            for headers in ({}, {"Idempotency-Key": f"{match_id}{call}"}):
                answer = client.post(f"{url}/{call}", body, headers=headers)
                problem(answer, 404, "not_found")
                seen.add(answer.content)
    assert len(seen) == 1


def test_a_spectator_of_an_open_match_can_not_act_in_it(client_of):
    table, client = Table(), client_of(player())
    for call, body in CALLS.items():
        answer = client.post(f"{API}/{table.id}/{call}", body)
        if call == "join":
            problem(answer, 409, "match_not_open")
        else:
            problem(answer, 404, "not_found")


@pytest.mark.parametrize(
    ("body", "code", "status"),
    [
        ({"stake": 0}, "invalid", 400),
        ({"stake": -5}, "invalid", 400),
        ({"stake": "many"}, "invalid", 400),
        ({"stake": 1.5}, "invalid", 400),
        ({"stake": None}, "invalid", 400),
        ({}, "invalid", 400),
        ([], "invalid", 400),
        ({"stake": 5, "visibility": "secret"}, "invalid", 400),
        ({"stake": 5, "ruleset": "god-v2"}, "invalid", 400),
        ({"stake": 1_000_001}, "stake_out_of_range", 400),
        ({"stake": 10**300}, "stake_out_of_range", 400),
        ({"stake": 1_001}, "insufficient_credits", 409),
    ],
)
def test_a_match_with_impossible_terms_is_refused(client_of, body, code, status):
    problem(client_of(player()).post(API, body), status, code)


@pytest.mark.parametrize(
    ("call", "body"),
    [
        ("moves", {}),
        ("moves", {"movement": 1}),
        ("moves", {"movement": 0, "move": "rock"}),
        ("moves", {"move": "rock"}),
        ("moves", {"movement": 1, "move": "lizard"}),
        ("moves", {"movement": 1, "move": None}),
        ("moves", {"movement": 1, "move": "rock", "tribute": "bananas"}),
        ("moves", {"movement": 1, "move": "rock", "commitment": COMMITMENT}),
        ("moves", {"movement": 1, "commitment": COMMITMENT, "tribute": "wilds"}),
        ("moves", {"movement": 1, "commitment": COMMITMENT.upper()}),
        ("moves", {"movement": 1, "commitment": COMMITMENT[:-1]}),
        ("reveals", {"movement": 1, "move": "rock"}),
        ("reveals", {"movement": 1, "move": "rock", "salt": "00"}),
        ("reveals", {"movement": 1, "move": "rock", "salt": "\u0660" * 64}),
        ("join", {"invitation": "x" * 33}),
        ("join", {"invitation": None}),
        ("join", {"invitation": "a\0b"}),
    ],
)
def test_a_malformed_message_is_refused_field_by_field(client_of, call, body):
    table = Table()
    refused = client_of(table.wallets["a"]).post(f"{API}/{table.id}/{call}", body)
    errors = problem(refused, 400, "invalid")["errors"]
    assert all(set(error) == {"pointer", "code", "detail"} for error in errors)
    assert table.events()[-1]["type"] == "start"


def test_each_conflict_has_a_code_of_its_own(client_of):
    table = Table()
    a, b = (client_of(table.wallets[side]) for side in "ab")
    url = f"{API}/{table.id}"
    reveal = {"movement": 1, "move": "paper", "salt": "00" * 32}
    problem(a.post(f"{url}/reveals", reveal), 409, "too_early")
    problem(a.post(f"{url}/moves", {"movement": 1, "move": "alpha"}), 409, "illegal_choice")
    problem(a.post(f"{url}/potions"), 409, "illegal_choice")
    stale = problem(a.post(f"{url}/moves", {"movement": 7, "move": "rock"}), 409, "stale_movement")
    assert stale["movement"] == 1
    table.lock_in("a", PAPER)
    table.play("b", ROCK)
    problem(b.post(f"{url}/moves", {"movement": 1, "move": "paper"}), 409, "too_late")
    problem(a.post(f"{url}/reveals", reveal), 400, "wrong_reveal")
    problem(a.post(f"{url}/join"), 409, "match_not_open")
    problem(a.post(f"{url}/cancel"), 409, "match_not_open")
    problem(b.post(f"{url}/cancel"), 409, "match_not_open")
    table.resign("a")
    for call in ("resign", "potions"):
        problem(b.post(f"{url}/{call}"), 409, "match_not_running")
    problem(a.post(f"{url}/moves", {"movement": 2, "move": "rock"}), 409, "match_not_running")


def test_ones_own_open_match_is_not_joined_nor_played(client_of):
    maker = player()
    match = lobby.create_match(wallet=maker, stake=1, visibility="open")
    client, url = client_of(maker), f"{API}/{match.pk}"
    problem(client.post(f"{url}/join"), 409, "own_match")
    for call in ("resign", "moves", "reveals", "potions"):
        problem(client.post(f"{url}/{call}", CALLS[call]), 409, "match_not_running")


def test_a_key_used_for_another_request_is_a_conflict(client_of):
    client, key = client_of(player()), {"Idempotency-Key": "k"}
    assert client.post(API, {"stake": 1}, headers=key).status_code == 201
    problem(client.post(API, {"stake": 2}, headers=key), 409, "idempotency_conflict")
    refused = client.post(API, {"stake": 2}, headers={"Idempotency-Key": "k" * 256})
    problem(refused, 400, "invalid_idempotency_key")


def test_what_is_not_json_or_not_a_method_is_refused(client_of):
    client = client_of(player())
    form = client.post(API, "stake=1", content_type="application/x-www-form-urlencoded")
    problem(form, 415, "unsupported_media_type")
    for text in ("{", "nan", '{"stake": NaN}', "\x00", "[1,"):
        problem(client.post(API, text, content_type="application/json"), 400, "malformed")
    problem(client.delete(API), 405, "method_not_allowed")
    problem(client.get(f"{API}/{uuid.uuid4()}/join"), 405, "method_not_allowed")


def cursor(**fields):
    return {"cursor": base64.b64encode(urlencode(fields).encode()).decode()}


@pytest.mark.parametrize(
    "query",
    [
        {"mine": "perhaps"},
        cursor(p="yesterday"),
        cursor(p="2026-13-45T00:00:00+00:00"),
        cursor(p="2026-01-01T00:00:00"),
        cursor(p="\0"),
        cursor(p=""),
    ],
)
def test_a_made_up_query_is_refused(client_of, query):
    problem(client_of(player()).get(API, query), 400, "invalid")


@pytest.mark.parametrize("text", ["cD0\x00", "é"])
def test_a_cursor_that_is_none_at_all_is_refused(client_of, text):
    answer = client_of(player()).get(API, {"cursor": text})
    assert answer.status_code in (400, 404)
    assert answer["Content-Type"] == "application/problem+json"


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False)
    | st.text(max_size=70)
    | st.sampled_from(["", "\0", "\ud800", "rock", "wilds", COMMITMENT, "1", "१", "1e9", "٣"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=5,
)
plausible = {
    "stake": st.integers(-1, 3),
    "visibility": st.sampled_from(["open", "invitation"]),
    "ruleset": st.just("god-v1"),
    "invitation": st.text(max_size=33),
    "movement": st.sampled_from([-1, 0, 1, 2, 2**31 - 1, 2**31, 2**63, 2**64]),
    "move": st.sampled_from(["rock", "wild", "alpha"]),
    "tribute": st.sampled_from([None, "wilds", "alphas"]),
    "commitment": st.just(COMMITMENT),
    "salt": st.just(COMMITMENT),
}
bodies = junk | st.fixed_dictionaries(
    {}, optional={name: junk | values | values for name, values in plausible.items()}
)
headers = st.fixed_dictionaries(
    {},
    optional={
        "Invitation": st.text(st.characters(max_codepoint=255), max_size=40),
        "Idempotency-Key": st.text(st.characters(max_codepoint=255), max_size=3),
    },
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_body_breaks_the_server(fuzzed, data):
    client, urls = fuzzed
    url = data.draw(st.sampled_from(urls))
    body = json.dumps(data.draw(bodies))
    answer = client.post(url, body, content_type="application/json", headers=data.draw(headers))
    assert answer.status_code < 500
    if answer.status_code >= 400:
        problem(answer, answer.status_code, answer.json()["code"])


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_query_breaks_the_server(fuzzed, data):
    client, urls = fuzzed
    url = data.draw(st.sampled_from([API, urls[1].rpartition("/")[0]]))
    text = st.text(max_size=30)
    names = ("mine", "cursor", "page_size", "invitation", "format")
    query = data.draw(st.dictionaries(st.sampled_from(names), text | st.just("1")))
    query |= data.draw(st.just({}) | st.builds(cursor, p=text, o=text, r=text))
    answer = client.get(f"{url}?{urlencode(query, errors='replace')}", headers=data.draw(headers))
    assert answer.status_code < 500
    if answer.status_code >= 400:
        problem(answer, answer.status_code, answer.json()["code"])


@pytest.fixture
def fuzzed():
    """A player's client that reports a 500 rather than raise, and every URL that takes a body."""
    table = Table(credits_=100_000)
    table.put(a=Ape(health=5, potions=9, wilds=9, alphas=9), b=Ape())
    client = APIClient(raise_request_exception=False)
    client.force_authenticate(user=table.wallets["a"])
    other = lobby.create_match(wallet=player(), stake=1, visibility="invitation")
    calls = [call for call in CALLS if call != "resign"]
    urls = [API, *(f"{API}/{table.id}/{call}" for call in calls), f"{API}/{other.pk}/join"]
    return client, urls
