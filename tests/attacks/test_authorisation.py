"""Who may call what: each operation of the API, by each kind of caller, against one table."""

import json
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
import yaml
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from tests.attacks.callers import VOUCHER, World

pytestmark = pytest.mark.django_db
OPENAPI = Path(__file__).resolve().parents[2] / "docs" / "api" / "openapi.yaml"


class Row(NamedTuple):
    """An operation on ann's things: what it needs, and what she and a stranger are answered.

    `needs` is `nothing` (no login is looked at), `public` (none is needed, but a bad one is
    refused) or the scope that a token must have.
    """

    operation: str
    path: str
    needs: str
    owner: int
    stranger: int
    body: dict[str, Any] | None = None


MATCH = "/api/v1/matches/{match_id}"
STAKE = {"stake": 5}
ROWS = (
    Row("POST /api/v1/auth/nonce", "/auth/nonce", "nothing", 200, 200),
    Row("POST /api/v1/auth/login", "/auth/login", "nothing", 400, 400, {}),
    Row("POST /api/v1/auth/logout", "/auth/logout", "read", 204, 204),
    Row("GET /api/v1/auth/me", "/auth/me", "read", 200, 200),
    Row("GET /api/v1/auth/logins", "/auth/logins", "read", 200, 200),
    Row("POST /api/v1/auth/logins/revoke", "/auth/logins/revoke", "money", 204, 204, {}),
    Row(
        "POST /api/v1/auth/logins/{login_id}/revoke",
        "/auth/logins/{login}/revoke",
        "money",
        204,
        404,
    ),
    Row("POST /api/v1/auth/tokens", "/auth/tokens", "money", 201, 201, {"name": "a bot"}),
    Row("GET /api/v1/credits", "/credits", "read", 200, 200),
    Row("GET /api/v1/credits/statement", "/credits/statement", "read", 200, 200),
    Row("GET /api/v1/credits/statement.{form}", "/credits/statement.csv", "read", 200, 200),
    Row("GET /api/v1/export", "/export", "read", 200, 200),
    Row("GET /api/v1/chain", "/chain", "public", 200, 200),
    Row("GET /api/v1/deposits", "/deposits", "read", 200, 200),
    Row("GET /api/v1/withdrawals", "/withdrawals", "read", 200, 200),
    Row("POST /api/v1/withdrawals", "/withdrawals", "money", 201, 201, {"credits": 1}),
    Row(
        "POST /api/v1/withdrawals/{withdrawal_id}/cancel",
        "/withdrawals/{withdrawal}/cancel",
        "money",
        200,
        404,
    ),
    Row("GET /api/v1/leaderboard", "/leaderboard", "public", 200, 200),
    Row("GET /api/v1/players/{address}", "/players/{ann}", "public", 200, 200),
    Row("GET /api/v1/players/{address}/matches", "/players/{ann}/matches", "public", 200, 200),
    Row(
        "GET /api/v1/players/{address}/against/{other}",
        "/players/{ann}/against/{bob}",
        "public",
        200,
        200,
    ),
    Row("GET /api/v1/matches", "/matches?mine=true", "read", 200, 200),
    Row("POST /api/v1/matches", "/matches", "play", 201, 201, STAKE),
    Row("POST /api/v1/matches/quick", "/matches/quick", "play", 200, 200, STAKE),
    Row("GET /api/v1/matches/practice", "/matches/practice", "read", 200, 200),
    Row("POST /api/v1/matches/practice", "/matches/practice", "play", 400, 400, {}),
    Row(f"GET {MATCH}", "/matches/{running}", "read", 200, 404),
    Row(f"GET {MATCH}/events", "/matches/{running}/events", "read", 406, 404),  # no stream on WSGI
    Row(f"GET {MATCH}/transcript", "/matches/{running}/transcript", "read", 409, 404),
    Row(f"POST {MATCH}/join", "/matches/{open}/join", "play", 409, 404, {}),
    Row(f"POST {MATCH}/cancel", "/matches/{open}/cancel", "play", 200, 404),
    Row(f"POST {MATCH}/rematch", "/matches/{running}/rematch", "play", 409, 404),
    Row(f"POST {MATCH}/resign", "/matches/{running}/resign", "play", 200, 404),
    Row(
        f"POST {MATCH}/moves",
        "/matches/{running}/moves",
        "play",
        200,
        404,
        {"movement": 1, "move": "rock"},
    ),
    Row(
        f"POST {MATCH}/reveals",
        "/matches/{running}/reveals",
        "play",
        409,
        404,
        {"movement": 1, "move": "rock", "salt": "0" * 64},
    ),
    Row(f"POST {MATCH}/potions", "/matches/{running}/potions", "play", 409, 404),
)
LADDER = ("read", "play", "money")


def expected(row: Row, caller: str) -> int:
    if row.needs == "nothing":
        return row.owner
    writes = row.operation.startswith("POST")
    needed = row.needs if writes else "read"
    if row.needs == "public":
        return {"frozen": 401}.get(caller, row.owner)
    if caller in ("play token", "read token"):
        return row.owner if LADDER.index(caller.split()[0]) >= LADDER.index(needed) else 403
    return {
        "anonymous": 401,
        "owner": row.owner,
        "stranger": row.stranger,
        "session without CSRF": 403 if writes else row.owner,
        "operator": 403,
        "frozen": 401,
    }[caller]


def operations() -> set[str]:
    schema = yaml.safe_load(OPENAPI.read_text())
    return {
        f"{method.upper()} {path}" for path, calls in schema["paths"].items() for method in calls
    }


def test_every_operation_has_one_row():
    listed = [row.operation for row in ROWS]
    assert len(listed) == len(set(listed))
    assert set(listed) == operations()


@pytest.fixture
def world(settings):
    world = World()
    settings.CHAIN_ID = world.vault.chain_id
    return world


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.operation)
def test_each_kind_of_caller_is_answered_as_the_table_says(world, row):
    method, names = row.operation.split()[0], world.names()
    body = None if row.body is None else json.dumps(row.body)
    answers = {}
    for caller, client in world.callers().items():
        with transaction.atomic():
            url = "/api/v1" + row.path.format(**names)
            answer = client.generic(method, url, body or "", "application/json" if body else "")
            answers[caller] = answer
            transaction.set_rollback(True)
    statuses = {caller: answer.status_code for caller, answer in answers.items()}
    assert statuses == {caller: expected(row, caller) for caller in statuses}
    # What is streamed is in tests/site/test_export.py.
    told = getattr(answers["stranger"], "content", b"").decode()
    for secret in (world.open.invitation, world.running.invitation, str(VOUCHER)):
        assert secret not in told


@pytest.mark.parametrize(
    "row", [r for r in ROWS if r.operation.startswith("GET")], ids=lambda row: row.operation
)
def test_no_cache_keeps_what_a_player_is_told_or_gives_a_player_what_others_are_told(world, row):
    url, callers = "/api/v1" + row.path.format(**world.names()), world.callers()
    for caller in ("owner", "stranger", "read token", "session without CSRF"):
        assert callers[caller].get(url)["Cache-Control"] == "no-store", caller
    if row.needs == "public":
        assert {"Authorization", "Cookie"} <= set(callers["anonymous"].get(url)["Vary"].split(", "))


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "{" in row.path and row.stranger == 404], ids=lambda r: r.path
)
def test_a_strangers_thing_looks_as_one_that_does_not_exist(world, row):
    """The same answer; and the same work is done for it, where an id can be found by counting.

    A match's id has 122 random bits: who knows of one was told.
    """
    client, method = world.callers()["stranger"], row.operation.split()[0]
    names = world.names()
    nothing = dict.fromkeys(("open", "running", "login"), uuid4()) | {"withdrawal": 2**40}
    seen = []
    for these in (names, names | nothing):
        with transaction.atomic(), CaptureQueriesContext(connection) as queries:
            url = "/api/v1" + row.path.format(**these)
            answer = client.generic(method, url, json.dumps(row.body or {}), "application/json")
            transaction.set_rollback(True)
        work = len(queries) if "{withdrawal}" in row.path or "{login}" in row.path else None
        seen.append((answer.status_code, answer.content, work))
    assert seen[0] == seen[1]
