"""The course of a match: a state, an event, the next state (rules.md, sections 2 to 5)."""

from collections.abc import Callable, Iterator
from functools import cache

from engine.ruleset import Ruleset
from engine.state import (
    FULL_HEALTH,
    INFLUENCES,
    Ape,
    Choice,
    IllegalEvent,
    Influence,
    Outcome,
    Result,
    Seat,
    State,
    Status,
)
from engine.tables import CHOICES, COST, Cost, Effect, meetings

Draw = Callable[[tuple[Influence, ...]], Influence]
"""Picks the next influence among those left in the cycle (rules.md, section 6)."""

OPENING_MOVEMENTS = 3
ROUNDS_TO_WIN = 3
STREAK_FOR_POTION = 3
MISSES_TO_LOSE = 3
POTION_HEALTH = 2


# Makes an Ape or a State without the wrapper that a named tuple puts around this very call, and
# which takes longer than all of the rest: a movement makes three of them.
new = tuple.__new__


def start(ruleset: Ruleset) -> State:
    """Return the state before the first movement (rules.md, sections 1 and 2)."""
    return State()


def result(state: State) -> Result:
    """Return whether the match is over, and who won it if anybody did."""
    return Result(state.status, state.winner)


def legal_choices(state: State, ape: Seat, ruleset: Ruleset) -> tuple[Choice, ...]:
    """Return every choice `ape` may make now (rules.md, section 3); none once the match is over."""
    if state.status != "running":
        return ()
    if state.phase == "opening":
        return _affordable(0, 0)
    holder = state.a if ape == "a" else state.b
    # No choice costs more than 4 alphas or 3 wilds, so the cache stays small.
    return _affordable(min(holder.alphas, 4), min(holder.wilds, 3))


@cache
def _affordable(alphas: int, wilds: int) -> tuple[Choice, ...]:
    return tuple([c for c in CHOICES if COST[c][0] <= alphas and COST[c][1] <= wilds])


def resolve(
    state: State, a: Choice | None, b: Choice | None, *, draw: Draw, ruleset: Ruleset
) -> State:
    """Return the state after a movement (rules.md, sections 3 to 5); `None` is a missed one.

    `draw` is called with the influences left in the cycle, in the order sun, water, moon, earth,
    when this movement is the last of its influence, of the opening or of a round, and the match
    goes on. What it raises passes through.

    Raises `IllegalEvent`: `match_over`, `unknown_choice`, `core_only`, `not_held`, or `bad_draw`
    if `draw` answers with an influence that is not left.
    """
    if state.status != "running":
        raise _match_over()
    ape_a, ape_b = state.a, state.b
    met = meetings(
        ruleset.sun_wild_steals,
        ruleset.earth_wild_steals,
        ruleset.core_loser_to_alpha_gains_wild,
        ruleset.tie_keeps_power_moves,
        ruleset.tribute_returned_on_win,
    ).get((state.phase, a, b))
    if met is None:
        raise next(_refusals(state, a, b))
    outcome, effect, need_a, need_b, cost_a, cost_b = met
    if (
        need_a[0] > ape_a.alphas
        or need_a[1] > ape_a.wilds
        or need_b[0] > ape_b.alphas
        or need_b[1] > ape_b.wilds
    ):
        raise next(_refusals(state, a, b))

    if outcome == "a":
        ape_a, ape_b = _win(effect, ape_a, cost_a, ape_b, cost_b, b is None)
    elif outcome == "b":
        ape_b, ape_a = _win(effect, ape_b, cost_b, ape_a, cost_a, a is None)
    else:
        ape_a = _tie(ape_a, cost_a, a is None)
        ape_b = _tie(ape_b, cost_b, b is None)
    return _conclude(state, ape_a, ape_b, outcome, draw, ruleset)


def drink(state: State, ape: Seat, ruleset: Ruleset) -> State:
    """Return the state after `ape` drinks a healing potion (rules.md, section 5).

    Raises `IllegalEvent`: `match_over`, `potion_in_opening`, `no_potion` or `full_health`.
    """
    if state.status != "running":
        raise _match_over()
    if state.phase == "opening":
        raise IllegalEvent("potion_in_opening", "potion: none may be drunk in the opening")
    drinker = state.a if ape == "a" else state.b
    if not drinker.potions:
        raise IllegalEvent("no_potion", f"potion: ape {ape} holds 0 potions")
    if drinker.health == FULL_HEALTH:
        raise IllegalEvent("full_health", f"potion: ape {ape} is at full health")
    healed = drinker._replace(
        health=min(drinker.health + POTION_HEALTH, FULL_HEALTH), potions=drinker.potions - 1
    )
    if ape == "a":
        return state._replace(a=healed, outcome=None)
    return state._replace(b=healed, outcome=None)


def resign(state: State, ape: Seat) -> State:
    """Return the state after `ape` resigns (rules.md, section 5).

    Raises `IllegalEvent`: `match_over`.
    """
    if state.status != "running":
        raise _match_over()
    return state._replace(status="won", winner="b" if ape == "a" else "a", outcome=None)


def _match_over() -> IllegalEvent:
    return IllegalEvent("match_over", "the match is over")


def _refusals(state: State, a: Choice | None, b: Choice | None) -> Iterator[IllegalEvent]:
    """Yield why choices are illegal (rules.md, sections 2 and 3), ape a's first."""
    choices: tuple[tuple[Seat, Ape, Choice | None], ...] = (("a", state.a, a), ("b", state.b, b))
    for seat, ape, choice in choices:
        if choice is None:
            continue
        cost = COST.get(choice)
        if cost is None:
            yield IllegalEvent("unknown_choice", f"ape {seat}: no such move or tribute")
        elif state.phase == "opening" and cost != (0, 0):
            reason = f"{_name(choice)}: ape {seat} may play only bare core moves in the opening"
            yield IllegalEvent("core_only", reason)
        elif cost[0] > ape.alphas:
            held = f"{_name(choice)}: ape {seat} holds {ape.alphas} alphas"
            yield IllegalEvent("not_held", held)
        elif cost[1] > ape.wilds:
            held = f"{_name(choice)}: ape {seat} holds {ape.wilds} wilds"
            yield IllegalEvent("not_held", held)


def _name(choice: Choice) -> str:
    return choice.move if choice.tribute is None else f"{choice.move} with tribute {choice.tribute}"


def _win(
    effect: Effect, winner: Ape, winner_cost: Cost, loser: Ape, loser_cost: Cost, missed: bool
) -> tuple[Ape, Ape]:
    """Return winner and loser after the winner's `effect` (rules.md, sections 4 and 5)."""
    damage, heal, drain, alphas, wilds, potions, steal, destroy_alpha, destroy_wild, given = effect

    health, held_alphas, held_wilds, held_potions, _, rounds, misses = loser
    held_alphas -= loser_cost[0]
    held_wilds -= loser_cost[1]
    if held_alphas == 0:
        steal = destroy_alpha = 0
    if held_wilds == 0:
        destroy_wild = 0
    if drain > health:
        drain = health
    health -= damage + drain
    loser = new(
        Ape,
        (
            health if health > 0 else 0,
            held_alphas - steal - destroy_alpha,
            held_wilds - destroy_wild + given,
            held_potions,
            0,
            rounds,
            misses + 1 if missed else 0,
        ),
    )

    health, held_alphas, held_wilds, held_potions, streak, rounds, _ = winner
    streak += 1
    if streak == STREAK_FOR_POTION:
        streak = 0
        potions += 1
    health += heal + drain
    winner = new(
        Ape,
        (
            health if health < FULL_HEALTH else FULL_HEALTH,
            held_alphas - winner_cost[0] + alphas + steal,
            held_wilds - winner_cost[1] + wilds,
            held_potions + potions,
            streak,
            rounds,
            0,
        ),
    )
    return winner, loser


def _tie(ape: Ape, cost: Cost, missed: bool) -> Ape:
    """Return an ape after a tie, or after a movement both missed (rules.md, sections 3 and 5)."""
    health, alphas, wilds, potions, _, rounds, misses = ape
    misses = misses + 1 if missed else 0
    return new(Ape, (health, alphas - cost[0], wilds - cost[1], potions, 0, rounds, misses))


def _conclude(
    state: State, a: Ape, b: Ape, outcome: Outcome, draw: Draw, ruleset: Ruleset
) -> State:
    """Return the state after a movement that left the apes as `a` and `b` (rules.md, section 2)."""
    if a.misses == MISSES_TO_LOSE or b.misses == MISSES_TO_LOSE:
        if a.misses == b.misses:
            return _over(state, a, b, outcome, "abandoned", None)
        return _over(state, a, b, outcome, "won", "a" if a.misses < b.misses else "b")

    _, _, round_, phase, movement, in_phase, cycle, sudden_death, _, _, _, used = state
    phase_ends = in_phase == (ruleset.movements_per_phase if used else OPENING_MOVEMENTS)
    if (
        phase_ends
        or sudden_death
        or a.health == 0
        or b.health == 0
        or movement == ruleset.max_movements
    ):
        return _turn(state, a, b, outcome, phase_ends, draw, ruleset)
    # fmt: off
    return new(State, (
        "running", None, round_, phase, movement + 1, in_phase + 1, cycle, sudden_death,
        a, b, outcome, used,
    ))
    # fmt: on


def _turn(
    state: State,
    a: Ape,
    b: Ape,
    outcome: Outcome,
    phase_ends: bool,
    draw: Draw,
    ruleset: Ruleset,
) -> State:
    """Return the state after a movement that may end more than itself (rules.md, section 2)."""
    round_winner = _round_winner(state, a, b, outcome, phase_ends, ruleset)
    if round_winner == "a":
        a = a._replace(rounds=a.rounds + 1)
    elif round_winner == "b":
        b = b._replace(rounds=b.rounds + 1)
    if a.rounds == ROUNDS_TO_WIN:
        return _over(state, a, b, outcome, "won", "a")
    if b.rounds == ROUNDS_TO_WIN:
        return _over(state, a, b, outcome, "won", "b")
    if state.movement == ruleset.max_movements:
        return _over(state, a, b, outcome, "draw", None)

    _, _, round_, phase, movement, in_phase, cycle, _, _, _, _, used = state
    in_phase += 1
    if round_winner in ("a", "b") or not used:
        a, b = _refill(a, b, round_winner, ruleset)
        round_, cycle, used = round_ + 1, 0, ()
        phase_ends = True
    if phase_ends:
        if len(used) in (0, len(INFLUENCES)):
            cycle, used = cycle + 1, ()
        phase = _drawn(used, draw)
        in_phase, used = 1, (*used, phase)
    # fmt: off
    return new(State, (
        "running", None, round_, phase, movement + 1, in_phase, cycle, round_winner == "tie",
        a, b, outcome, used,
    ))
    # fmt: on


def _round_winner(
    state: State, a: Ape, b: Ape, outcome: Outcome, phase_ends: bool, ruleset: Ruleset
) -> Outcome | None:
    """Return who won the round, `None` while it is open, `"tie"` if sudden death must tell."""
    if a.health == 0:
        return "b"
    if b.health == 0:
        return "a"
    if state.sudden_death:
        return outcome
    last_cycle = state.cycle == ruleset.cycles_per_round
    if phase_ends and last_cycle and len(state.used) == len(INFLUENCES):
        return "tie" if a.health == b.health else "a" if a.health > b.health else "b"
    return None


def _refill(a: Ape, b: Ape, last: Outcome | None, ruleset: Ruleset) -> tuple[Ape, Ape]:
    """Return the apes as a round finds them; `last` won the one before, if there was one."""
    if ruleset.winner_refills or last == "b":
        a = a._replace(health=FULL_HEALTH)
    if ruleset.winner_refills or last == "a":
        b = b._replace(health=FULL_HEALTH)
    return a, b


def _drawn(used: tuple[Influence, ...], draw: Draw) -> Influence:
    """Return the influence that comes after those already used in this cycle."""
    left = _left(used)
    drawn = draw(left)
    if drawn not in left:
        raise IllegalEvent("bad_draw", f"draw: {drawn} is not among {', '.join(left)}")
    return drawn


@cache
def _left(used: tuple[Influence, ...]) -> tuple[Influence, ...]:
    return tuple([influence for influence in INFLUENCES if influence not in used])


def _over(
    state: State, a: Ape, b: Ape, outcome: Outcome, status: Status, winner: Seat | None
) -> State:
    """End the match; where it ended (phase, movement, round, cycle) stays as it was."""
    return state._replace(status=status, winner=winner, a=a, b=b, outcome=outcome)
