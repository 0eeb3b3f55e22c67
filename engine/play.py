"""The course of a match: a state, an event, the next state (rules.md, sections 2 to 5)."""

from collections.abc import Callable
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
from engine.tables import COST, MOVE_COST, NOTHING, TRIBUTE_COST, Cost, Effect, outcomes

Draw = Callable[[tuple[Influence, ...]], Influence]
"""Picks the next influence among those left in the cycle (rules.md, section 6)."""

OPENING_MOVEMENTS = 3
ROUNDS_TO_WIN = 3
STREAK_FOR_POTION = 3
MISSES_TO_LOSE = 3
POTION_HEALTH = 2


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
    return tuple(choice for choice, cost in COST.items() if cost[0] <= alphas and cost[1] <= wilds)


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
    opening = state.phase == "opening"
    cost_a = NOTHING if a is None else _cost(a, "a", ape_a, opening)
    cost_b = NOTHING if b is None else _cost(b, "b", ape_b, opening)
    outcome, effect = outcomes(
        ruleset.sun_wild_steals,
        ruleset.earth_wild_steals,
        ruleset.core_loser_to_alpha_gains_wild,
    )[state.phase, a.move if a else None, b.move if b else None]

    if outcome == "a":
        ape_a, ape_b = _win(effect, ape_a, a, cost_a, ape_b, b, cost_b, ruleset)
    elif outcome == "b":
        ape_b, ape_a = _win(effect, ape_b, b, cost_b, ape_a, a, cost_a, ruleset)
    else:
        ape_a = _tie(ape_a, a, ruleset)
        ape_b = _tie(ape_b, b, ruleset)
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


def _cost(choice: Choice, seat: Seat, ape: Ape, opening: bool) -> Cost:
    """Return what `choice` takes out of the ape's hands, or refuse it."""
    cost = COST.get(choice)
    if cost is None:
        raise IllegalEvent("unknown_choice", f"ape {seat}: no such move or tribute")
    alphas, wilds = cost
    if opening and cost != NOTHING:
        raise IllegalEvent("core_only", f"{_name(choice)}: the opening is for bare core moves")
    if alphas > ape.alphas:
        raise IllegalEvent("not_held", f"{_name(choice)}: ape {seat} holds {ape.alphas} alphas")
    if wilds > ape.wilds:
        raise IllegalEvent("not_held", f"{_name(choice)}: ape {seat} holds {ape.wilds} wilds")
    return cost


def _name(choice: Choice) -> str:
    return choice.move if choice.tribute is None else f"{choice.move} with tribute {choice.tribute}"


def _win(
    effect: Effect,
    winner: Ape,
    won: Choice | None,
    won_cost: Cost,
    loser: Ape,
    lost: Choice | None,
    lost_cost: Cost,
    ruleset: Ruleset,
) -> tuple[Ape, Ape]:
    """Return winner and loser after the winner's `effect` (rules.md, section 4)."""
    tribute_earns = 0
    if lost is None:
        won_cost = NOTHING  # against an absent ape all comes back
    elif won is not None and won.tribute is not None:
        tribute_earns = 1
        if ruleset.tribute_returned_on_win:
            won_cost = MOVE_COST[won.move]
    streak = winner.streak + 1
    streak_earns = 0
    if streak == STREAK_FOR_POTION:
        streak = 0
        streak_earns = 1

    damage, heal, drain, alphas, wilds, potions, steal, destroy_alpha, destroy_wild, given = effect
    drained = min(drain, loser.health)
    held_alphas = loser.alphas - lost_cost[0]
    held_wilds = loser.wilds - lost_cost[1]
    stolen = min(steal, held_alphas)
    return (
        Ape(
            min(winner.health + heal + drained, FULL_HEALTH),
            winner.alphas - won_cost[0] + alphas + stolen,
            winner.wilds - won_cost[1] + wilds,
            winner.potions + potions + tribute_earns + streak_earns,
            streak,
            winner.rounds,
            0,
        ),
        Ape(
            max(loser.health - damage - drained, 0),
            held_alphas - stolen - min(destroy_alpha, held_alphas),
            held_wilds - min(destroy_wild, held_wilds) + given,
            loser.potions,
            0,
            loser.rounds,
            loser.misses + 1 if lost is None else 0,
        ),
    )


def _tie(ape: Ape, choice: Choice | None, ruleset: Ruleset) -> Ape:
    """Return an ape after a tie, or after a movement both missed (rules.md, sections 3 and 5)."""
    if choice is None:
        return ape._replace(streak=0, misses=ape.misses + 1)
    cost = TRIBUTE_COST[choice.tribute] if ruleset.tie_keeps_power_moves else COST[choice]
    return Ape(ape.health, ape.alphas - cost[0], ape.wilds - cost[1], ape.potions, 0, ape.rounds, 0)


def _conclude(
    state: State, a: Ape, b: Ape, outcome: Outcome, draw: Draw, ruleset: Ruleset
) -> State:
    """Return the state after a movement that left the apes as `a` and `b` (rules.md, section 2).

    The order of the endings matters: misses, the round, the match, the movement limit.
    """
    _, _, round_, phase, movement, in_phase, cycle, sudden_death, _, _, _, used = state

    if a.misses == MISSES_TO_LOSE or b.misses == MISSES_TO_LOSE:
        if a.misses == b.misses:
            return _over(state, a, b, outcome, "abandoned", None)
        return _over(state, a, b, outcome, "won", "a" if a.misses < b.misses else "b")

    opening = phase == "opening"
    phase_ends = in_phase == (OPENING_MOVEMENTS if opening else ruleset.movements_per_phase)

    round_winner: Outcome | None = None  # "tie": the last cycle left the apes level
    if a.health == 0:
        round_winner = "b"
    elif b.health == 0:
        round_winner = "a"
    elif sudden_death:
        round_winner = outcome
    elif phase_ends and cycle == ruleset.cycles_per_round and len(used) == len(INFLUENCES):
        round_winner = "tie" if a.health == b.health else "a" if a.health > b.health else "b"

    if round_winner == "a":
        a = a._replace(rounds=a.rounds + 1)
        if a.rounds == ROUNDS_TO_WIN:
            return _over(state, a, b, outcome, "won", "a")
    elif round_winner == "b":
        b = b._replace(rounds=b.rounds + 1)
        if b.rounds == ROUNDS_TO_WIN:
            return _over(state, a, b, outcome, "won", "b")
    if movement == ruleset.max_movements:
        return _over(state, a, b, outcome, "draw", None)

    if round_winner == "tie":
        sudden_death = True
    elif round_winner is not None or (opening and phase_ends):
        if ruleset.winner_refills or round_winner != "a":
            a = a._replace(health=FULL_HEALTH)
        if ruleset.winner_refills or round_winner != "b":
            b = b._replace(health=FULL_HEALTH)
        round_ += 1
        cycle, used = 0, ()
        sudden_death = False
        phase_ends = True

    in_phase += 1
    if phase_ends:
        if len(used) in (0, len(INFLUENCES)):
            cycle, used = cycle + 1, ()
        phase = _next_influence(draw, used)
        used = (*used, phase)
        in_phase = 1
    return State(
        "running",
        None,
        round_,
        phase,
        movement + 1,
        in_phase,
        cycle,
        sudden_death,
        a,
        b,
        outcome,
        used,
    )


def _next_influence(draw: Draw, used: tuple[Influence, ...]) -> Influence:
    left = tuple(influence for influence in INFLUENCES if influence not in used)
    drawn = draw(left)
    if drawn not in left:
        raise IllegalEvent("bad_draw", f"draw: {drawn} is not among {', '.join(left)}")
    return drawn


def _over(
    state: State, a: Ape, b: Ape, outcome: Outcome, status: Status, winner: Seat | None
) -> State:
    """End the match; where it ended (phase, movement, round, cycle) stays as it was."""
    return state._replace(status=status, winner=winner, a=a, b=b, outcome=outcome)
