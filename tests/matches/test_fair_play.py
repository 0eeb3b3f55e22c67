"""Pairs that give a sign of foul play are listed with it; innocent pairs are not."""

import random
import uuid
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from matches import fair_play
from matches.fair_play import suspicious_pairs
from matches.models import Event, Match, Seat
from tests.matches.helpers import player
from wallets.models import Wallet

pytestmark = pytest.mark.django_db
MOVES = ("rock", "paper", "scissors")


def play(a, b, *, winner="a", stake=10, ended_by="rounds", seconds=600, moves=(), days_ago=1):
    """A match that has ended, as rows alone: the money is of no matter here."""
    started = timezone.now() - timedelta(days=days_ago)
    match = Match.objects.create(
        id=uuid.uuid4(),
        status="won" if winner else "draw",
        winner=winner,
        visibility="open",
        invitation="x",
        ruleset="god-v1",
        rulings={},
        stake=stake,
        fee_bps=0,
        lock_seconds=30,
        reveal_seconds=15,
        secret_hash="0" * 64,
        sealed_secret=b"x",
        ended_by=ended_by,
        started_at=started,
        ended_at=started + timedelta(seconds=seconds),
    )
    Match.objects.filter(pk=match.pk).update(created_at=started)
    for side, wallet in (("a", a), ("b", b)):
        Seat.objects.create(match=match, side=side, wallet=wallet, staked=0)
    for n, (of_a, of_b) in enumerate(moves, 1):
        said = {
            side: {"move": move, "tribute": None, "salt": uuid.uuid4().hex}
            for side, move in (("a", of_a), ("b", of_b))
        }
        body = {"type": "movement", "movement": n, **said}
        Event.objects.create(match=match, n=n, body=body, chain_hash="0" * 64)
    return match


@pytest.fixture
def two() -> tuple[Wallet, Wallet]:
    return player(0), player(0)


def nobody_known(_wallets: set[int]) -> dict[int, str]:
    return {}


def evidence(payers_of=nobody_known) -> list[str]:
    return [words for pair in suspicious_pairs(payers_of) for words in pair.evidence]


def some_moves(seed: int) -> list[tuple[str, str]]:
    chance = random.Random(seed)
    return [(chance.choice(MOVES), chance.choice(MOVES)) for _ in range(8)]


def test_two_who_play_hardly_anybody_else_are_listed(two):
    for n in range(20):
        play(*two, winner="ab"[n % 2])
    for n in range(5):
        play(two[0], player(0), winner="ab"[n % 2])
    assert evidence() == ["met 20 times, of 20 matches that one of them has played"]
    (pair,) = suspicious_pairs(nobody_known)
    assert {pair.one, pair.other} == set(two)
    assert len(pair.newest) == 5


def test_two_who_meet_as_often_among_many_others_are_not(two):
    for n in range(20):
        play(*two, winner="ab"[n % 2])
        play(two[0], player(0))
        play(two[1], player(0))
    assert evidence() == []


def test_fast_resignations_are_listed_and_slow_ones_are_not(two):
    for n in range(4):
        play(*two, winner="ab"[n % 2], ended_by="resigned", seconds=61)
    assert evidence() == []
    for n in range(4):
        play(*two, winner="ab"[n % 2], ended_by="resigned", seconds=5)
    assert evidence() == ["4 of 8 matches resigned within 60 s"]


def test_a_flow_that_goes_one_way_is_listed_whichever_side_each_sat_on(two):
    one, other = two
    for n in range(5):
        play(one, other, winner="a", stake=100)
        play(other, one, winner="b", stake=100)
        if n == 3:
            assert evidence() == []
    assert evidence() == [f"1000 of 1000 staked credits went one way, to {one}"]


def test_a_good_player_who_wins_most_but_not_nearly_all_is_not(two):
    for n in range(10):
        play(*two, winner="b" if n % 3 == 0 else "a")
    assert evidence() == []


def test_the_same_movements_again_and_again_are_listed_from_either_side(two):
    one, other = two
    script = some_moves(1)
    turned = [(b, a) for a, b in script]
    play(one, other, moves=script)
    play(other, one, winner="b", moves=turned)
    play(one, other, winner="b", moves=some_moves(2))
    assert evidence() == []
    play(one, other, winner="b", moves=script)
    assert evidence() == ["the same 8 movements in 3 matches"]


def test_short_matches_that_are_alike_are_no_sign(two):
    for n in range(5):
        play(*two, winner="ab"[n % 2], moves=[("rock", "paper")] * 4)
    assert evidence() == []


def test_two_who_were_first_paid_by_one_address_are_listed(two):
    payer = "0x" + "9" * 40
    for n in range(3):
        play(*two, winner="ab"[n % 2])
    assert evidence(lambda wallets: {two[0].pk: payer, two[1].pk: "0x" + "8" * 40}) == []
    assert evidence(lambda wallets: {two[0].pk: payer}) == []
    found = evidence(lambda wallets: dict.fromkeys(wallets, payer))
    assert found == [f"the first coins of both came from {payer}"]


def test_strangers_who_play_each_other_give_no_sign():
    chance = random.Random(7)
    crowd = [player(0) for _ in range(12)]
    for n in range(80):
        play(*chance.sample(crowd, 2), winner=chance.choice("ab"), moves=some_moves(n))
    assert evidence() == []


@pytest.mark.parametrize("other", [{"days_ago": 31}, {"stake": 0}], ids=["long ago", "practice"])
def test_what_was_long_ago_or_for_no_stake_is_not_looked_at(two, other):
    for _ in range(20):
        match = play(*two, **({"days_ago": 1} | {k: v for k, v in other.items() if k != "stake"}))
        if "stake" in other:
            Match.objects.filter(pk=match.pk).update(stake=0, house_ape="boxer")
    assert evidence() == []


def test_it_looks_at_no_more_than_so_many_matches_in_three_queries(two, monkeypatch):
    for _ in range(12):
        play(*two)
    with CaptureQueriesContext(connection) as asked:
        assert len(evidence()) == 1
    assert len(asked) == 3
    monkeypatch.setattr(fair_play, "LOOKED_AT", 9)
    assert evidence() == []


# --- The console's page -----------------------------------------------------------------------
def operator(*codenames: str) -> Wallet:
    operator = Wallet.objects.create(username=f"op{len(codenames)}", is_staff=True)
    operator.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return operator


def test_the_page_has_the_evidence_and_leads_to_both_and_their_matches(two, client):
    matches = [play(*two) for _ in range(12)]
    client.force_login(operator("view_match", "view_wallet"))
    html = client.get("/admin/fair-play/").content.decode()
    assert "120 of 120 staked credits went one way" in html
    for wallet in two:
        assert f"/admin/wallets/wallet/{wallet.pk}/change/" in html
    assert sum(f"/admin/matches/match/{match.pk}/change/" in html for match in matches) == 5


def test_the_page_says_when_there_is_nothing_and_takes_permissions(client):
    client.force_login(operator("view_match", "view_wallet"))
    assert "No pair gives any sign." in client.get("/admin/fair-play/").content.decode()
    client.force_login(operator("view_match"))
    assert client.get("/admin/fair-play/").status_code == 403
