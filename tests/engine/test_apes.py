"""The house's apes: whatever they are shown, what they play is legal, and theirs to know."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import GOD_V1, Ape, Choice, State, drink, legal_choices
from engine.apes import APES, seen_by
from tests.engine.helpers import SEATS, in_round, random_match, rng_of
from tests.engine.test_properties import rulesets

any_time = settings(deadline=None, max_examples=50)
every_ape = pytest.mark.parametrize("ape", APES)


def play(ape, state, seat="a", seed=1, ruleset=GOD_V1):
    return APES[ape].play(seen_by(state, seat), ruleset, Random(seed))


@every_ape
@any_time
@given(ruleset=rulesets | st.just(GOD_V1), rng=st.integers(0, 2**32).map(rng_of))
def test_every_turn_is_legal_in_any_match(ape, ruleset, rng):
    _, _, states = random_match(rng, ruleset, potions=0.05)
    running = [state for state in states if state.status == "running"]
    for state in rng.sample(running, min(10, len(running))):
        for seat in SEATS:
            turn = play(ape, state, seat, rng.random(), ruleset)
            for _ in range(turn.potions):
                state = drink(state, seat, ruleset)
            assert turn.choice in legal_choices(state, seat, ruleset)


apes = st.builds(
    Ape,
    health=st.integers(1, 10),
    alphas=st.integers(0, 9),
    wilds=st.integers(0, 9),
    potions=st.integers(0, 5),
    streak=st.integers(0, 2),
    rounds=st.integers(0, 2),
)


@every_ape
@any_time
@given(a=apes, b=apes, seed=st.integers(), sudden=st.booleans(), in_phase=st.integers(1, 5))
def test_every_turn_is_legal_whatever_the_apes_hold(ape, a, b, seed, sudden, in_phase):
    state = in_round("moon", a=a, b=b, sudden_death=sudden, in_phase=in_phase)
    turn = play(ape, state, seed=seed)
    for _ in range(turn.potions):
        state = drink(state, "a", GOD_V1)
    assert turn.choice in legal_choices(state, "a", GOD_V1)


@every_ape
def test_the_same_chance_gives_the_same_turns(ape):
    _, _, states = random_match(Random(7), GOD_V1)
    twice = [
        [play(ape, s, seed=n) for n, s in enumerate(states) if s.status == "running"]
        for _ in range(2)
    ]
    assert twice[0] == twice[1]


@every_ape
def test_an_ape_plays_alike_from_either_seat(ape):
    one, two = Ape(health=4, alphas=1, wilds=2, potions=1), Ape(health=7, alphas=2, wilds=1)
    left, right = in_round("earth", a=one, b=two), in_round("earth", a=two, b=one)
    for seed in range(20):
        assert play(ape, left, "a", seed) == play(ape, right, "b", seed)


def test_what_is_seen_is_what_both_players_are_shown():
    state = in_round("sun", a=Ape(health=3), b=Ape(wilds=2), outcome="a")
    seen = seen_by(state, "b")
    assert (seen.a, seen.b) == (state.b, state.a)
    told = {"round", "phase", "movement", "in_phase", "cycle", "sudden_death", "used", "a", "b"}
    for field in State._fields:
        if field not in told:
            assert getattr(seen, field) == getattr(State(), field)


def test_the_bruiser_throws_every_alpha_it_has_and_drinks_when_hurt():
    state = in_round(a=Ape(health=6, alphas=1, potions=3))
    turn = play("bruiser", state)
    assert (turn.potions, turn.choice) == (2, Choice("alpha"))


def test_the_boxer_throws_an_alpha_where_no_wild_can_meet_it():
    held = Ape(alphas=1)
    assert play("boxer", in_round(a=held)).choice == Choice("alpha")
    met = [play("boxer", in_round(a=held, b=Ape(wilds=1)), seed=n).choice for n in range(20)]
    assert Choice("alpha") not in met


def test_the_boxer_keeps_its_potions_until_the_next_blow_could_end_the_round():
    assert play("boxer", in_round(a=Ape(health=4, potions=2))).potions == 0
    assert play("boxer", in_round(a=Ape(health=3, potions=2))).potions == 1
    assert play("boxer", in_round(a=Ape(health=1, potions=1))).potions == 1
