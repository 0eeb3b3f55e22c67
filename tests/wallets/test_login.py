"""Logging in over HTTP: the nonce, the session, the token, and every way to be refused."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection
from eth_account import Account
from rest_framework.test import APIClient

from tests.wallets.login_helpers import (
    LOGIN,
    LOGOUT,
    ME,
    NONCE,
    browser,
    csrf,
    form,
    log_in,
    message,
    problem,
    signed,
)
from wallets.models import BearerToken, LoginNonce, Session, Wallet
from wallets.tasks import forget_expired

pytestmark = pytest.mark.django_db


@pytest.fixture
def node(chain, settings):
    """A chain that tells that no contract is at an address."""
    settings.CHAIN_RPC_URLS = [chain.url]


def refused(answer, reason):
    assert problem(answer, 401, "login_failed")["reason_code"] == reason
    assert answer["WWW-Authenticate"] == "Bearer"


def test_a_wallet_logs_in_to_a_session():
    client, account = browser(), Account.create()
    answer = log_in(client, account)
    assert answer.json()["wallet"]["address"] == account.address
    assert "token" not in answer.json()
    assert client.get(ME).json()["address"] == account.address


def test_a_program_logs_in_for_a_token():
    client, account = APIClient(), Account.create()
    answer = log_in(client, account, token_name="a bot")
    assert answer.json()["token"].startswith("bas_")
    assert client.get(ME).json()["address"] == account.address
    assert Session.objects.count() == 0


def test_an_address_in_lower_case_is_the_same_wallet():
    account = Account.create()
    log_in(browser(), account)
    client = browser()
    answer = client.post(LOGIN, form(client, account, address=account.address.lower()))
    assert answer.json()["wallet"]["address"] == account.address
    assert Wallet.objects.filter(address__iexact=account.address).count() == 1


def test_a_token_is_kept_as_a_hash_alone():
    token = log_in(APIClient(), token_name="a bot").json()["token"]
    row = BearerToken.objects.values().get()
    assert token.encode() not in bytes(row["token_hash"])
    assert token not in str(row)


def test_asking_for_nonces_writes_nothing(django_assert_num_queries):
    with django_assert_num_queries(0):
        for _ in range(20):
            assert browser().post(NONCE).status_code == 200
    assert (Session.objects.count(), LoginNonce.objects.count()) == (0, 0)


def test_a_nonce_is_no_two_times_the_same():
    client = browser()
    assert len({client.post(NONCE).json()["nonce"] for _ in range(50)}) == 50


def test_a_nonce_is_good_for_one_login():
    client = browser()
    login = form(client)
    cookie = client.cookies["bas_login"].value
    assert client.post(LOGIN, login).status_code == 200
    client.cookies["bas_login"] = cookie
    refused(client.post(LOGIN, login), "wrong_nonce")


def test_a_nonce_of_another_browser_is_refused():
    victim, attacker = browser(), browser()
    attacker.post(NONCE)
    login = form(victim)
    refused(attacker.post(LOGIN, login), "wrong_nonce")
    refused(browser().post(LOGIN, login), "wrong_nonce")
    assert victim.post(LOGIN, login).status_code == 200


@pytest.mark.parametrize("nonce", ["0" * 48, "f" * 48, "abcdefgh", "z" * 48, "1" * 2000])
def test_a_nonce_that_was_not_handed_out_is_refused(nonce):
    client = browser()
    refused(client.post(LOGIN, form(client, nonce=nonce)), "wrong_nonce")


def test_a_nonce_whose_expiry_was_put_off_is_refused():
    client = browser()
    nonce = client.post(NONCE).json()["nonce"]
    refused(client.post(LOGIN, form(client, nonce="7fffffff" + nonce[8:])), "wrong_nonce")


def test_two_tabs_of_a_browser_can_log_in_at_the_same_time():
    client = browser()
    first, second = form(client), form(client)
    cookie = client.cookies["bas_login"].value
    assert client.post(LOGIN, first).status_code == 200
    client.cookies["bas_login"] = cookie
    assert client.post(LOGIN, second).status_code == 200


def test_a_refused_login_leaves_nothing_behind(node):
    client = browser()
    login = form(client) | {"signature": "0x" + "11" * 65}
    answer = client.post(LOGIN, login)
    assert problem(answer, 401, "login_failed")
    assert (Wallet.objects.count(), LoginNonce.objects.count(), Session.objects.count()) == (0,) * 3


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"domain": "evil.example"}, "wrong_domain"),
        ({"domain": "localhost:8000@evil.example"}, "domain_userinfo"),
        ({"uri": "http://evil.example"}, "wrong_uri"),
        ({"chain_id": 1}, "wrong_chain"),
        ({"issued_at": "2020-01-01T00:00:00Z"}, "too_old"),
        ({"issued_at": "2120-01-01T00:00:00Z"}, "issued_in_future"),
        ({"more": "\nExpiration Time: 2020-01-01T00:00:00Z"}, "expired"),
        ({"more": "\nNot Before: 2120-01-01T00:00:00Z"}, "not_yet_valid"),
        ({"address": "0x" + "0" * 40}, "wrong_signer"),
    ],
)
def test_a_message_for_another_place_or_time_is_refused(node, changes, reason):
    client = browser()
    refused(client.post(LOGIN, form(client, **changes)), reason)


def test_the_host_header_does_not_say_what_domain_to_sign_for(settings):
    settings.ALLOWED_HOSTS = ["*"]
    challenge = browser().post(NONCE, headers={"Host": "evil.example"}).json()
    assert challenge["domain"] == "localhost:8000"


@pytest.mark.parametrize(
    ("seconds", "accepted"), [(0, True), (299, True), (300, False), (10**6, False)]
)
def test_a_nonce_is_good_up_to_its_expiry(seconds, accepted):
    client, account = browser(), Account.create()
    start = datetime(2030, 1, 1, tzinfo=UTC)
    with time_machine.travel(start, tick=False) as clock:
        challenge = client.post(NONCE).json()
        assert challenge["expires_at"] == "2030-01-01T00:05:00Z"
        clock.shift(seconds)
        text = message(account, challenge)
        answer = client.post(LOGIN, {"message": text, "signature": signed(account, text)})
        if accepted:
            assert answer.status_code == 200
        else:
            refused(answer, "wrong_nonce")


@pytest.mark.parametrize(("ahead", "reason"), [(30, None), (31, "issued_in_future")])
def test_a_wallets_clock_may_be_ahead_by_the_skew(ahead, reason):
    client = browser()
    with time_machine.travel(datetime(2030, 1, 1, tzinfo=UTC), tick=False):
        issued = (datetime.now(UTC) + timedelta(seconds=ahead)).isoformat()
        answer = client.post(LOGIN, form(client, issued_at=issued))
        if reason:
            refused(answer, reason)
        else:
            assert answer.status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        "text",
        None,
        {"message": "x"},
        {"message": "x" * 5000, "signature": "0x"},
        {"message": "a\0b", "signature": "0x"},
        {"message": "\ud800", "signature": "0x"},
        {"message": ["x"], "signature": {}},
        {"message": "x", "signature": "\0"},
        {"message": "x", "signature": "0x", "token_name": "a\0b"},
        {"message": "x", "signature": "0x" + "00" * 8193},
        {"message": "x", "signature": "0x", "token_name": ""},
        {"message": "x", "signature": "0x", "token_name": "n" * 81},
        {"message": "x", "signature": "0x", "token_name": None},
    ],
)
def test_a_malformed_form_is_refused_field_by_field(body):
    text = json.dumps(body)
    answer = APIClient().post(LOGIN, text, content_type="application/json")
    errors = problem(answer, 400, "invalid")["errors"]
    assert all(set(error) == {"pointer", "code", "detail"} for error in errors)


@pytest.mark.parametrize("signature", ["0x", "0x" + "00" * 65, "not hex", "0x" + "ff" * 65])
def test_a_malformed_signature_is_refused(node, signature):
    client = browser()
    answer = client.post(LOGIN, form(client) | {"signature": signature})
    problem(answer, 401, "login_failed")


def test_a_frozen_wallet_can_not_log_in_and_is_logged_out_everywhere():
    account, session, program = Account.create(), browser(), APIClient()
    log_in(session, account)
    log_in(program, account, token_name="a bot")
    Wallet.objects.filter(address=account.address).update(is_active=False)
    client = browser()
    problem(client.post(LOGIN, form(client, account)), 403, "forbidden")
    problem(session.get(ME), 401, "not_authenticated")
    problem(program.get(ME), 401, "authentication_failed")


def test_an_operator_is_no_player():
    client = browser()
    client.force_login(Wallet.objects.create_superuser("olga", "a good long password"))
    problem(client.get(ME), 403, "forbidden")
    problem(client.get("/api/v1/credits"), 403, "forbidden")


def test_a_player_is_no_operator():
    client = browser()
    log_in(client)
    assert client.get("/admin/").status_code == 302


def test_the_session_is_another_one_after_login():
    client = browser()
    planted = client.session
    planted["planted"] = "by somebody who knows the key"
    planted.save()
    client.cookies["sessionid"] = planted.session_key
    log_in(client)
    assert client.session.session_key != planted.session_key
    assert "planted" not in client.session
    assert not Session.objects.filter(session_key=planted.session_key).exists()
    before = client.session.session_key
    log_in(client)
    assert client.session.session_key != before
    assert not Session.objects.filter(session_key=before).exists()


def test_a_nonce_does_not_touch_the_session():
    client = browser()
    log_in(client)
    key = client.session.session_key
    assert "sessionid" not in client.post(NONCE).cookies
    stranger = APIClient()  # as if another site's page had posted, without this site's cookies
    assert "sessionid" not in stranger.post(NONCE).cookies
    assert client.session.session_key == key


def test_cookies_are_out_of_reach_for_scripts_and_other_sites(settings):
    settings.SESSION_COOKIE_SECURE = True
    client = browser()
    cookie = client.post(NONCE).cookies["bas_login"]
    assert (cookie["httponly"], cookie["samesite"], cookie["secure"]) == (True, "Strict", True)
    assert cookie["path"] == "/api/v1/auth"
    answer = log_in(client)
    session = answer.cookies["sessionid"]
    assert (session["httponly"], session["samesite"], session["secure"]) == (True, "Lax", True)
    assert answer.cookies["bas_login"]["max-age"] == 0


def test_logging_out_ends_the_session():
    client = browser()
    log_in(client)
    stolen = client.cookies["sessionid"].value
    assert client.post(LOGOUT, headers=csrf(client)).status_code == 204
    client.cookies["sessionid"] = stolen
    problem(client.get(ME), 401, "not_authenticated")


def test_logging_out_revokes_the_token_and_no_other():
    account, one, other = Account.create(), APIClient(), APIClient()
    for client in (one, other):
        log_in(client, account, token_name="a bot")
    assert one.post(LOGOUT).status_code == 204
    problem(one.get(ME), 401, "authentication_failed")
    problem(one.post(LOGOUT), 401, "authentication_failed")
    assert other.get(ME).status_code == 200


def test_a_token_is_good_up_to_its_expiry(settings):
    client = APIClient()
    with time_machine.travel(datetime(2030, 1, 1, tzinfo=UTC), tick=False) as clock:
        log_in(client, token_name="a bot")
        clock.shift(settings.BEARER_TOKEN_SECONDS - 1)
        assert client.get(ME).status_code == 200
        clock.shift(1)
        problem(client.get(ME), 401, "authentication_failed")


def test_a_session_needs_the_csrf_token_for_a_write():
    client = browser()
    log_in(client)
    problem(client.post(LOGOUT), 403, "csrf_failed")
    problem(client.post(LOGOUT, headers={"X-CSRFToken": "x" * 64}), 403, "csrf_failed")
    answer = client.post(LOGOUT, headers=csrf(client) | {"Origin": "https://evil.example"})
    problem(answer, 403, "csrf_failed")
    assert client.get(ME).status_code == 200
    assert client.post(LOGOUT, headers=csrf(client)).status_code == 204


def test_a_token_needs_no_csrf_token_and_gets_no_cookie():
    client = browser()
    log_in(client, token_name="a bot")
    assert not client.get(ME).cookies
    assert client.post(LOGOUT).status_code == 204


def test_a_wrong_token_is_refused_even_beside_a_good_session():
    client = browser()
    log_in(client)
    problem(client.get(ME, headers={"Authorization": "Bearer no"}), 401, "authentication_failed")


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("", "not_authenticated"),
        ("Bearer", "authentication_failed"),
        ("Bearer ", "authentication_failed"),
        ("Bearer \xe9\xff", "authentication_failed"),
        ("Bearer a b c", "authentication_failed"),
        ("Bearer \0", "authentication_failed"),
        ("bearer " + "x" * 60_000, "authentication_failed"),
        ("Basic dTpw", "not_authenticated"),
        ("\xff", "not_authenticated"),
        (" ", "not_authenticated"),
    ],
)
def test_an_odd_authorization_header_is_refused(header, code):
    answer = APIClient().get(ME, headers={"Authorization": header})
    problem(answer, 401, code)
    assert answer["WWW-Authenticate"] == "Bearer"


def test_answers_about_a_player_are_kept_by_no_cache():
    client = browser()
    assert client.post(NONCE)["Cache-Control"] == "no-store"
    assert log_in(client)["Cache-Control"] == "no-store"
    missing = "/api/v1/matches/00000000-0000-0000-0000-000000000000"
    for url in (ME, "/api/v1/credits", "/api/v1/credits/statement", "/api/v1/matches", missing):
        assert client.get(url)["Cache-Control"] == "no-store"


def test_what_has_expired_is_forgotten_and_nothing_else(settings):
    now = datetime(2030, 1, 1, tzinfo=UTC)
    with time_machine.travel(now, tick=False) as clock:
        log_in(browser())
        log_in(APIClient(), token_name="a bot")
        counts = [(LoginNonce, 2), (BearerToken, 1), (Session, 1)]
        # The nonces have expired, but a server with a slow clock might still take them.
        clock.shift(settings.LOGIN_NONCE_SECONDS + 60)
        forget_expired()
        assert [(model, model.objects.count()) for model, _ in counts] == counts
        clock.shift(3600)
        forget_expired()
        assert LoginNonce.objects.count() == 0
        clock.shift(settings.BEARER_TOKEN_SECONDS)
        forget_expired()
        assert (BearerToken.objects.count(), Session.objects.count()) == (0, 0)


@pytest.mark.django_db(transaction=True)
def test_of_many_logins_with_one_nonce_at_the_same_time_one_wins():
    client = browser()
    login = form(client)
    cookie = client.cookies["bas_login"].value
    barrier = threading.Barrier(6)

    def race(_):
        racer = APIClient()
        racer.cookies["bas_login"] = cookie
        barrier.wait(timeout=10)
        try:
            return racer.post(LOGIN, login | {"token_name": "a racer"})
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(race, range(6)))
    assert sorted(answer.status_code for answer in answers) == [200] + [401] * 5
    for answer in answers:
        if answer.status_code == 401:
            refused(answer, "wrong_nonce")
    assert BearerToken.objects.count() == 1
