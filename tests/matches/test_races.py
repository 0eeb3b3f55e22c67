"""Everything that can happen at the same instant, on real connections: one of the legal orders."""

import time
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from matches import battle, clock, lobby, tasks
from matches.errors import NotOpen, NotRunning, StaleMovement, TooEarly, TooLate
from matches.models import Match, Seat
from tests.matches.helpers import (
    PAPER,
    ROCK,
    SCISSORS,
    Table,
    answer_behind,
    at_once,
    available,
    count_of,
    escrow_of,
    player,
    sum_over_all_accounts,
)
from tests.matches.test_chance import verify
from wallets.errors import Problem
from wallets.models import Transfer

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 5


def check_settled_once(match):
    assert escrow_of(match) == sum_over_all_accounts() == 0
    assert Transfer.objects.filter(key=f"release:{match.pk}").count() == 1
    assert set(match.seats.values_list("staked", flat=True)) == {0}


def movements(table):
    return [event["movement"] for event in table.events() if event["type"] == "movement"]


def test_of_two_that_join_at_once_one_gets_the_seat_and_the_other_keeps_its_credits():
    maker, rivals = player(), [player(), player()]
    for _ in range(ROUNDS):
        match = lobby.create_match(wallet=maker, stake=10, visibility="open")
        before = [available(rival) for rival in rivals]
        results = at_once(
            *(partial(lobby.join_match, wallet=rival, match_id=match.pk) for rival in rivals)
        )
        assert (count_of(results, Match), count_of(results, NotOpen)) == (1, 1)
        assert escrow_of(match) == 20
        paid = [was - available(rival) for was, rival in zip(before, rivals, strict=True)]
        assert paid == [10 if isinstance(result, Match) else 0 for result in results]


def test_cancelling_against_joining():
    for _ in range(ROUNDS):
        maker, rival = player(), player()
        match = lobby.create_match(wallet=maker, stake=10, visibility="open")
        results = at_once(
            partial(lobby.cancel_match, wallet=maker, match_id=match.pk),
            partial(lobby.join_match, wallet=rival, match_id=match.pk),
        )
        assert (count_of(results, Match), count_of(results, NotOpen)) == (1, 1)
        cancelled = isinstance(results[0], Match)
        assert Match.objects.get(pk=match.pk).status == ("cancelled" if cancelled else "running")
        assert escrow_of(match) == (0 if cancelled else 20)
        assert available(rival) == (1_000 if cancelled else 990)


def test_both_play_at_once_and_the_movement_ends_once():
    table = Table()
    for movement in range(1, ROUNDS + 1):
        results = at_once(
            partial(table.play, "a", ROCK, movement), partial(table.play, "b", ROCK, movement)
        )
        assert results == [None, None]
        assert movements(table) == list(range(1, movement + 1))
    verify_running(table)


def verify_running(table):
    assert verify(table.now()) == table.state
    assert table.now().event_count == len(table.events())


def test_both_lock_in_at_once_then_both_reveal_at_once():
    table = Table()
    for movement in range(1, ROUNDS + 1):
        both = at_once(
            partial(table.lock_in, "a", ROCK, movement),
            partial(table.lock_in, "b", ROCK, movement),
        )
        assert count_of(both, str) == 2
        assert table.now().stage == Match.Stage.REVEAL
        both = at_once(
            partial(table.reveal, "a", ROCK, movement),
            partial(table.reveal, "b", ROCK, movement),
        )
        assert both == [None, None]
        assert movements(table) == list(range(1, movement + 1))
    verify_running(table)


def test_the_same_messages_many_times_at_once_are_one():
    table = Table()
    assert at_once(*[lambda: table.play("a", ROCK, 1)] * 4) == [None] * 4
    assert [event["type"] for event in table.events()] == ["start", "locked"]
    assert at_once(*[lambda: table.play("b", PAPER, 1)] * 4) == [None] * 4
    assert [event["type"] for event in table.events()] == ["start", "locked", "locked", "movement"]
    assert at_once(*[lambda: table.resign("a")] * 4) == [None] * 4
    check_settled_once(table.now())


def test_a_commitment_replaced_at_the_instant_that_the_other_locks_in():
    for _ in range(ROUNDS):
        table = Table()
        table.play("a", ROCK)
        replaced, played = at_once(
            partial(table.play, "a", SCISSORS, 1), partial(table.play, "b", PAPER, 1)
        )
        assert played is None
        if replaced is None:
            assert table.state.outcome == "a"
        else:
            assert isinstance(replaced, StaleMovement)
            assert table.state.outcome == "b"


def test_resigning_against_the_last_reveal_settles_once():
    for _ in range(ROUNDS):
        table = Table()
        table.almost_won_by("a")
        table.lock_in("a", PAPER)
        table.lock_in("b", ROCK)
        table.reveal("b", ROCK)
        results = at_once(
            partial(table.resign, "a"),
            partial(table.reveal, "a", PAPER, 5),
        )
        assert (results.count(None), count_of(results, NotRunning)) == (1, 1)
        match = table.now()
        assert (match.winner, match.ended_by) == (
            ("b", "resigned") if results[0] is None else ("a", "rounds")
        )
        assert available(table.wallets[match.winner]) == 900 + 195
        check_settled_once(match)


def test_both_resign_at_once():
    for _ in range(ROUNDS):
        table = Table()
        results = at_once(partial(table.resign, "a"), partial(table.resign, "b"))
        assert (results.count(None), count_of(results, NotRunning)) == (1, 1)
        assert table.now().winner == ("b" if results[0] is None else "a")
        check_settled_once(table.now())


def test_a_deadline_that_many_notice_at_once_is_applied_once():
    table = Table()
    table.pass_deadline()
    results = at_once(*[lambda: battle.catch_up(match_id=table.id)] * 6, *[tasks.sweep_matches] * 2)
    assert sum(map(int, results)) == 1
    assert movements(table) == [1]


def test_the_deadline_that_ends_the_match_settles_it_once():
    table = Table()
    table.miss()
    table.miss()
    table.pass_deadline()
    results = at_once(
        *[lambda: battle.catch_up(match_id=table.id)] * 3,
        lambda: table.resign("a"),
        lambda: table.play("b", ROCK, 3),
    )
    assert not [r for r in results if isinstance(r, Exception) and not isinstance(r, Problem)]
    assert table.now().status == "abandoned"
    check_settled_once(table.now())


def test_a_reveal_at_the_instant_of_the_deadline_counts_or_does_not():
    for attempt in range(ROUNDS):
        table = Table()
        table.lock_in("a", PAPER)
        table.lock_in("b", ROCK)
        table.reveal("b", ROCK)
        deadline = clock.latest_due(timezone.now() + timedelta(milliseconds=60))
        Match.objects.filter(pk=table.id).update(deadline=deadline)

        def after(action, seconds, deadline=deadline):
            left = deadline - clock.latest_due(timezone.now())
            time.sleep(max(0.0, left.total_seconds() + seconds))
            return action()

        revealed, *swept = at_once(
            lambda t=table, n=attempt: after(lambda: t.reveal("a", PAPER, 1), (n - 3) / 1_000),
            *[lambda t=table: after(lambda: battle.catch_up(match_id=t.id), 0)] * 2,
        )
        last = table.events()[-1]
        assert movements(table) == [1]
        if revealed is None:
            assert (last["a"]["move"], swept) == ("paper", [False, False])
        else:
            assert isinstance(revealed, StaleMovement)
            assert last["a"] is None
            assert swept.count(True) <= 1


def test_the_same_idempotency_key_at_once_makes_one_match():
    maker = player()

    def post():
        client = APIClient()
        client.force_authenticate(user=maker)
        body = {"stake": 10}
        return client.post("/api/v1/matches", body, headers={"Idempotency-Key": "one"})

    answers = at_once(*[post] * 5)
    assert {answer.status_code for answer in answers} == {201}
    assert all(answer.json() == answers[0].json() for answer in answers)
    assert (Match.objects.count(), available(maker)) == (1, 990)


def test_matches_of_the_same_two_players_started_and_ended_at_once_do_not_deadlock():
    x, y = player(), player()
    made = [
        lobby.create_match(wallet=wallet, stake=100, visibility="open")
        for wallet in (x, y, x, y, x, y)
    ]

    def whole(match):
        other = Seat.objects.exclude(wallet=match.seats.get().wallet).first()
        rival = other.wallet if other else None
        lobby.join_match(wallet=rival, match_id=match.pk)
        battle.resign(wallet=rival, match_id=match.pk)

    assert at_once(*(lambda m=match: whole(m) for match in made)) == [None] * 6
    assert sum_over_all_accounts() == 0
    assert available(x) + available(y) == 2_000 - 6 * (200 * 250 // 10_000)


ACTIONS = {
    "play": (lambda t: t.play("b", PAPER, 1), NotRunning),
    "lock in": (lambda t: t.lock_in("b", PAPER, 1), NotRunning),
    "reveal": (lambda t: t.reveal("b", PAPER, 1, salt="00" * 32), NotRunning),
    "drink": (lambda t: t.drink("b"), NotRunning),
    "resign": (lambda t: t.resign("b"), NotRunning),
    "join": (lambda t: lobby.join_match(wallet=t.late, match_id=t.id), NotOpen),
    "cancel": (lambda t: lobby.cancel_match(wallet=t.wallets["a"], match_id=t.id), NotOpen),
    "catch up": (lambda t: battle.catch_up(match_id=t.id), None),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_whatever_changes_a_match_waits_for_whoever_is_changing_it(name):
    action, refusal = ACTIONS[name]
    table = Table()
    table.late = player()
    resign = partial(battle.resign, wallet=table.wallets["a"], match_id=table.id)
    result = answer_behind(resign, lambda: action(table))
    assert isinstance(result, refusal) if refusal else result is False
    assert table.events()[-1] == {"type": "resign", "ape": "a"}
    check_settled_once(table.now())


def test_nobody_reveals_before_both_are_in_however_close_it_is():
    for _ in range(ROUNDS):
        table = Table()
        table.lock_in("a", PAPER)
        early, _ = at_once(
            partial(table.reveal, "a", PAPER, 1), partial(table.lock_in, "b", ROCK, 1)
        )
        assert early is None or isinstance(early, TooEarly)
        table.reveal("b", ROCK, 1)
        assert (table.state.movement == 2) == (early is None)
        with pytest.raises((TooLate, StaleMovement)):
            table.lock_in("a", SCISSORS, 1)
