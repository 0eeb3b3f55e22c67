"""Requests that are made to break something: their bodies, their headers, their words."""

import json

import pytest
from rest_framework.test import APIClient

from matches.models import Match
from tests.attacks.callers import World, program
from tests.matches.helpers import available, player
from tests.wallets.login_helpers import LOGIN, ME, NONCE, form, problem
from wallets.models import BearerToken, Wallet

pytestmark = pytest.mark.django_db
MATCHES, TOKENS = "/api/v1/matches", "/api/v1/auth/tokens"


@pytest.fixture
def ann():
    return player()


SMUGGLED = {
    "id": "00000000-0000-0000-0000-000000000000",
    "status": "won",
    "winner": "a",
    "wallet": 1,
    "wallet_id": 1,
    "address": "0x" + "1" * 40,
    "fee_bps": 0,
    "pot": 10**9,
    "balance": 10**9,
    "credits": 10**9,
    "is_staff": True,
    "is_superuser": True,
    "is_active": True,
    "token_hash": "00" * 32,
    "expires_at": "2999-01-01T00:00:00Z",
    "invitation": "mine",
    "server_secret": "00" * 32,
    "seats": [],
}


def test_fields_that_are_not_asked_for_change_nothing(ann):
    """Mass assignment."""
    client = program(ann)
    made = client.post(MATCHES, SMUGGLED | {"stake": 5}).json()
    assert (made["status"], made["winner"], made["stake"]) == ("open", None, 5)
    assert Match.objects.get().fee_bps == 250
    assert available(ann) == 995
    token = client.post(TOKENS, SMUGGLED | {"name": "another", "scope": "read"})
    assert token.status_code == 201
    row = BearerToken.objects.get(name="another")
    assert (row.wallet_id, row.scope, row.expires_at.year < 2999) == (ann.pk, "read", True)
    browser = APIClient()
    assert browser.post(LOGIN, form(browser) | SMUGGLED).status_code == 200
    assert not Wallet.objects.filter(is_staff=True).exists()


WRITES = (
    LOGIN,
    TOKENS,
    MATCHES,
    f"{MATCHES}/quick",
    f"{MATCHES}/practice",
    "/api/v1/withdrawals",
)
BODIES = {
    "an array": "[]",
    "a number": "1",
    "null": "null",
    "text": '"x"',
    "half": '{"stake":',
    "nested": "[" * 20_000,
    "nested objects": '{"a":' * 5_000,
    "closed nesting": "[" * 900 + "]" * 900,
    "NaN": '{"stake": NaN}',
    "a huge number": '{"stake": 1e999, "credits": 1e999}',
    "a long number": json.dumps({"stake": 10**4000, "credits": 10**4000}),
    "a lone surrogate": '{"name": "\\ud800", "stake": "\\ud800"}',
    "a null byte": '{"name": "\\u0000", "ape": "\\u0000"}',
    "two of a key": '{"stake": 5, "stake": "x", "name": "a", "name": ""}',
    "__proto__": '{"__proto__": {"stake": 5}, "__class__": "x"}',
    "fullwidth digits": '{"stake": "\\uff15x", "credits": "\\uff15x"}',
    "too large": " " * (64 * 1024 + 1),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_no_body_breaks_a_call(ann, body):
    client = program(ann)
    for url in WRITES:
        answer = client.post(url, body, content_type="application/json")
        assert answer.status_code in (400, 403, 409, 413), (url, answer.content)
        assert answer["Content-Type"] == "application/problem+json"


HEADERS = {
    "a line break": "x\r\nSet-Cookie: stolen=1",
    "a bare line break": "x\nX-Evil: 1",
    "a null byte": "x\0y",
    "other scripts": "x\u202e\u0440",
    "much": "x" * 8_000,
}
PLACES = ("Idempotency-Key", "Invitation", "Last-Event-ID", "User-Agent", "X-Forwarded-For")


@pytest.mark.parametrize("value", HEADERS.values(), ids=HEADERS.keys())
@pytest.mark.parametrize("name", PLACES)
def test_a_header_puts_no_header_into_the_answer_and_no_line_into_the_log(ann, name, value, caplog):
    client = program(ann)
    answer = client.post(MATCHES, {"stake": 5}, headers={name: value})
    assert answer.status_code in (201, 400)
    assert not {"Set-Cookie", "X-Evil"} & set(answer.headers)
    assert not answer.cookies
    browser = APIClient(headers={name: value})
    browser.post(LOGIN, form(browser))
    assert not {"X-Evil"} & set(browser.get(ME).headers)
    assert "stolen" not in browser.cookies
    for line in caplog.text.splitlines():
        assert not line.startswith(("Set-Cookie", "X-Evil"))


LOOK_ALIKES = {
    "a Cyrillic o": {"domain": "l\u043ecalhost:8000"},
    "fullwidth": {"domain": "\uff4cocalhost:8000"},
    "an ideographic full stop": {"uri": "http://localhost\u3002evil.example:8000"},
    "a zero-width space": {"domain": "local\u200bhost:8000"},
    "text the other way round": {"domain": "\u202e0008:tsohlacol"},
    "punycode": {"domain": "xn--lcalhost-q7g:8000"},
    "a fullwidth chain id": {"chain_id": "\uff131337"},
    "Arabic digits": {"chain_id": "\u0663\u0661\u0663\u0663\u0667"},
    "a Kelvin sign": {"more": "\nRequest ID: \u212a"},
}


@pytest.mark.parametrize("changes", LOOK_ALIKES.values(), ids=LOOK_ALIKES.keys())
def test_what_only_looks_like_this_site_is_another_one(changes):
    browser = APIClient()
    answer = browser.post(LOGIN, form(browser, **changes))
    reason = problem(answer, 401, "login_failed")["reason_code"]
    assert reason in ("not_ascii", "wrong_domain")


NEXT = ("https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)")


@pytest.mark.parametrize("target", NEXT)
def test_no_page_sends_a_browser_to_another_site(target):
    """Open redirects: the console's login is the one page that sends a browser on."""
    Wallet.objects.create_superuser("olga", "a good long password")
    browser = APIClient()
    fields = {"username": "olga", "password": "a good long password", "next": target}
    answer = browser.post(
        "/admin/login/", fields, format="multipart", query_params={"next": target}
    )
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    for url in ("/", "/lobby", ME, NONCE, f"/{target}", f"//evil.example/{target}"):
        answer = browser.get(url, {"next": target, "url": target, "redirect": target})
        assert "evil.example" not in answer.get("Location", "")


def test_a_session_key_that_was_planted_logs_nobody_in():
    """Session fixation: what the attacker knows is worth nothing after the victim's login."""
    attacker, victim = APIClient(), APIClient()
    attacker.post(LOGIN, form(attacker))
    planted = attacker.cookies["sessionid"].value
    victim.cookies["sessionid"] = planted
    login = form(victim)
    answer = victim.post(LOGIN, login)
    assert victim.cookies["sessionid"].value != planted
    problem(attacker.get(ME), 401, "not_authenticated")
    assert victim.get(ME).json() == answer.json()["wallet"]


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS"])
def test_other_methods_tell_no_more_than_the_usual_ones(method):
    world = World()
    stranger = program(world.carol)
    url = f"{MATCHES}/{world.running.pk}"
    answer = stranger.generic(method, url)
    told = answer.content.decode()
    assert world.ann.address not in told
    assert world.running.invitation not in told


@pytest.mark.parametrize("path", ["/healthz", "/admin/login/", "/api/v1/lobby", "/api/problems"])
def test_a_form_in_a_codec_that_decodes_no_text_is_read_as_utf8(client, path):
    body = b'--B\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--B--\r\n'
    client.cookies["csrftoken"] = "a" * 32
    for charset in ("zlib", "idna", "undefined", "no-such"):
        kind = f"multipart/form-data; boundary=B; charset={charset}"
        answer = client.generic("POST", path, body, content_type=kind)
        assert answer.status_code < 500, charset


def test_a_nul_is_refused_wherever_it_names_something(client):
    session = {"HTTP_COOKIE": 'sessionid="\\000abcdefgh"'}
    asked = [
        client.get("/healthz", **session),
        client.get(ME, **session),
        client.get("/admin/wallets/service/%00/change/"),
        client.get("/admin/wallets/transfer/?key=%00"),
        client.get("/api/v1/leaderboard?cursor=%00"),
    ]
    for answer in asked:
        problem(answer, 400, "malformed")
