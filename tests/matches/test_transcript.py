"""The transcripts of real matches: shown once a match has ended, and each of them verifies."""

import json

import pytest

from engine.verify import Fault, verify
from matches import battle, lobby
from matches.transcript import transcript
from tests.matches.helpers import PAPER, ROCK, Table, player
from tests.matches.test_api_errors import problem
from tests.matches.test_chance import play_whole_match
from tests.matches.transcripts import verify_matches

API = "/api/v1/matches"


def published(client, match):
    answer = client.get(f"{API}/{match.pk}/transcript")
    assert answer.status_code == 200
    return answer.json()


@pytest.mark.django_db
@pytest.mark.parametrize("misses", [0.03, 0.15, 0.6])
def test_random_matches_verify_from_what_the_api_publishes(client_of, misses):
    client = client_of(player())
    match = play_whole_match(5, misses=misses)
    document = published(client, match)
    proved = verify(document)
    assert proved.match == str(match.pk)
    assert proved.result["ended_by"] == match.ended_by
    assert proved.events == match.event_count
    # As it is kept by players: written, read, its keys in another order.
    assert verify(json.loads(json.dumps(document, sort_keys=True))) == proved


@pytest.mark.django_db
def test_resigned_and_abandoned_matches_and_odd_stakes_verify(client_of, settings):
    settings.HOUSE_FEE_BPS = 333
    resigned, abandoned = Table(stake=7), Table(stake=1)
    resigned.play("a", ROCK)
    resigned.lock_in("b", PAPER)
    resigned.resign("b")
    for _ in range(3):
        abandoned.miss()
    for table in (resigned, abandoned):
        document = published(client_of(table.wallets["a"]), table.now())
        assert verify(document).result == document["result"]
        assert document["result"]["status"] == table.now().status
    assert "paper" not in json.dumps(document)


@pytest.mark.django_db
def test_a_row_that_was_changed_afterwards_does_not_verify(table):
    table.movement(PAPER, ROCK)
    table.resign("b")
    match = table.now()
    verify(transcript(match))
    for field, value, where in (
        ("stake", 101, "header.stake"),
        ("winner", "b", "result.winner"),
        ("ended_by", "rounds", "result.ended_by"),
        ("chain_hash", "00" * 32, "chain_hash"),
        ("fee_bps", 0, "header.fee_bps"),
    ):
        kept = getattr(match, field)
        setattr(match, field, value)
        with pytest.raises(Fault) as found:
            verify(transcript(match))
        assert found.value.where == where
        setattr(match, field, kept)


@pytest.mark.django_db
def test_there_is_none_before_the_end_nor_of_a_match_that_was_never_played(client_of, table):
    client, url = client_of(table.wallets["a"]), f"{API}/{table.id}/transcript"
    problem(client.get(url), 409, "no_transcript")
    opened = lobby.create_match(wallet=table.wallets["a"], stake=1, visibility="open")
    problem(client.get(f"{API}/{opened.pk}/transcript"), 409, "no_transcript")
    lobby.cancel_match(wallet=table.wallets["a"], match_id=opened.pk)
    problem(client.get(f"{API}/{opened.pk}/transcript"), 409, "no_transcript")
    table.resign("b")
    assert client.get(url).status_code == 200


@pytest.mark.django_db
def test_who_may_see_the_match_may_verify_it_and_nobody_else(client_of):
    table = Table(visibility="invitation")
    battle.resign(wallet=table.wallets["a"], match_id=table.id)
    client, url = client_of(player()), f"{API}/{table.id}/transcript"
    problem(client.get(url), 404, "not_found")
    invitation = table.match.invitation
    assert client.get(url, headers={"Invitation": invitation}).status_code == 200
    assert client_of(table.wallets["b"]).get(url).status_code == 200


@pytest.mark.django_db
def test_a_deadline_that_ends_the_match_is_applied_before_the_transcript_is_shown(client_of, table):
    table.miss()
    table.miss()
    table.pass_deadline()
    document = published(client_of(player()), table.match)
    assert verify(document).result["status"] == "abandoned"


@pytest.mark.django_db
def test_short_matches_verify_and_no_bit_of_one_can_be_changed():
    counts = verify_matches(matches=12, whole=0, changed=1, say=lambda text: None)
    assert counts["matches"] == 12
    assert counts["changes found and named"] > 100
