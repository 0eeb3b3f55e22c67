"""Money: however a match ends, the pot is paid out exactly, once."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import Ape
from matches import battle, lobby, settlement
from matches.models import Match
from matches.selectors import credits_in_play
from tests.matches.helpers import (
    PAPER,
    ROCK,
    Table,
    available,
    escrow_of,
    player,
    sum_over_all_accounts,
    win_for,
)
from wallets import ledger
from wallets.errors import IdempotencyConflict, InsufficientCredits
from wallets.models import Account, Transfer, Wallet


def by_rounds(table, winner):
    table.almost_won_by(winner)
    win_for(table, winner)


def by_misses(table, winner):
    for _ in range(3):
        table.play(winner, ROCK)
        table.miss()


def by_reveals_withheld(table, winner):
    loser = "b" if winner == "a" else "a"
    for _ in range(3):
        table.play(winner, ROCK)
        table.lock_in(loser, PAPER)
        table.miss()


def by_resigning(table, winner):
    table.resign("b" if winner == "a" else "a")


def by_the_last_movement_of_all(table, _winner):
    table.put(movement=table.now().rulings["max_movements"], a=Ape(rounds=2), b=Ape())
    table.movement(ROCK, ROCK)


def by_absence_of_both(table, _winner):
    for _ in range(3):
        table.miss()


def by_an_operator(table, _winner):
    operator = Wallet.objects.create(
        username=f"operator of {table.id}", is_staff=True, is_superuser=True
    )
    table.movement(ROCK, PAPER)
    battle.void(operator=operator, match_id=table.id, reason="a test")


def by_an_operator_between_two_reveals(table, _winner):
    operator = Wallet.objects.create(
        username=f"operator of {table.id}", is_staff=True, is_superuser=True
    )
    for side, choice in (("a", ROCK), ("b", PAPER)):
        table.lock_in(side, choice)
    table.reveal("a", ROCK)
    battle.void(operator=operator, match_id=table.id, reason="a test")


ENDS = {
    by_rounds: ("won", "rounds"),
    by_misses: ("won", "missed"),
    by_reveals_withheld: ("won", "missed"),
    by_resigning: ("won", "resigned"),
    by_the_last_movement_of_all: ("draw", "movements"),
    by_absence_of_both: ("abandoned", "missed"),
    by_an_operator: ("cancelled", "voided"),
    by_an_operator_between_two_reveals: ("cancelled", "voided"),
}
stakes = st.one_of(st.integers(1, 50), st.integers(1, 1_000_000))
fees = st.one_of(st.sampled_from([0, 1, 9_999, 10_000]), st.integers(0, 10_000))


def fees_taken():
    return ledger.balance(ledger.system_account(Account.Kind.FEES))


def check_at_commit():
    """Let Postgres check what it checks when a transaction is committed."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


@pytest.mark.django_db
@settings(max_examples=32, deadline=None, suppress_health_check=list(HealthCheck))
@given(end=st.sampled_from(list(ENDS)), winner=st.sampled_from("ab"), stake=stakes, bps=fees)
def test_every_way_a_match_ends_pays_out_exactly_the_pot(end, winner, stake, bps):
    with override_settings(HOUSE_FEE_BPS=bps):
        table = Table(stake=stake, credits_=stake + 7)
    taken_before = fees_taken()
    assert [credits_in_play(wallet) for wallet in table.wallets.values()] == [stake, stake]
    assert escrow_of(table.match) == 2 * stake

    end(table, winner)

    match = table.now()
    assert (match.status, match.ended_by) == ENDS[end]
    pot = 2 * stake
    fee = pot * bps // 10_000 if match.status == "won" else 0
    expected = {"a": 7 + stake, "b": 7 + stake}
    if match.status == "won":
        assert match.winner == winner
        expected = {"a": 7, "b": 7} | {winner: 7 + pot - fee}
    assert {side: available(wallet) for side, wallet in table.wallets.items()} == expected
    assert fees_taken() - taken_before == fee
    assert escrow_of(match) == 0
    assert sum_over_all_accounts() == 0
    assert set(match.seats.values_list("staked", flat=True)) == {0}
    assert [credits_in_play(wallet) for wallet in table.wallets.values()] == [0, 0]
    assert Transfer.objects.filter(key=f"release:{match.pk}").count() == 1
    check_at_commit()


def waiting(stake):
    """A match that nobody has joined, whose maker has staked everything."""
    maker = player(stake)
    return maker, lobby.create_match(wallet=maker, stake=stake, visibility="open")


def offered_again(stake):
    """A rematch that was not accepted, whose maker has staked everything that was left."""
    table = Table(stake=stake, credits_=2 * stake)
    table.resign("a")
    maker = table.wallets["a"]
    return maker, lobby.rematch(wallet=maker, match_id=table.id)


@pytest.mark.django_db
@settings(max_examples=24, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    make=st.sampled_from([waiting, offered_again]), stake=stakes, bps=fees, expires=st.booleans()
)
def test_a_match_that_is_cancelled_or_expires_gives_the_stake_back_whole(make, stake, bps, expires):
    with override_settings(HOUSE_FEE_BPS=bps):
        maker, match = make(stake)
    taken_before = fees_taken()
    assert (available(maker), escrow_of(match), credits_in_play(maker)) == (0, stake, stake)
    if expires:
        with override_settings(MATCH_OPEN_SECONDS=0):
            assert lobby.expire_match(match_id=match.pk)
            assert not lobby.expire_match(match_id=match.pk)
    else:
        for _ in range(2):
            lobby.cancel_match(wallet=maker, match_id=match.pk)
    assert (available(maker), escrow_of(match), credits_in_play(maker)) == (stake, 0, 0)
    assert (fees_taken(), sum_over_all_accounts()) == (taken_before, 0)
    assert Transfer.objects.filter(key=f"release:{match.pk}").count() == 1
    check_at_commit()


def test_a_match_is_settled_once_whoever_asks_again(table):
    table.resign("a")
    settlement.pay_out(table.now())
    assert available(table.wallets["b"]) == 900 + 195
    with pytest.raises(IdempotencyConflict), transaction.atomic():
        settlement.refund(table.now())
    match = table.now()
    match.winner = "a"
    with pytest.raises(IdempotencyConflict), transaction.atomic():
        settlement.pay_out(match)
    assert [available(wallet) for wallet in table.wallets.values()] == [900, 900 + 195]


def test_a_player_may_be_in_several_matches_and_each_holds_its_own_stake(db):
    maker, other = player(100), player(100)
    made = [lobby.create_match(wallet=maker, stake=n, visibility="open") for n in (10, 20, 30)]
    assert (credits_in_play(maker), available(maker)) == (60, 40)
    lobby.join_match(wallet=other, match_id=made[1].pk)
    lobby.cancel_match(wallet=maker, match_id=made[0].pk)
    assert (credits_in_play(maker), credits_in_play(other)) == (50, 20)
    assert [escrow_of(match) for match in made] == [0, 40, 30]


def test_status_and_money_change_together_or_not_at_all(table):
    # A pot that is not there: the ledger refuses to pay it out.
    Match.objects.filter(pk=table.id).update(stake=101)
    with pytest.raises((InsufficientCredits, IntegrityError)):
        table.resign("a")
    match = table.now()
    assert (match.status, match.event_count, escrow_of(match)) == ("running", 1, 200)
    assert match.events.count() == 1


@pytest.mark.django_db
def test_postgres_refuses_a_winner_without_a_won_match_and_a_clock_on_one_that_has_ended():
    table = Table()
    for change in (
        {"winner": "a"},
        {"status": "won"},
        {"status": "draw"},
        {"deadline": None},
        {"status": "running", "state": None},
    ):
        with pytest.raises(Exception, match="check constraint"), transaction.atomic():
            Match.objects.filter(pk=table.id).update(**change)
