"""Deadlines by the server's clock: forfeits, void movements, three misses, abandonment."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from engine import Ape
from matches import battle, selectors, tasks
from matches.errors import IllegalChoice, NotRunning, StaleMovement, TooLate
from matches.models import Match
from tests.matches.helpers import PAPER, ROCK, SCISSORS, Table, available, escrow_of, player

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def no_grace(settings):
    """Deadlines to the instant; the grace has tests of its own."""
    settings.MATCH_GRACE_SECONDS = 0


@pytest.fixture
def clock():
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


def test_each_stage_and_each_movement_has_a_new_deadline(clock, table):
    match = table.now()
    assert match.deadline == NOON + timedelta(seconds=match.lock_seconds)
    clock.shift(7)
    table.lock_in("a", PAPER)
    assert table.now().deadline == match.deadline
    table.lock_in("b", ROCK)
    assert table.now().deadline == timezone.now() + timedelta(seconds=match.reveal_seconds)
    clock.shift(5)
    table.reveal("a", PAPER)
    table.reveal("b", ROCK)
    assert table.now().deadline == timezone.now() + timedelta(seconds=match.lock_seconds)


def test_nothing_happens_before_the_deadline_and_at_it_the_time_is_up(clock, table):
    clock.shift(table.match.lock_seconds - 0.001)
    assert not battle.catch_up(match_id=table.id)
    table.play("a", ROCK)
    clock.shift(0.001)
    with pytest.raises(StaleMovement):
        table.play("b", PAPER)
    assert battle.catch_up(match_id=table.id)
    assert not battle.catch_up(match_id=table.id)


def test_a_choice_in_the_last_instant_counts(clock, table):
    table.play("a", ROCK)
    clock.shift(table.match.lock_seconds - 0.001)
    table.play("b", PAPER)
    assert table.state.outcome == "b"


def test_the_clocks_of_clients_do_not_matter(clock, table):
    clock.move_to(NOON - timedelta(days=1))
    assert not battle.catch_up(match_id=table.id)


def test_both_missing_voids_the_movement(table):
    table.movement(PAPER, ROCK)
    table.miss()
    state = table.state
    assert (state.movement, state.outcome, state.a.streak) == (3, "tie", 0)
    assert (state.a.misses, state.b.misses) == (1, 1)


def test_one_that_alone_has_locked_in_may_still_reveal_and_wins(table):
    table.lock_in("a", PAPER)
    table.miss()
    assert table.now().stage == Match.Stage.REVEAL
    assert table.state.movement == 1
    table.reveal("a", PAPER)
    state = table.state
    assert (state.outcome, state.a.alphas, state.b.wilds, state.b.misses) == ("a", 1, 0, 1)


def test_one_that_alone_has_locked_in_and_does_not_reveal_misses_too(table):
    table.lock_in("a", PAPER)
    table.miss()
    table.miss()
    state = table.state
    assert (state.outcome, state.a.misses, state.b.misses) == ("tie", 1, 1)


def test_one_that_alone_has_played_in_one_step_wins_at_the_deadline(table):
    table.play("b", ROCK)
    table.miss()
    assert (table.state.movement, table.state.outcome) == (2, "b")


def test_the_absent_ape_may_not_lock_in_after_the_deadline(table):
    table.lock_in("a", PAPER)
    table.miss()
    with pytest.raises(TooLate):
        table.lock_in("b", SCISSORS)
    with pytest.raises(TooLate):
        table.play("b", SCISSORS)
    with pytest.raises(TooLate):
        table.reveal("b", SCISSORS, salt="00" * 32)
    with pytest.raises(TooLate):
        table.lock_in("a", ROCK)


def test_one_that_has_locked_in_and_not_revealed_forfeits(table):
    table.lock_in("a", PAPER)
    table.lock_in("b", ROCK)
    table.reveal("b", ROCK)
    table.miss()
    assert table.state.outcome == "b"
    assert table.events()[-1]["a"] is None


def test_a_reveal_after_the_deadline_is_too_late_even_if_nobody_noticed(table):
    table.lock_in("a", PAPER)
    table.lock_in("b", ROCK)
    table.reveal("b", ROCK)
    table.pass_deadline()
    with pytest.raises(StaleMovement) as refused:
        table.reveal("a", PAPER)
    assert refused.value.extra == {"movement": 2}
    battle.catch_up(match_id=table.id)
    assert table.state.outcome == "b"


def test_a_choice_after_the_deadline_is_too_late_even_if_nobody_noticed(table):
    table.play("a", ROCK)
    table.pass_deadline()
    with pytest.raises(StaleMovement):
        table.play("b", PAPER, movement=1)


def test_a_potion_after_the_deadline_comes_after_the_movement_that_it_ends(table):
    table.put(a=Ape(), b=Ape(health=1, potions=1))
    table.play("a", ROCK)
    table.pass_deadline()
    with pytest.raises(IllegalChoice, match="full health"):
        table.drink("b")  # who has lost the round, and stands there healed for the next
    battle.catch_up(match_id=table.id)
    assert table.state.a.rounds == 1


def test_resigning_after_the_deadline_does_not_take_the_opponents_win_away(table):
    table.put(a=Ape(misses=2), b=Ape())
    table.play("b", ROCK)
    table.pass_deadline()
    with pytest.raises(NotRunning):
        table.resign("a")
    battle.catch_up(match_id=table.id)
    assert (table.now().winner, table.now().ended_by) == ("b", "missed")


def test_three_misses_in_a_row_lose_the_match(table):
    for movement in (1, 2, 3):
        assert table.now().status == "running"
        table.play("b", ROCK, movement=movement)
        table.miss()
    match = table.now()
    assert (match.status, match.winner, match.ended_by) == ("won", "b", "missed")
    assert available(table.wallets["b"]) == 1_000 - 100 + 195


def test_misses_count_only_in_a_row(table):
    for movement in range(1, 7):
        table.play("b", ROCK)
        if movement % 3:
            table.miss()
        else:
            table.play("a", ROCK)
    assert table.now().status == "running"
    assert table.state.a.misses == 0


def test_three_misses_of_both_abandon_the_match_and_return_the_stakes(table):
    for _ in range(3):
        table.miss()
    match = table.now()
    assert (match.status, match.winner, match.ended_by) == ("abandoned", "", "missed")
    assert [available(wallet) for wallet in table.wallets.values()] == [1_000, 1_000]
    assert escrow_of(match) == 0


def test_the_third_miss_of_one_alone_loses_though_the_other_missed_two(table):
    table.miss()
    table.miss()
    table.play("a", ROCK)
    table.miss()
    assert (table.now().status, table.now().winner) == ("won", "a")


def test_a_reader_is_enough_to_apply_a_deadline(table):
    table.pass_deadline()
    match = selectors.match_for(player(), table.id)
    assert battle.state_of(match).movement == 2


def test_the_sweep_applies_each_deadline_that_has_passed_and_no_other(table):
    others = [Table(), Table()]
    table.pass_deadline()
    others[0].pass_deadline()
    assert tasks.sweep_matches() == 2
    assert [each.state.movement for each in (table, *others)] == [2, 2, 1]
    assert tasks.sweep_matches() == 0


def test_a_match_that_can_not_be_swept_holds_up_no_other(table):
    other = Table()
    table.pass_deadline()
    other.pass_deadline()
    Match.objects.filter(pk=table.id).update(rulings={"name": "unheard of", "nonsense": 1})
    assert tasks.sweep_matches() == 1
    assert other.state.movement == 2
