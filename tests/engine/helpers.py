"""What the engine's tests share: states made to order, and whole random matches."""

import random

from engine import GOD_V1, Choice, State, drink, legal_choices, resign, resolve, start

SEATS = ("a", "b")


def no_draw(left):
    raise AssertionError(f"no influence should be drawn now, but one was asked of {left}")


def first_left(left):
    return left[0]


def in_round(phase="sun", **fields):
    """A state in the middle of a round, so that the next movement ends nothing by itself."""
    usual = {"round": 1, "movement": 5, "in_phase": 2, "cycle": 1, "used": (phase,)}
    return State(phase=phase, **(usual | fields))


def at_cycle_end(phase="earth", **fields):
    """A state whose next movement is the last of the third cycle."""
    usual = {"movement": 63, "in_phase": 5, "cycle": 3, "used": ("sun", "water", "moon", "earth")}
    return in_round(phase, **(usual | fields))


def choice(played):
    return Choice(played) if isinstance(played, str) else played


def play(state, a, b, draw=no_draw, ruleset=GOD_V1):
    """Resolve a movement; a bare move stands for a choice without tribute."""
    return resolve(state, choice(a), choice(b), draw=draw, ruleset=ruleset)


def mirrored(state):
    """The same match with the apes' seats swapped."""
    other = {"a": "b", "b": "a", "tie": "tie", None: None}
    return state._replace(
        a=state.b, b=state.a, winner=other[state.winner], outcome=other[state.outcome]
    )


def choice_json(choice):
    return choice and {"move": choice.move, "tribute": choice.tribute}


def play_event(state, event, draw, ruleset):
    """Apply an event in the form of the replay format."""
    if event["type"] == "movement":
        a, b = (event[seat] and Choice(**event[seat]) for seat in SEATS)
        return resolve(state, a, b, draw=draw, ruleset=ruleset)
    if event["type"] == "potion":
        return drink(state, event["ape"], ruleset)
    return resign(state, event["ape"])


def random_event(rng, state, ruleset, misses=0.03, resigns=0.001, potions=0.5):
    """A random legal event, of the kinds and in the mix of a real match."""
    for seat in SEATS:
        ape = getattr(state, seat)
        if state.round and ape.potions and ape.health < 10 and rng.random() < potions:
            return {"type": "potion", "ape": seat}
    if rng.random() < resigns:
        return {"type": "resign", "ape": rng.choice(SEATS)}
    picked = {}
    for seat in SEATS:
        missed = rng.random() < misses
        choices = legal_choices(state, seat, ruleset)
        picked[seat] = None if missed else choice_json(rng.choice(choices))
    return {"type": "movement", **picked}


def random_match(rng, ruleset=GOD_V1, **odds):
    """A whole random match: its events, its draws, and the state after each event."""
    events, draws, states = [], [], [start(ruleset)]

    def draw(left):
        draws.append(rng.choice(left))
        return draws[-1]

    while states[-1].status == "running":
        events.append(random_event(rng, states[-1], ruleset, **odds))
        states.append(play_event(states[-1], events[-1], draw, ruleset))
    return events, draws, states


def random_rulings(rng):
    """A random value for every ruling, small enough for the rare endings to come up."""
    return {
        "movements_per_phase": rng.choice((1, 2, 5)),
        "winner_refills": rng.random() < 0.5,
        "cycles_per_round": rng.choice((1, 2, 3)),
        "max_movements": rng.choice((2, 3, 20, 60, 400)),
        "tie_keeps_power_moves": rng.random() < 0.5,
        "sun_wild_steals": rng.choice(("held", "played")),
        "earth_wild_steals": rng.choice(("held", "played")),
        "core_loser_to_alpha_gains_wild": rng.random() < 0.5,
        "tribute_returned_on_win": rng.random() < 0.5,
    }


def rng_of(seed):
    return random.Random(seed)


def check_bounds(state, ruleset):
    """What holds of every state that a match can get to."""
    for ape in (state.a, state.b):
        assert min(ape) >= 0
        assert ape.health <= 10
        assert ape.streak < 3
        assert ape.rounds <= 3
        assert ape.misses <= 3
    assert state.movement <= ruleset.max_movements
    assert len(set(state.used)) == len(state.used)
    if state.round == 0:
        assert (state.phase, state.used, state.cycle) == ("opening", (), 0)
        assert state.in_phase <= 3
    else:
        assert state.used[-1] == state.phase
        assert state.in_phase <= ruleset.movements_per_phase
    assert (state.status == "won") == (state.winner is not None)
    if state.status == "running":
        assert min(state.a.health, state.b.health) > 0
        assert max(state.a.rounds, state.b.rounds) < 3
        assert max(state.a.misses, state.b.misses) < 3
        assert state.round == 0 or state.round == state.a.rounds + state.b.rounds + 1
