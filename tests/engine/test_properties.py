"""What holds in every match, whatever the apes, the draws and the rulings."""

import dataclasses
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from engine import GOD_V1, INFLUENCES, RULINGS, Ruleset, State, legal_choices, ruleset_with, start
from tests.engine.helpers import (
    SEATS,
    check_bounds,
    mirrored,
    play_event,
    random_event,
    random_match,
    rng_of,
)

flags = st.booleans()
steals = st.sampled_from(("held", "played"))
rulesets = st.builds(
    Ruleset,
    name=st.just("any"),
    movements_per_phase=st.integers(1, 6),
    winner_refills=flags,
    cycles_per_round=st.integers(1, 3),
    max_movements=st.integers(1, 120),
    tie_keeps_power_moves=flags,
    sun_wild_steals=steals,
    earth_wild_steals=steals,
    core_loser_to_alpha_gains_wild=flags,
    tribute_returned_on_win=flags,
)
any_time = settings(deadline=None)  # a busy machine is no failure
random_matches = given(
    ruleset=rulesets | st.just(GOD_V1),
    rng=st.integers(0, 2**32).map(rng_of),
    misses=st.sampled_from((0.0, 0.05, 0.5)),
)


@random_matches
@any_time
def test_counts_stay_in_their_bounds(ruleset, rng, misses):
    _, _, states = random_match(rng, ruleset, misses=misses)
    for state in states:
        check_bounds(state, ruleset)


@random_matches
@any_time
def test_a_match_always_ends_and_has_a_winner_only_when_won(ruleset, rng, misses):
    events, _, states = random_match(rng, ruleset, misses=misses)
    assert sum(event["type"] == "movement" for event in events) <= ruleset.max_movements
    assert all((state.status, state.winner) == ("running", None) for state in states[:-1])
    end = states[-1]
    assert (end.status == "won") == (end.winner is not None)
    assert all(legal_choices(end, seat, ruleset) == () for seat in SEATS)


@random_matches
@any_time
def test_swapping_the_apes_mirrors_everything(ruleset, rng, misses):
    events, draws, states = random_match(rng, ruleset, misses=misses)
    influences = iter(draws)
    other = {"a": "b", "b": "a"}
    state = start(ruleset)
    for event, expected in zip(events, states[1:], strict=True):
        if event["type"] == "movement":
            event = event | {"a": event["b"], "b": event["a"]}
        else:
            event = event | {"ape": other[event["ape"]]}
        state = play_event(state, event, lambda left: next(influences), ruleset)
        assert mirrored(state) == expected


def through_json(state):
    return State.from_json(json.loads(json.dumps(state.to_json())))


def with_types(value):
    """A value with the type of each of its parts: True is not 1 here, and a list no tuple."""
    parts = tuple(map(with_types, value)) if isinstance(value, tuple | list) else value
    return type(value), parts


@random_matches
@any_time
def test_a_second_stream_restored_from_json_after_every_event_stays_the_same(ruleset, rng, misses):
    events, draws, states = random_match(rng, ruleset, misses=misses)
    influences = iter(draws)
    second = through_json(start(ruleset))
    for event, state, expected in zip(events, states, states[1:], strict=False):
        assert with_types(second) == with_types(state)
        assert all(
            legal_choices(second, seat, ruleset) == legal_choices(state, seat, ruleset)
            for seat in SEATS
        )
        second = through_json(play_event(second, event, lambda left: next(influences), ruleset))
        assert with_types(second) == with_types(expected)


@random_matches
@any_time
def test_json_holds_only_whole_numbers_strings_and_booleans(ruleset, rng, misses):
    _, _, states = random_match(rng, ruleset, misses=misses)
    for state in states:
        data = state.to_json()
        assert type(data["sudden_death"]) is bool
        numbers = [data[name] for name in ("round", "movement", "in_phase", "cycle")]
        numbers += [*data["a"].values(), *data["b"].values()]
        assert {type(number) for number in numbers} == {int}


@random_matches
@any_time
def test_an_influence_is_drawn_just_when_one_starts_and_from_those_left(ruleset, rng, misses):
    events, _, states = random_match(rng, ruleset, misses=misses)
    for event, before, expected in zip(events, states, states[1:], strict=False):
        asked = []

        def draw(left, asked=asked, expected=expected):
            asked.append(left)
            return expected.phase

        after = play_event(before, event, draw, ruleset)
        assert after == expected
        starts = after.status == "running" and event["type"] == "movement" and after.in_phase == 1
        assert len(asked) == starts
        if starts:
            gone = after.used[:-1]
            assert asked == [tuple(name for name in INFLUENCES if name not in gone)]


@given(rng=st.integers(0, 2**32).map(rng_of))
@any_time
def test_an_event_never_changes_the_state_it_starts_from(rng):
    _, _, states = random_match(rng)
    for state in states[:-1]:
        before = json.dumps(state.to_json())
        event = random_event(rng, state, GOD_V1)
        play_event(state, event, lambda left: left[0], GOD_V1)
        assert json.dumps(state.to_json()) == before


@given(ruleset=rulesets)
@any_time
def test_any_valid_ruleset_can_be_built_from_its_rulings(ruleset):
    rulings = {name: getattr(ruleset, name) for name in RULINGS}
    assert ruleset_with(GOD_V1, rulings) == dataclasses.replace(ruleset, name="god-v1")
