"""The leaderboard: each match that counts is rated once, and the order of rating is kept."""

import math
import random
from base64 import urlsafe_b64encode

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from glicko2.math import mu_to_rating, phi_to_rd, rating_to_mu, rd_to_phi, update_rating
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from engine import Ape
from matches import battle, leaderboard, lobby, tasks
from matches.models import Match, RatedMatch, Rating
from tests.matches.helpers import ROCK, Table, at_once, player
from tests.matches.test_api_errors import problem
from tests.matches.test_voiding import operator

API = "/api/v1/leaderboard"


def ended(winner, loser, *, drawn=False):
    """A match that has ended and counts, put straight into the database."""
    match = Match.objects.create(
        status="draw" if drawn else "won",
        winner="" if drawn else "a",
        visibility="open",
        stake=1,
        ruleset="god-v1",
        rulings={},
        fee_bps=0,
        lock_seconds=1,
        reveal_seconds=1,
        sealed_secret=b"",
    )
    match.seats.create(side="a", wallet=winner, staked=0)
    match.seats.create(side="b", wallet=loser, staked=0)
    leaderboard.enter(match)
    return match


def ratings():
    return {row["wallet_id"]: row for row in Rating.objects.order_by("wallet").values()}


def rows(client=None, **query):
    return (client or APIClient()).get(API, query).json()["results"]


def test_the_library_computes_glickmans_own_example():
    others = [(1400, 30, 1), (1550, 100, 0), (1700, 300, 0)]
    met = [(rating_to_mu(rating), rd_to_phi(deviation), won) for rating, deviation, won in others]
    mu, phi, sigma = update_rating(rating_to_mu(1500), rd_to_phi(200), 0.06, met, tau=0.5)
    assert math.isclose(mu_to_rating(mu), 1464.06, abs_tol=0.02)
    assert math.isclose(phi_to_rd(phi), 151.52, abs_tol=0.01)
    assert math.isclose(sigma, 0.05999, abs_tol=0.00001)


def by_resigning(table):
    table.resign("b")


def by_a_draw(table):
    table.put(movement=table.now().rulings["max_movements"], a=Ape(rounds=2), b=Ape())
    table.movement(ROCK, ROCK)


def by_absence(table):
    for _ in range(3):
        table.miss()


def by_voiding(table):
    battle.void(operator=operator(), match_id=table.id, reason="a test")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("end", "counts"),
    [(by_resigning, True), (by_a_draw, True), (by_absence, False), (by_voiding, False)],
)
def test_matches_that_were_won_or_drawn_count_and_others_do_not(end, counts):
    table = Table()
    end(table)
    cancelled = lobby.create_match(wallet=table.wallets["a"], stake=1, visibility="open")
    lobby.cancel_match(wallet=table.wallets["a"], match_id=cancelled.pk)
    assert tasks.rate_matches() == counts
    assert Rating.objects.count() == 2 * counts
    assert {rating.played for rating in Rating.objects.all()} == ({1} if counts else set())


@pytest.mark.django_db
def test_the_winner_gains_what_the_loser_loses_and_a_draw_of_equals_changes_no_rating():
    a, b, c, d = (player(0) for _ in range(4))
    ended(a, b)
    ended(c, d, drawn=True)
    assert tasks.rate_matches() == 2
    assert [(row["rank"], row["address"]) for row in rows()][::3] == [
        (1, a.address),
        (4, b.address),
    ]
    best, *_, worst = rows()
    assert best["rating"] - 1500 == 1500 - worst["rating"] > 100
    assert (best["won"], worst["lost"], rows()[1]["drawn"]) == (1, 1, 1)
    assert {row["rating"] for row in rows()[1:3]} == {1500}
    assert all(row["provisional"] and 250 < row["deviation"] < 350 for row in rows())


@pytest.mark.django_db
def test_a_rating_is_provisional_until_enough_is_known():
    a, b = player(0), player(0)
    seen = []
    for n in range(30):
        ended(a, b) if n % 2 else ended(b, a)
        tasks.rate_matches()
        seen.append(rows()[0]["provisional"])
    assert seen == sorted(seen, reverse=True)
    assert set(seen) == {True, False}


@pytest.mark.django_db
def test_a_match_is_rated_once_whoever_asks_again():
    match = ended(player(0), player(0))
    assert leaderboard.rate(match_id=match.pk)
    before = ratings()
    assert not leaderboard.rate(match_id=match.pk)
    assert tasks.rate_matches() == 0
    assert ratings() == before


@pytest.mark.django_db
def test_one_that_can_not_be_rated_holds_up_none_of_the_others():
    broken, sound = (ended(player(0), player(0)) for _ in range(2))
    Rating.objects.create(wallet=broken.seats.get(side="a").wallet, deviation=-1)
    assert tasks.rate_matches() == 1
    assert leaderboard.waiting() == [broken.pk]
    assert RatedMatch.objects.get(match=sound).n == 1


@pytest.mark.django_db(transaction=True)
def test_many_that_rate_at_once_rate_each_match_once_and_number_them_without_a_gap():
    players = [player(0) for _ in range(3)]
    for n in range(9):
        ended(players[n % 3], players[(n + 1) % 3], drawn=n % 4 == 0)
    results = at_once(*[tasks.rate_matches] * 3, leaderboard.recompute)
    assert sum(results[:3]) == 9
    assert sorted(RatedMatch.objects.values_list("n", flat=True)) == list(range(1, 10))
    assert sum(rating.played for rating in Rating.objects.all()) == 18
    kept = ratings()
    assert leaderboard.recompute() == 9
    assert ratings() == kept


met = st.tuples(st.permutations(range(4)), st.booleans()).map(lambda m: (*m[0][:2], m[1]))


@pytest.mark.django_db
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=st.lists(met, max_size=12), luck=st.randoms(use_true_random=False))
def test_built_anew_from_any_history_the_ratings_are_the_same(history, luck):
    RatedMatch.objects.all().delete()
    Rating.objects.all().delete()
    players = [player(0) for _ in range(4)]
    matches = [ended(players[a], players[b], drawn=drawn) for a, b, drawn in history]
    # In whatever order they come to be rated.
    luck.shuffle(matches)
    for match in matches:
        assert leaderboard.rate(match_id=match.pk)
    kept = ratings()
    for n, wallet in enumerate(players):
        meetings = [(a, drawn) for a, b, drawn in history if n in (a, b)]
        row = kept.get(wallet.pk, {"won": 0, "lost": 0, "drawn": 0})
        assert row["won"] == sum(a == n and not drawn for a, drawn in meetings)
        assert row["lost"] == sum(a != n and not drawn for a, drawn in meetings)
        assert row["drawn"] == sum(drawn for _, drawn in meetings)
    assert leaderboard.recompute() == len(history)
    assert ratings() == kept


@pytest.fixture
def many(db):
    """Seven players of the leaderboard, three of them level."""
    scores = [1700, 1650.1, 1600, 1600, 1600, 1500, 1499.9]
    random.Random(1).shuffle(scores)
    return [Rating.objects.create(wallet=player(0), rating=score, won=1) for score in scores]


def test_pages_go_on_without_a_gap_or_a_repeat_and_the_ranks_with_them(many):
    client, link, seen = APIClient(), f"{API}?page_size=2", []
    while link:
        page = client.get(link).json()
        assert page["previous"] is None
        seen += page["results"]
        link = page["next"]
    assert [row["rank"] for row in seen] == list(range(1, 8))
    assert [row["rating"] for row in seen] == [1700, 1650, 1600, 1600, 1600, 1500, 1500]
    assert len({row["address"] for row in seen}) == 7


@pytest.mark.parametrize("cursor", ["x", "é", "MQ==", "MSBhIDI=", "MSBuYW4gLTE=", "a" * 5000])
def test_a_cursor_that_was_made_up_is_refused_or_leads_nowhere(many, cursor):
    answer = APIClient().get(API, {"cursor": cursor})
    if answer.status_code != 200:
        problem(answer, 400, "invalid")


@pytest.mark.parametrize(
    "parts",
    [
        ("9" * 4300, "inf", "1"),  # its successor is too long a number to be written
        ("-1", "1600.0", "1"),
        (str(2**63), "1600.0", "1"),
        ("1", "1600.0", "-1"),
        ("1", "1600.0", str(2**63)),
        ("1", "inf", "1"),
        ("1", "-inf", "1"),
        ("1", "nan", "1"),
        ("1", "1e999", "1"),
    ],
)
def test_a_cursor_of_numbers_that_no_page_has_is_refused(many, parts):
    cursor = urlsafe_b64encode(" ".join(parts).encode()).decode()
    client = APIClient(raise_request_exception=False)
    problem(client.get(API, {"cursor": cursor}), 400, "invalid")


def test_a_page_is_one_query_that_reads_the_index_from_where_the_last_one_ended(many):
    client = APIClient()
    link = client.get(API, {"page_size": 2}).json()["next"]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
    with CaptureQueriesContext(connection) as captured:
        client.get(link)
    (query,) = captured
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {query['sql']}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "rating_best_first" in plan
    assert "Index Cond: (ROW(rating, wallet_id) < ROW(" in plan.replace("matches_rating.", "")
    assert "Sort" not in plan


def test_the_ratings_can_be_built_anew_by_a_command(db, capsys):
    ended(player(0), player(0))
    tasks.rate_matches()
    Rating.objects.update(rating=1)
    call_command("recompute_ratings")
    assert capsys.readouterr().out == "1 matches rated.\n"
    assert {rating.rating for rating in Rating.objects.all()} != {1}


def test_the_order_in_which_matches_ended_is_the_order_of_rating(db, table):
    other = Table()
    other.resign("a")
    table.resign("a")
    assert leaderboard.waiting() == [other.id, table.id]
    tasks.rate_matches()
    assert [RatedMatch.objects.get(match=t.id).n for t in (other, table)] == [1, 2]
