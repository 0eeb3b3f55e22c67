"""The grace of a late message, limits on changing one's mind, and time that nobody could use."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from matches import battle, clock, selectors, tasks
from matches.errors import StaleMovement, TooManyChanges
from matches.models import Heartbeat, LockIn, Match, Outage
from tests.matches.helpers import PAPER, ROCK, SCISSORS, Table, available, player

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
GRACE = 2
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def traveller(settings):
    settings.MATCH_GRACE_SECONDS, settings.MATCH_OUTAGE_SECONDS = GRACE, 15
    settings.MATCH_MAX_REPLACEMENTS = 10
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


def sweep_each_second(traveller, seconds):
    for _ in range(seconds):
        traveller.shift(1)
        tasks.sweep_matches()


# Grace


def test_a_message_within_the_grace_is_taken_by_whatever_way_it_comes(traveller, table):
    traveller.shift(table.match.lock_seconds + GRACE - 0.001)
    assert tasks.sweep_matches() == 0
    assert not battle.catch_up(match_id=table.id)
    assert battle.state_of(selectors.match_for(player(), table.id)).movement == 1
    table.lock_in("a", PAPER)
    table.lock_in("b", ROCK)
    traveller.shift(table.match.reveal_seconds + GRACE - 0.001)
    assert tasks.sweep_matches() == 0
    table.reveal("a", PAPER)
    table.reveal("b", ROCK)
    assert table.state.outcome == "a"


def test_when_the_grace_is_over_it_is_too_late(traveller, table):
    table.play("a", ROCK)
    traveller.shift(table.match.lock_seconds + GRACE)
    with pytest.raises(StaleMovement):
        table.play("b", PAPER, movement=1)
    assert tasks.sweep_matches() == 1
    assert table.state.outcome == "a"


def test_the_grace_is_no_part_of_the_time_that_players_are_told(table):
    assert table.now().deadline == NOON + timedelta(seconds=table.match.lock_seconds)


# Changing one's mind


@pytest.mark.parametrize("limit", [0, 3])
def test_a_choice_may_be_replaced_a_number_of_times_in_a_movement(settings, table, limit):
    settings.MATCH_MAX_REPLACEMENTS = limit
    table.lock_in("a", ROCK)
    for _ in range(limit):
        table.lock_in("a", ROCK)
    before, salts = table.events(), dict(table.salts)
    for replace in (table.lock_in, table.play):
        with pytest.raises(TooManyChanges):
            replace("a", SCISSORS)
    assert table.events() == before
    table.play("b", SCISSORS)
    table.salts = salts
    table.reveal("a", ROCK)
    assert table.state.outcome == "a"
    table.play("a", PAPER)  # each movement counts anew


def test_the_same_choice_again_is_no_replacement(settings, table):
    settings.MATCH_MAX_REPLACEMENTS = 0
    for _ in range(5):
        table.play("a", ROCK)
    assert LockIn.objects.get().replaced == 0


# Outages


def test_an_hour_in_which_nobody_could_play_costs_nobody_anything(traveller):
    locking, one_locked, revealing, one_revealed = tables = [Table() for _ in range(4)]
    one_locked.play("a", ROCK)
    for table in (revealing, one_revealed):
        table.lock_in("a", PAPER)
        table.lock_in("b", ROCK)
    one_revealed.reveal("a", PAPER)
    tasks.sweep_matches()
    traveller.shift(3_600)

    assert tasks.sweep_matches() == 4
    for table in tables:
        match = table.now()
        assert table.state.movement == 1
        assert match.deadline == timezone.now() + match.stage_time
    outage = Outage.objects.get()
    assert (outage.began_at, outage.ended_at) == (NOON, timezone.now())

    # All goes on as if nothing had been, and time counts again.
    one_locked.play("b", PAPER)
    one_revealed.reveal("b", ROCK)
    assert (one_locked.state.outcome, one_revealed.state.outcome) == ("b", "a")
    sweep_each_second(traveller, 40)
    assert locking.state.movement == 2
    assert revealing.state.movement == 2


@pytest.mark.parametrize("first", ["player", "reader"])
def test_whoever_comes_first_after_an_outage_forfeits_nobodys_movement(traveller, table, first):
    tasks.sweep_matches()
    table.play("a", ROCK)
    traveller.shift(3_600)
    if first == "player":
        table.play("b", PAPER, movement=1)
        assert table.state.outcome == "b"
    else:
        assert battle.state_of(selectors.match_for(player(), table.id)).movement == 1
        traveller.shift(1)
        tasks.sweep_matches()
        table.play("b", PAPER, movement=1)
        assert table.state.outcome == "b"


def test_a_stage_that_an_outage_only_touched_gets_its_whole_time_again(traveller, table):
    tasks.sweep_matches()
    traveller.shift(20)  # more than the threshold, less than the stage
    assert tasks.sweep_matches() == 0
    sweep_each_second(traveller, table.match.lock_seconds - 20 + GRACE)
    assert table.state.movement == 1
    assert table.now().deadline == timezone.now() + table.now().stage_time
    sweep_each_second(traveller, table.match.lock_seconds + GRACE)
    assert table.state.movement == 2


def test_a_short_gap_is_no_outage_and_deadlines_before_one_count(traveller, table):
    tasks.sweep_matches()
    traveller.shift(15)
    tasks.sweep_matches()
    assert not Outage.objects.exists()
    sweep_each_second(traveller, 17)
    assert table.state.movement == 2
    ended_before = table.now().deadline
    assert not Outage.objects.filter(began_at__lt=ended_before).exists()


def test_only_one_heartbeat_is_kept(traveller):
    for _ in range(3):
        traveller.shift(1)
        clock.beat()
    assert Heartbeat.objects.get().beat_at == timezone.now()


def test_without_a_single_beat_there_was_no_outage(traveller, table):
    traveller.shift(3_600)
    assert battle.catch_up(match_id=table.id)
    assert table.state.movement == 2


# Both missing, again and again


def test_a_series_of_misses_is_counted_movement_by_movement_to_the_end(traveller, table):
    told = []
    for _ in range(200):
        sweep_each_second(traveller, 1)
        match = table.now()
        if match.status != Match.Status.RUNNING:
            break
        told.append((table.state.a.misses, table.state.b.misses))
    assert sorted(set(told)) == [(0, 0), (1, 1), (2, 2)]
    assert (match.status, match.ended_by) == ("abandoned", "missed")
    assert match.ended_at - match.started_at == 3 * timedelta(seconds=match.lock_seconds + GRACE)
    assert [available(wallet) for wallet in table.wallets.values()] == [1_000, 1_000]
    assert [event["type"] for event in table.events()] == ["start"] + 3 * ["movement"]
