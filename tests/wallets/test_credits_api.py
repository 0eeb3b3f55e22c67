"""A player's credits and statement over HTTP: own ones only, page by page."""

import base64
from urllib.parse import urlencode

import pytest
from rest_framework.test import APIClient

from tests.wallets.ledger_helpers import new_wallet
from tests.wallets.login_helpers import problem
from wallets import ledger
from wallets.models import Account, Transfer

pytestmark = pytest.mark.django_db
CREDITS, STATEMENT = "/api/v1/credits", "/api/v1/credits/statement"


def client_of(wallet):
    client = APIClient()
    client.force_authenticate(user=wallet)
    return client


def give(wallet, amount, key):
    ledger.mint(wallet=wallet, credits_=amount, key=key)


@pytest.fixture
def rich(db):
    """A player with seven deposits: of 1, 2, … 7 credits."""
    wallet = new_wallet()
    for n in range(1, 8):
        give(wallet, n, f"deposit:{n}")
    return wallet


@pytest.mark.parametrize("url", [CREDITS, STATEMENT])
def test_only_who_is_logged_in_is_told(url):
    problem(APIClient().get(url), 401, "not_authenticated")
    problem(client_of(new_wallet()).post(url), 405, "method_not_allowed")


def test_a_new_wallet_has_nothing():
    client = client_of(new_wallet())
    expected = {"available": 0, "in_play": 0, "pending_withdrawal": 0}
    assert client.get(CREDITS).json() == expected
    assert client.get(STATEMENT).json() == {"next": None, "previous": None, "results": []}


def test_credits_are_counted_where_they_are(rich):
    pending = ledger.open_account(kind=Account.Kind.PENDING, key="withdrawal:1", wallet=rich)
    source = ledger.player_account(rich)
    ledger.move(kind=Transfer.Kind.ADJUSTMENT, key="out:1", source=source, target=pending, amount=8)
    expected = {"available": 20, "in_play": 0, "pending_withdrawal": 8}
    assert client_of(rich).get(CREDITS).json() == expected


def test_a_statement_is_the_newest_first_with_the_balance_after_each_line(rich):
    lines = client_of(rich).get(STATEMENT).json()["results"]
    assert [line["amount"] for line in lines] == [7, 6, 5, 4, 3, 2, 1]
    assert [line["balance"] for line in lines] == [28, 21, 15, 10, 6, 3, 1]
    assert {line["kind"] for line in lines} == {"deposit"}
    assert lines[0]["cause"] == "deposit:7"


def test_nobody_sees_anothers_lines(rich):
    assert client_of(new_wallet()).get(STATEMENT).json()["results"] == []


def test_pages_follow_each_other_though_new_lines_come_in(rich):
    client, amounts, url = client_of(rich), [], f"{STATEMENT}?page_size=3"
    while url:
        page = client.get(url).json()
        amounts += [line["amount"] for line in page["results"]]
        url = page["next"]
        give(rich, 100, f"deposit:late:{len(amounts)}")
    assert amounts == [7, 6, 5, 4, 3, 2, 1]


def test_there_is_a_way_back(rich):
    client = client_of(rich)
    first = client.get(STATEMENT, {"page_size": 3}).json()
    second = client.get(first["next"]).json()
    assert client.get(second["previous"]).json()["results"] == first["results"]


@pytest.mark.parametrize(
    ("page_size", "lines"),
    [("1", 1), ("200", 7), ("201", 7), ("9" * 5000, 7), ("0", 7), ("-1", 7), ("x", 7)],
)
def test_a_page_size_out_of_range_is_not_followed(rich, page_size, lines):
    answer = client_of(rich).get(STATEMENT, {"page_size": page_size})
    assert answer.status_code == 200
    assert len(answer.json()["results"]) == lines


def test_a_page_has_200_lines_at_most(rich, monkeypatch):
    from wallets.api import NewestPostings

    monkeypatch.setattr(NewestPostings, "max_page_size", 5)
    answer = client_of(rich).get(STATEMENT, {"page_size": 6})
    assert len(answer.json()["results"]) == 5


def cursor(**fields):
    return base64.b64encode(urlencode(fields).encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "é",
        cursor(p="x"),
        cursor(p="\0"),
        cursor(p="1.5"),
        cursor(p="9" * 5000),
        cursor(p="2026-01-01"),
        cursor(p="1", o="x"),
    ],
)
def test_a_made_up_cursor_is_refused(rich, text):
    problem(client_of(rich).get(STATEMENT, {"cursor": text}), 400, "invalid")


@pytest.mark.parametrize("position", ["0", "-1", "9" * 30, "3"])
def test_a_cursor_may_point_to_where_nothing_is(rich, position):
    assert client_of(rich).get(STATEMENT, {"cursor": cursor(p=position)}).status_code == 200


def test_a_statement_costs_no_more_queries_when_it_is_longer(rich, django_assert_num_queries):
    client = client_of(rich)
    for page_size in (1, 7):
        with django_assert_num_queries(2):
            client.get(STATEMENT, {"page_size": page_size})
