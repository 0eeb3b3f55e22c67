"""The ape that plays what the solved game says: never the same, and nothing to be read from it."""

from random import Random

from engine.apes import table
from engine.apes.coarse import SEATS, kinds, meetings
from engine.apes.stage import equilibrium
from engine.apes.turn import HARDEST_BLOW, HURT, Turn, after_potions, potions_at
from engine.play import resolve
from engine.ruleset import Ruleset
from engine.state import CORE_MOVES, INFLUENCES, Choice, Influence, State


def sage(state: State, ruleset: Ruleset, rng: Random) -> Turn:
    """Look one movement ahead by the rules themselves, and beyond it by the table of values.

    It keeps its potions until the next blow, or the health that is about to be compared, could
    lose the round.
    """
    potions = potions_at(HURT if _health_decides(state, ruleset) else HARDEST_BLOW, state)
    state = after_potions(state, potions, ruleset)
    own, weights = zip(*mix_of(state, ruleset), strict=True)
    (choice,) = rng.choices(own, weights)
    if choice.move == "rock":
        choice = choice._replace(move=rng.choice(CORE_MOVES))
    return Turn(potions, choice)


def mix_of(state: State, ruleset: Ruleset) -> list[tuple[Choice, float]]:
    """Return how often ape `a` plays each kind of choice; rock stands for all three core moves."""
    own, theirs = (kinds(state, seat, ruleset) for seat in SEATS)
    if len(own) == 1:
        return [(own[0], 1.0)]
    mix, _ = equilibrium([[_worth_of(state, a, b, ruleset) for b in theirs] for a in own])
    return list(zip(own, mix, strict=True))


def _health_decides(state: State, ruleset: Ruleset) -> bool:
    """Whether this is the movement after which the apes' health is compared."""
    return (
        state.in_phase == ruleset.movements_per_phase
        and len(state.used) == len(INFLUENCES)
        and state.cycle == ruleset.cycles_per_round
    )


def _worth_of(state: State, a: Choice, b: Choice, ruleset: Ruleset) -> float:
    """What it is worth to `a` when these two kinds meet."""
    met = meetings(a, b)
    return sum(_worth_after(state, a, each, ruleset) for each in met) / len(met)


def _worth_after(state: State, a: Choice, b: Choice, ruleset: Ruleset) -> float:
    coming: tuple[Influence, ...] = ()

    def draw(left: tuple[Influence, ...]) -> Influence:
        nonlocal coming
        coming = left
        return left[0]

    after = resolve(state, a, b, draw=draw, ruleset=ruleset)
    if after.status != "running":
        return {"a": 1.0, "b": 0.0, None: 0.5}[after.winner]
    if not coming:
        return table.value(after)
    return sum(table.value(after._replace(phase=influence)) for influence in coming) / len(coming)
