"""A player's record, history and head-to-head: what everybody, and what only the two, may see."""

import pytest
from rest_framework.test import APIClient

from matches import battle, lobby, tasks
from tests.matches.helpers import Table, player
from tests.matches.test_api_errors import problem
from tests.matches.test_leaderboard import by_a_draw, by_absence, by_voiding, ended
from tests.matches.test_views import queries_of

pytestmark = pytest.mark.django_db
API = "/api/v1/players"
NOBODY = "0x00000000000000000000000000000000DeaDBeef"
COUNTS = ("played", "won", "lost", "drawn")


def get(path, wallet=None, client_of=None, **query):
    client = client_of(wallet) if wallet else APIClient()
    answer = client.get(f"{API}/{path}", query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_a_player_is_known_by_the_matches_that_count(table):
    a, b = (table.wallets[side] for side in "ab")
    table.resign("b")
    tasks.rate_matches()
    best, worst = (get(wallet.address) for wallet in (a, b))
    assert best["rating"] > 1500 > worst["rating"]
    assert [best[name] for name in COUNTS] == [1, 1, 0, 0]
    assert [worst[name] for name in COUNTS] == [1, 0, 1, 0]
    assert best["since"][:10] == a.created_at.isoformat()[:10]
    (row, _) = APIClient().get("/api/v1/leaderboard").json()["results"]
    assert {**row, "since": best["since"]} == {**best, "rank": 1}


def test_an_address_is_read_in_any_casing_and_answered_in_eip_55_form(table):
    address = table.wallets["a"].address
    digits = address[2:]
    for text in (address, f"0x{digits.upper()}", f"0X{digits.lower()}", f"0x{digits.swapcase()}"):
        assert get(text)["address"] == address
        assert get(f"{NOBODY}/against/{text}")["against"] == address


@pytest.mark.parametrize("text", ["0x12", "me", "0x" + "g" * 40, "0x" + "1" * 41, "1" * 40])
def test_what_is_no_address_is_not_found(text):
    for path in (text, f"{text}/matches", f"{text}/against/{NOBODY}", f"{NOBODY}/against/{text}"):
        problem(APIClient().get(f"{API}/{path}"), 404, "not_found")


def test_who_was_never_rated_looks_like_an_address_that_nobody_uses(table):
    private = Table(visibility="invitation")
    private.resign("b")
    for path in ("", "/matches", f"/against/{NOBODY}"):
        known, unknown = (get(f"{who}{path}") for who in (player().address, NOBODY))
        assert known | {"address": 0} == unknown | {"address": 0}
        if path:  # the rating of a match by invitation is known, the match is not
            hidden = get(f"{private.wallets['a'].address}{path}")
            assert hidden | {"address": 0} == unknown | {"address": 0}
    assert get(NOBODY)["rating"] is None


def test_the_history_tells_how_each_match_ended_for_the_player():
    table = Table(stake=10)
    table.resign("b")
    won = get(f"{table.wallets['a'].address}/matches")["results"]
    lost = get(f"{table.wallets['b'].address}/matches")["results"]
    assert [(row["result"], row["payout"], row["side"]) for row in won] == [("won", 20, "a")]
    assert [(row["result"], row["payout"], row["side"]) for row in lost] == [("lost", 0, "b")]
    assert won[0]["opponent"] == table.wallets["b"].address
    assert (won[0]["id"], won[0]["stake"]) == (str(table.id), 10)
    for end, result in ((by_a_draw, "drawn"), (by_absence, "abandoned"), (by_voiding, "voided")):
        table = Table(stake=10)
        end(table)
        for wallet in table.wallets.values():
            (row,) = get(f"{wallet.address}/matches")["results"]
            assert (row["result"], row["payout"]) == (result, 10)


def test_only_matches_that_were_played_and_have_ended_are_listed(table):
    maker = table.wallets["a"]
    waiting = lobby.create_match(wallet=maker, stake=1, visibility="open")
    assert get(f"{maker.address}/matches")["results"] == []
    lobby.cancel_match(wallet=maker, match_id=waiting.pk)
    assert get(f"{maker.address}/matches")["results"] == []
    table.resign("a")
    assert len(get(f"{maker.address}/matches")["results"]) == 1


def test_matches_by_invitation_are_shown_to_their_two_players_only(client_of):
    table = Table(visibility="invitation")
    table.resign("b")
    a, b = table.wallets.values()
    for reader, seen in ((a, 1), (b, 1), (player(), 0), (None, 0)):
        for wallet, other, results in ((a, b, (seen, 0)), (b, a, (0, seen))):
            rows = get(f"{wallet.address}/matches", reader, client_of)["results"]
            assert len(rows) == seen
            record = get(f"{wallet.address}/against/{other.address}", reader, client_of)
            assert (record["won"], record["lost"]) == results


def test_head_to_head_counts_the_matches_of_the_two_alone():
    a, b, c = (player(0) for _ in range(3))
    for winner, loser, drawn in (
        (a, b, False),
        (a, b, False),
        (b, a, False),
        (a, b, True),
        (a, c, False),
        (c, b, False),
    ):
        match = ended(winner, loser, drawn=drawn)
        match.started_at = match.ended_at = match.created_at
        match.save()
    record = get(f"{a.address}/against/{b.address}")
    assert record == {"address": a.address, "against": b.address, "won": 2, "lost": 1, "drawn": 1}
    record = get(f"{b.address}/against/{a.address}")
    assert [record[name] for name in ("won", "lost", "drawn")] == [1, 2, 1]
    for other in (a.address, NOBODY):
        assert get(f"{a.address}/against/{other}")["won"] == 0


def test_a_history_comes_in_pages_newest_first_and_a_page_in_few_queries():
    maker, rival = player(), player()
    for stake in range(1, 6):
        match = lobby.create_match(wallet=maker, stake=stake, visibility="open")
        lobby.join_match(wallet=rival, match_id=match.pk)
        battle.resign(wallet=rival, match_id=match.pk)
    seen, link = [], f"{API}/{rival.address}/matches?page_size=2"
    while link:
        page = APIClient().get(link).json()
        seen += [row["stake"] for row in page["results"]]
        link = page["next"]
    assert seen == [5, 4, 3, 2, 1]
    one, five = (
        queries_of(lambda size=size: get(f"{rival.address}/matches", page_size=size))
        for size in (1, 5)
    )
    assert one == five <= 4
