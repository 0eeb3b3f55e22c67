"""What readers are shown: cards in lists, whole matches, and how few queries that takes."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engine import GOD_V1, RULINGS, Ape, legal_choices
from matches import lobby, selectors
from matches.models import Match
from tests.matches.helpers import PAPER, ROCK, Table, player, win_for
from wallets.errors import NotFound

pytestmark = pytest.mark.django_db
API = "/api/v1/matches"


def queries_of(action):
    with CaptureQueriesContext(
        connection,
    ) as captured:
        action()
    return len(captured)


def test_the_lobby_lists_open_matches_that_anyone_may_join_newest_first(client_of):
    maker = player()
    made = [lobby.create_match(wallet=maker, stake=n, visibility="open") for n in (1, 2, 3)]
    lobby.create_match(wallet=maker, stake=4, visibility="invitation")
    lobby.cancel_match(wallet=maker, match_id=made[0].pk)
    Table()
    cards = client_of(player()).get(API).json()["results"]
    assert [card["stake"] for card in cards] == [3, 2]
    assert cards[0]["players"] == {"a": maker.address}


def test_ones_own_list_has_every_match_of_ones_own_and_no_other(client_of):
    table = Table()
    mine = lobby.create_match(wallet=table.wallets["a"], stake=1, visibility="invitation")
    lobby.cancel_match(wallet=table.wallets["a"], match_id=mine.pk)
    Table()
    cards = client_of(table.wallets["a"]).get(API, {"mine": "1"}).json()["results"]
    assert [card["status"] for card in cards] == ["cancelled", "running"]


def test_lists_go_on_by_cursor_without_a_gap_or_a_repeat(client_of):
    maker, client = player(), client_of(player())
    for stake in range(1, 8):
        lobby.create_match(wallet=maker, stake=stake, visibility="open")
    # The same instant for some, so that the time alone does not tell them apart.
    Match.objects.filter(stake__lt=5).update(created_at=timezone.now() - timedelta(hours=1))
    seen, link = [], f"{API}?page_size=2"
    while link:
        page = client.get(link).json()
        seen += [card["stake"] for card in page["results"]]
        link = page["next"]
    assert sorted(seen) == list(range(1, 8))
    assert seen[:3] == [7, 6, 5]


def test_a_list_of_fifty_takes_as_many_queries_as_a_list_of_one(client_of):
    maker, client = player(), client_of(player())
    for visibility in ("open", "open"):
        lobby.create_match(wallet=maker, stake=1, visibility=visibility)
    of_two = queries_of(lambda: client.get(API))
    for _ in range(50):
        lobby.create_match(wallet=player(1), stake=1, visibility="open")
    captured = []
    of_fifty = queries_of(lambda: captured.append(client.get(API)))
    assert len(captured[0].json()["results"]) == 50
    assert of_two == of_fifty <= 3


def test_a_table_takes_few_queries_however_long_the_match(client_of):
    table = Table()
    client = client_of(player())
    first = queries_of(lambda: client.get(f"{API}/{table.id}"))
    for side in "abab":
        win_for(table, side)
    table.play("a", ROCK)
    later = queries_of(lambda: client.get(f"{API}/{table.id}"))
    assert first == later <= 5


@pytest.mark.parametrize("visibility", ["open", "invitation"])
def test_a_call_of_the_battle_takes_a_bounded_number_of_queries(client_of, visibility):
    table = Table(visibility=visibility)
    table.play("a", ROCK)
    client = client_of(table.wallets["b"])
    body = {"movement": 1, "move": "rock"}
    assert queries_of(lambda: client.post(f"{API}/{table.id}/moves", body)) <= 24
    assert table.state.movement == 2


def test_a_match_by_invitation_is_shown_to_its_players_and_to_who_has_the_invitation(client_of):
    table = Table(visibility="invitation")
    url = f"{API}/{table.id}"
    assert client_of(table.wallets["a"]).get(url).json()["you"] == "a"
    assert client_of(table.wallets["b"]).get(url).json()["you"] == "b"
    guest = client_of(player())
    assert guest.get(url, headers={"Invitation": table.match.invitation}).json()["you"] is None
    assert guest.get(url).status_code == 404
    assert guest.get(url, {"invitation": table.match.invitation}).status_code == 404


def test_who_may_not_see_a_match_does_not_find_it():
    table = Table(visibility="invitation")
    for invitation in ("", "wrong", "\0"):
        with pytest.raises(NotFound):
            selectors.match_for(player(), table.id, invitation)
    assert selectors.match_for(player(), table.id, table.match.invitation).pk == table.id


def test_before_the_start_there_is_no_play():
    maker = player()
    match = lobby.create_match(wallet=maker, stake=1, visibility="open")
    shown = selectors.table(match, maker)
    assert (shown["play"], shown["server_secret"], shown["you"]) == (None, None, "a")
    assert shown["invitation"] == match.invitation
    assert selectors.table(match, player())["invitation"] is None
    assert list(shown["rulings"]) == list(RULINGS)


def test_legal_choices_are_ones_own():
    table = Table()
    table.put(a=Ape(alphas=3, wilds=1), b=Ape())
    match = table.now()
    for side, wallet in table.wallets.items():
        shown = selectors.table(match, wallet)["play"]["legal_choices"]
        expected = legal_choices(table.state, side, GOD_V1)
        assert shown == [choice._asdict() for choice in expected]
    assert selectors.table(match, player())["play"]["legal_choices"] == []


def test_who_has_locked_in_and_revealed_is_seen_by_all():
    table = Table()

    def marks():
        apes = selectors.table(table.now(), player())["play"]["apes"]
        return {side: (ape["locked_in"], ape["revealed"]) for side, ape in apes.items()}

    assert marks() == {"a": (False, False), "b": (False, False)}
    table.play("a", PAPER)
    assert marks() == {"a": (True, False), "b": (False, False)}
    table.lock_in("b", ROCK)
    assert marks() == {"a": (True, True), "b": (True, False)}
    table.reveal("b", ROCK)
    assert marks() == {"a": (False, False), "b": (False, False)}


def test_a_view_made_while_the_match_goes_on_is_of_one_moment():
    table = Table()
    table.movement(PAPER, ROCK)
    match = table.now()
    table.movement(ROCK, PAPER)
    play = selectors.table(match, player())["play"]
    assert (play["movement"], play["last_movement"]["movement"]) == (2, 1)


def test_after_the_end_the_secret_is_shown_and_nothing_is_left_to_choose():
    table = Table()
    table.almost_won_by("a")
    table.movement(PAPER, ROCK)
    shown = selectors.table(table.now(), table.wallets["b"])
    play = shown["play"]
    assert len(shown["server_secret"]) == 64
    assert (play["stage"], play["deadline"], play["legal_choices"]) == (None, None, [])
    assert not any(ape["locked_in"] or ape["revealed"] for ape in play["apes"].values())
    assert play["last_movement"]["movement"] == play["movement"] == 5
