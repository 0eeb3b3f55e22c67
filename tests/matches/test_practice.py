"""Practice: a whole match against an ape of the house, by the usual protocol, for nothing."""

import pytest
from django.db import IntegrityError, transaction

from engine import Ape, verify
from engine.apes import APES
from matches import battle, lobby, practice, selectors
from matches.errors import NotPlayed, TooManyMatches
from matches.models import LockIn, Match, Seat
from matches.sealing import unseal
from tests.matches.helpers import PAPER, ROCK, SCISSORS, Table, player, sum_over_all_accounts
from tests.site.admin_world import an_operator
from wallets.accounts import wallet_for
from wallets.errors import WalletFrozen
from wallets.models import Account, Posting, Transfer

pytestmark = pytest.mark.django_db
API = "/api/v1/matches"


class Practice(Table):
    """A practice match; ape `a` is the player's."""

    def __init__(self, ape="boxer", wallet=None):
        wallet = wallet or player(0)
        self.match = practice.start_practice(wallet=wallet, ape=ape)
        self.wallets = {"a": wallet, "b": wallet_for(practice.address_of(ape))}
        self.id = self.match.pk
        self.salts = {}


@pytest.fixture
def table(db):
    return Practice()


def house_lock(table):
    return LockIn.objects.get(match=table.id, movement=table.state.movement, side="b")


def test_the_apes_are_listed_with_a_sentence_and_an_address_that_spells_the_name(client_of):
    apes = client_of(player(0)).get(f"{API}/practice").json()
    assert [ape["name"] for ape in apes] == list(APES)
    for ape in apes:
        assert ape["description"].endswith(".")
        spelt = bytes.fromhex(ape["address"][2:]).lstrip(b"\0").decode()
        assert spelt == f"house ape: {ape['name']}"


@pytest.mark.parametrize("ape", APES)
def test_a_whole_match_over_the_api_ends_and_its_transcript_verifies(client_of, ape):
    client = client_of(player(0))
    match = client.post(f"{API}/practice", {"ape": ape}, format="json")
    assert match.status_code == 201
    table = match.json()
    assert (table["status"], table["house_ape"], table["you"]) == ("running", ape, "a")
    while table["status"] == "running":
        play = table["play"]
        assert play["stage"] == "lock"
        assert play["apes"]["b"]["locked_in"]
        move = {"movement": play["movement"], "move": play["legal_choices"][0]["move"]}
        table = client.post(f"{API}/{table['id']}/moves", move, format="json").json()
        if table["play"]["movement"] > 12:
            table = client.post(f"{API}/{table['id']}/resign").json()
    assert table["status"] == "won"
    transcript = client.get(f"{API}/{table['id']}/transcript").json()
    proved = verify.verify(transcript)
    assert proved.result["pot"] == "0"
    assert transcript["header"]["b"] == practice.address_of(ape)


def test_practice_by_commitment_and_reveal(table):
    for choice in (ROCK, PAPER, SCISSORS):
        movement = table.state.movement
        table.lock_in("a", choice, movement)
        assert table.now().stage == "reveal"
        table.reveal("a", choice, movement)
    assert table.state.phase != "opening"


def test_the_house_has_locked_in_before_its_player_and_never_changes_it(table):
    for _ in range(6):
        lock = house_lock(table)
        assert not table.now().lock_ins.filter(movement=table.state.movement, side="a").exists()
        shown = unseal(lock.sealed_choice)
        movement = table.state.movement
        table.play("a", ROCK)
        lock.refresh_from_db()
        assert lock.replaced == 0
        (event,) = [
            e for e in table.events() if e["type"] == "movement" and e["movement"] == movement
        ]
        assert event["b"] == shown


def test_the_house_drinks_by_its_strategy_before_it_locks_in(table):
    table.put(b=Ape(health=3, potions=2, alphas=1))
    movement = table.state.movement
    table.lock_in("b", ROCK, movement)
    table.play("a", ROCK)
    table.reveal("b", ROCK, movement)
    assert [e["type"] for e in table.events()[-3:]] == ["movement", "potion", "locked"]
    assert (table.state.b.health, table.state.b.potions) == (5, 1)


def test_the_house_s_choice_is_shown_to_nobody_before_its_movement_is_over(table, client_of):
    lock = house_lock(table)
    secret = unseal(lock.sealed_choice)
    shown = client_of(table.wallets["a"]).get(f"{API}/{table.id}").content.decode()
    assert secret["salt"] not in shown
    play = selectors.table(table.now(), table.wallets["a"])["play"]
    assert secret["move"] not in str(play["apes"] | {"last": play["last_movement"]})


def test_a_player_who_misses_three_movements_loses_to_the_house(table):
    for _ in range(3):
        table.miss()
    match = table.now()
    assert (match.status, match.winner, match.ended_by) == ("won", "b", "missed")


def test_practice_leaves_the_ledger_as_it_was():
    before = sum_over_all_accounts(), Transfer.objects.count(), Posting.objects.count()
    Practice().resign("a")
    lost, voided = Practice(), Practice()
    for _ in range(3):
        lost.miss()
    battle.void(operator=an_operator(superuser=True), match_id=voided.id, reason="a test")
    assert before == (sum_over_all_accounts(), Transfer.objects.count(), Posting.objects.count())
    assert not Account.objects.filter(kind=Account.Kind.ESCROW).exists()
    assert not Seat.objects.exclude(staked=0).exists()


def test_practice_is_not_in_the_lobby_but_among_ones_own_matches(table, client_of):
    owner, stranger = client_of(table.wallets["a"]), client_of(player(0))
    assert stranger.get(API).json()["results"] == []
    assert stranger.get(f"{API}/{table.id}").status_code == 404
    (card,) = owner.get(API, {"mine": "1"}).json()["results"]
    assert (card["house_ape"], card["stake"], card["fee_bps"]) == ("boxer", 0, 0)


def test_a_match_between_players_shows_no_house_ape(client_of):
    table = Table()
    shown = client_of(table.wallets["a"]).get(f"{API}/{table.id}").json()
    assert shown["house_ape"] is None
    assert not table.now().lock_ins.exists()


def test_live_practice_is_limited_and_counts_apart_from_matches_for_a_stake(settings):
    settings.MATCH_MAX_PRACTICE, settings.MATCH_MAX_LIVE = 2, 1
    table = Table()
    wallet = table.wallets["a"]
    first, _ = Practice(wallet=wallet), Practice(wallet=wallet)
    with pytest.raises(TooManyMatches), transaction.atomic():
        practice.start_practice(wallet=wallet, ape="boxer")
    first.resign("a")
    Practice(wallet=wallet)
    Practice(wallet=player(0))


def test_practice_has_no_rematch(table):
    table.resign("a")
    with pytest.raises(NotPlayed), transaction.atomic():
        lobby.rematch(wallet=table.wallets["a"], match_id=table.id)


def test_a_frozen_wallet_may_not_practise():
    wallet = player(0)
    wallet.is_active = False
    wallet.save()
    with pytest.raises(WalletFrozen):
        practice.start_practice(wallet=wallet, ape="boxer")


def test_a_repeated_request_starts_one_match(client_of):
    wallet = player(0)
    client = client_of(wallet)
    key = {"Idempotency-Key": "again"}
    first, again = (
        client.post(f"{API}/practice", {"ape": "boxer"}, format="json", headers=key)
        for _ in range(2)
    )
    assert first.content == again.content
    assert wallet.seats.count() == 1


@pytest.mark.parametrize("body", [{}, {"ape": "godzilla"}, {"ape": None}, {"ape": ["sage"]}, []])
def test_an_unknown_ape_is_refused(client_of, body):
    answer = client_of(player(0)).post(f"{API}/practice", body, format="json")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")


def test_the_database_refuses_a_stake_in_practice_and_a_match_of_players_without_one():
    for change in ({"stake": 5}, {"fee_bps": 1}, {"house_ape": ""}):
        table = Practice()
        with pytest.raises(IntegrityError), transaction.atomic():
            Match.objects.filter(pk=table.id).update(**change)
