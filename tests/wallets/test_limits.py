"""How often a caller may call, counted in a real Valkey; and what is closed when it is stopped."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from eth_account import Account
from rest_framework.test import APIClient

from bas_site.devstack.services import Valkey
from bas_site.limits import LIMITS, scaled
from tests.wallets.login_helpers import LOGIN, ME, NONCE, form, log_in, problem
from wallets import limits
from wallets.models import Wallet

pytestmark = pytest.mark.django_db
MATCHES, WITHDRAWALS = "/api/v1/matches", "/api/v1/withdrawals"
NOTHING = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def valkey(tmp_path, settings, monkeypatch):
    """A Valkey of the test's own, empty and to be stopped."""
    monkeypatch.setattr(limits, "_silent_until", 0.0)
    with Valkey(tmp_path) as server:
        settings.VALKEY_URL = server.url
        yield server


@pytest.fixture
def ann():
    client = APIClient()
    log_in(client, Account.create(), token_name="a bot", token_scope="money")
    return client


def limit(settings, *rows):
    settings.RATE_LIMITS = [(*row, False)[:6] for row in rows]


def refused(answer):
    problem(answer, 429, "throttled")
    return int(answer["Retry-After"])


def test_calls_by_address_are_limited_and_the_caller_is_told_where_it_stands(valkey, settings):
    limit(settings, ("nonce", "address", "POST /api/v1/auth/nonce", 2, 60))
    client = APIClient()
    first, second, third = (client.post(NONCE) for _ in range(3))
    assert first["RateLimit-Policy"] == '"nonce";q=2;w=60'
    assert first["RateLimit"] == '"nonce";r=1;t=30'
    assert second["RateLimit"].startswith('"nonce";r=0;t=')
    assert 0 < refused(third) <= 30
    assert third["RateLimit"].startswith('"nonce";r=0;')
    assert client.get(ME).status_code == 401  # another call
    assert client.post(NONCE, REMOTE_ADDR="192.0.2.1").status_code == 200  # another address


def test_an_address_of_ipv6_is_its_network(valkey, settings):
    limit(settings, ("nonce", "address", "POST", 1, 60))
    client = APIClient()
    assert client.post(NONCE, REMOTE_ADDR="2001:db8::1").status_code == 200
    refused(client.post(NONCE, REMOTE_ADDR="2001:db8::2:1"))
    assert client.post(NONCE, REMOTE_ADDR="2001:db8:0:1::1").status_code == 200


def test_a_made_up_forwarded_address_escapes_no_limit(valkey, settings):
    limit(settings, ("nonce", "address", "POST", 1, 60))
    settings.TRUSTED_PROXY_COUNT = 1
    client = APIClient()
    forged = [{"X-Forwarded-For": f"6.6.6.{n}, 192.0.2.1"} for n in range(2)]
    assert client.post(NONCE, headers=forged[0]).status_code == 200
    refused(client.post(NONCE, headers=forged[1]))


def test_calls_by_wallet_are_limited_whatever_address_they_come_from(valkey, settings, ann):
    limit(settings, ("wallet", "wallet", r"\w+ /api/", 2, 60), ("all", "address", "", 100, 60))
    assert ann.get(ME)["RateLimit"].startswith('"wallet";r=1;t=30, "all";r=')
    assert ann.get(ME, REMOTE_ADDR="192.0.2.1").status_code == 200
    refused(ann.get(ME, REMOTE_ADDR="192.0.2.2"))
    other = APIClient()
    log_in(other, Account.create(), token_name="a bot")
    assert other.get(ME).status_code == 200


def test_the_time_to_wait_is_enough(valkey, settings):
    limit(settings, ("nonce", "address", "POST", 10, 3600))
    client = APIClient()
    for _ in range(10):
        client.post(NONCE)
    wait = refused(client.post(NONCE))
    valkey_client = limits._script(settings.VALKEY_URL).registered_client
    key = valkey_client.keys("limit:nonce:*")[0]
    # As if that time had gone by.
    valkey_client.set(key, int(valkey_client.get(key)) - wait * limits.MICROSECONDS)
    assert client.post(NONCE).status_code == 200


def test_a_call_that_is_over_one_limit_counts_in_none(valkey, settings):
    limit(settings, ("one", "address", "POST", 1, 3600), ("five", "address", "POST", 5, 3600))
    client = APIClient()
    client.post(NONCE)
    for _ in range(9):
        refused(client.post(NONCE))
    assert '"five";r=4;' in client.post(NONCE)["RateLimit"]


def test_of_many_calls_at_once_as_many_get_through_as_may(valkey, settings):
    limit(settings, ("race", "address", "", 7, 3600))
    barrier = threading.Barrier(20)

    def race(_):
        barrier.wait(timeout=10)
        return limits.wait_of(limits.take("address", "192.0.2.1", "GET /"))

    with ThreadPoolExecutor(20) as pool:
        waits = list(pool.map(race, range(20)))
    assert sum(wait == 0 for wait in waits) == 7


def test_what_is_counted_is_forgotten_when_its_bucket_is_full_again(valkey, settings):
    limit(settings, ("nonce", "address", "POST", 2, 60))
    APIClient().post(NONCE)
    client = limits._script(settings.VALKEY_URL).registered_client
    (key,) = client.keys("limit:*")
    assert 0 < client.pttl(key) <= 30_000


def test_without_valkey_doors_and_money_are_closed_and_reading_and_playing_on_are_open(
    valkey, settings, ann
):
    settings.RATE_LIMITS = scaled(1000)
    login = form(APIClient())
    match = f"{MATCHES}/{NOTHING}"
    stake, withdrawal = {"stake": 5}, {"credits": 1}
    closed = (
        (LOGIN, login),
        ("/api/v1/auth/tokens", {"name": "a bot"}),
        (MATCHES, stake),
        (f"{MATCHES}/quick", stake),
        (f"{match}/join", {}),
        (f"{match}/rematch", {}),
        (WITHDRAWALS, withdrawal),
        (f"{WITHDRAWALS}/1/cancel", {}),
        ("/admin/login/", {}),
    )
    valkey.stop()
    for url, body in closed:
        answer = ann.post(url, body)
        problem(answer, 503, "unavailable")
        assert answer["Retry-After"] == "1"
    for url in (ME, "/api/v1/credits", MATCHES, WITHDRAWALS, "/api/schema", "/healthz"):
        assert ann.get(url).status_code == 200, url
    for call in ("moves", "reveals", "potions", "resign", "cancel"):
        assert ann.post(f"{match}/{call}", {}).status_code in (400, 404)
    assert ann.post("/api/v1/auth/logout").status_code == 204
    assert Wallet.objects.count() == 1

    valkey.start()
    limits._silent_until = 0.0
    client = APIClient()
    assert client.post(LOGIN, form(client)).status_code == 200


def test_a_valkey_that_is_down_is_not_asked_by_every_request(valkey, settings):
    settings.RATE_LIMITS = scaled(1000)
    valkey.stop()
    APIClient().get(ME)
    silent_until = limits._silent_until
    assert silent_until > 0
    APIClient().get(ME)
    assert limits._silent_until == silent_until


def test_no_limit_is_for_a_call_that_does_not_exist(settings):
    """A path that is renamed must not lose its limit in silence."""
    calls = (
        ("nonce", NONCE),
        ("login", LOGIN),
        ("operator", "/admin/login/"),
        ("tokens", "/api/v1/auth/tokens"),
        ("stakes", MATCHES),
        ("stakes", f"{MATCHES}/quick"),
        ("joins", f"{MATCHES}/{NOTHING}/join"),
        ("joins", f"{MATCHES}/{NOTHING}/rematch"),
        ("money", WITHDRAWALS),
        ("money", f"{WITHDRAWALS}/1/cancel"),
        ("files", "/api/v1/credits/statement.csv"),
        ("files", "/api/v1/export"),
        ("wallet", ME),
        ("address", "/"),
    )
    assert {name for name, _ in calls} == {name for name, *_ in LIMITS}
    by_name = {name: pattern for name, _, pattern, *_ in LIMITS}
    client = APIClient()
    for name, url in calls:
        method = by_name[name].split()[0] if name not in ("wallet", "address") else "GET"
        assert limits.re.match(by_name[name], f"{method} {url}"), name
        assert client.generic(method, url).status_code not in (404, 405), name


def test_limits_are_turned_off_by_data():
    assert scaled(0) == []
    assert [row[3] for row in scaled(0.0001)] == [1] * len(LIMITS)
