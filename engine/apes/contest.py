"""Matches between apes, and what is to be learnt from them about the rules."""

from collections import Counter
from collections.abc import Callable, Mapping
from math import sqrt
from random import Random
from typing import Any, NamedTuple

from engine.apes import Strategy
from engine.apes.turn import seen_by
from engine.play import drink, resolve, start
from engine.ruleset import COUNT_LIMIT, GOD_V1, Ruleset, ruleset_with
from engine.state import Choice, Influence, Seat, State, Status

SEATS: tuple[Seat, Seat] = ("a", "b")
Z_95 = 1.959964
"""Standard deviations on either side of the mean that hold 95 % of a normal distribution."""

CHANGES: Mapping[str, Any] = {
    "movements_per_phase": 4,
    "winner_refills": False,
    "cycles_per_round": COUNT_LIMIT,
    "max_movements": 10 * GOD_V1.max_movements,
    "tie_keeps_power_moves": False,
    "sun_wild_steals": "played",
    "earth_wild_steals": "held",
    "core_loser_to_alpha_gains_wild": False,
    "tribute_returned_on_win": True,
}
"""Each ruling's other reading; of those that count, a shorter influence and far limits."""

CHANGED = {name: ruleset_with(GOD_V1, {name: value}) for name, value in CHANGES.items()}


class Record(NamedTuple):
    """A match that has been played. `happened` counts what is worth knowing of the rules:

    the name of each ruling, once for each movement that would have ended differently under its
    other reading; `sudden death`, `tribute` and `potion`.
    """

    status: Status
    winner: Seat | None
    movements: int
    rounds: int
    happened: Counter[str]


def play_match(a: Strategy, b: Strategy, rng: Random, ruleset: Ruleset = GOD_V1) -> Record:
    """Play a match to its end. Both apes drink, then choose, knowing only what was before."""
    happened: Counter[str] = Counter()
    state = start(ruleset)
    while state.status == "running":
        seen = state
        chosen: dict[Seat, Choice] = {}
        for seat, play in zip(SEATS, (a, b), strict=True):
            turn = play(seen_by(seen, seat), ruleset, rng)
            for _ in range(turn.potions):
                state = drink(state, seat, ruleset)
            chosen[seat] = turn.choice
            happened["potion"] += turn.potions
            happened["tribute"] += turn.choice.tribute is not None
        after = _resolve(state, chosen, rng.random(), ruleset, happened)
        happened["sudden death"] += after.sudden_death and not state.sudden_death
        state = after
    return Record(state.status, state.winner, state.movement, state.round, happened)


def _resolve(
    state: State,
    chosen: Mapping[Seat, Choice],
    chance: float,
    ruleset: Ruleset,
    happened: Counter[str],
) -> State:
    def draw(left: tuple[Influence, ...]) -> Influence:
        return left[int(chance * len(left))]

    def under(rulings: Ruleset) -> State:
        return resolve(state, chosen["a"], chosen["b"], draw=draw, ruleset=rulings)

    after = under(ruleset)
    if ruleset is GOD_V1:
        happened.update(name for name, other in CHANGED.items() if under(other) != after)
    return after


class Score(NamedTuple):
    """How one ape did against another."""

    won: int
    lost: int
    drawn: int

    @property
    def played(self) -> int:
        """How many matches there were."""
        return self.won + self.lost + self.drawn


def play_pair(
    one: Strategy,
    two: Strategy,
    matches: int,
    seed: str,
    ruleset: Ruleset = GOD_V1,
    after_each: Callable[[], None] = lambda: None,
) -> tuple[Score, list[Record]]:
    """Play matches between two apes, who change seats after each; from a seed, always the same."""
    ends: Counter[str] = Counter()
    records = []
    for n in range(matches):
        swapped = n % 2 == 1
        a, b = (two, one) if swapped else (one, two)
        record = play_match(a, b, Random(f"{seed}/{n}"), ruleset)  # noqa: S311 - no secret
        records.append(record)
        if record.winner is None:
            ends["drawn"] += 1
        else:
            ends["won" if (record.winner == "b") == swapped else "lost"] += 1
        after_each()
    return Score(ends["won"], ends["lost"], ends["drawn"]), records


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return the 95 % interval of a proportion (Wilson 1927); all of it without trials."""
    if not trials:
        return 0.0, 1.0
    share, spread = successes / trials, Z_95**2 / trials
    middle = (share + spread / 2) / (1 + spread)
    half = Z_95 * sqrt(share * (1 - share) / trials + spread / (4 * trials)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)
