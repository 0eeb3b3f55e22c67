/** The course of a match: a state, an event, the next state (rules, sections 2 to 5). */

import type { Rulings } from "./ruleset";
import {
  type Ape,
  type Choice,
  FULL_HEALTH,
  IllegalEvent,
  INFLUENCES,
  type Influence,
  MISSES_TO_LOSE,
  MOVES,
  type Outcome,
  type Phase,
  ROUNDS_TO_WIN,
  type Seat,
  STREAK_FOR_POTION,
  type State,
  TRIBUTES,
} from "./state";
import { type Cost, costOf, effectOf, MOVE_COST, outcomeOf, tributeCost } from "./tables";

/** Picks the next influence among those left in the cycle (rules, section 6). */
export type Draw = (left: readonly Influence[]) => Influence;

export const OPENING_MOVEMENTS = 3;
const POTION_HEALTH = 2;

const FRESH: Ape = {
  health: FULL_HEALTH,
  alphas: 0,
  wilds: 0,
  potions: 0,
  streak: 0,
  rounds: 0,
  misses: 0,
};

/** The state before the first movement. */
export const START: State = {
  status: "running",
  winner: null,
  round: 0,
  phase: "opening",
  movement: 1,
  in_phase: 1,
  cycle: 0,
  sudden_death: false,
  a: FRESH,
  b: FRESH,
  outcome: null,
  used: [],
};

/** Where a match stands, as far as choices and potions depend on it. */
export type Position = Pick<State, "status" | "phase" | "a" | "b">;

/** Why `seat` may not choose this now, or null if it may (rules, sections 2 and 3). */
export function refusal(position: Position, seat: Seat, choice: Choice): IllegalEvent | null {
  const { alphas, wilds } = costOf(choice);
  if (position.status !== "running") return new IllegalEvent("match_over", seat, choice);
  if (position.phase === "opening" && (alphas > 0 || wilds > 0)) {
    return new IllegalEvent("core_only", seat, choice);
  }
  const ape = position[seat];
  const held = alphas <= ape.alphas && wilds <= ape.wilds;
  return held ? null : new IllegalEvent("not_held", seat, choice);
}

/** Why `seat` may not drink a potion now, or null if it may (rules, section 5). */
export function potionRefusal(position: Position, seat: Seat): IllegalEvent | null {
  const ape = position[seat];
  if (position.status !== "running") return new IllegalEvent("match_over", seat);
  if (position.phase === "opening") return new IllegalEvent("potion_in_opening", seat);
  if (ape.potions === 0) return new IllegalEvent("no_potion", seat);
  return ape.health === FULL_HEALTH ? new IllegalEvent("full_health", seat) : null;
}

/** Every choice `seat` may make now; none once the match is over. */
export function legalChoices(position: Position, seat: Seat): Choice[] {
  return MOVES.flatMap((move) => [null, ...TRIBUTES].map((tribute) => ({ move, tribute }))).filter(
    (choice) => refusal(position, seat, choice) === null,
  );
}

/**
 * The state after a movement; null for an ape is a missed one. `draw` is called when an influence
 * starts. Throws IllegalEvent.
 */
export function resolve(
  state: State,
  a: Choice | null,
  b: Choice | null,
  draw: Draw,
  rulings: Rulings,
): State {
  requireRunning(state, "a");
  const refused = (a && refusal(state, "a", a)) ?? (b && refusal(state, "b", b));
  if (refused) throw refused;

  const outcome = outcomeOf(a?.move ?? null, b?.move ?? null);
  let apeA: Ape, apeB: Ape;
  if (outcome === "a" && a !== null)
    [apeA, apeB] = win(state.phase, state.a, a, state.b, b, rulings);
  else if (outcome === "b" && b !== null)
    [apeB, apeA] = win(state.phase, state.b, b, state.a, a, rulings);
  else [apeA, apeB] = [tied(state.a, a, rulings), tied(state.b, b, rulings)];
  return conclude(state, apeA, apeB, outcome, draw, rulings);
}

/** The state after `seat` drinks a healing potion. Throws IllegalEvent. */
export function drink(state: State, seat: Seat): State {
  const refused = potionRefusal(state, seat);
  if (refused) throw refused;
  const ape = state[seat];
  const health = Math.min(ape.health + POTION_HEALTH, FULL_HEALTH);
  return { ...state, [seat]: { ...ape, health, potions: ape.potions - 1 }, outcome: null };
}

/** The state after `seat` resigns. Throws IllegalEvent. */
export function resign(state: State, seat: Seat): State {
  requireRunning(state, seat);
  return { ...state, status: "won", winner: seat === "a" ? "b" : "a", outcome: null };
}

function requireRunning(state: State, seat: Seat): void {
  if (state.status !== "running") throw new IllegalEvent("match_over", seat);
}

/** Winner and loser after the movement (rules, sections 4 and 5). */
function win(
  phase: Phase,
  winner: Ape,
  won: Choice,
  loser: Ape,
  lost: Choice | null,
  rulings: Rulings,
): [winner: Ape, loser: Ape] {
  const effect = effectOf(phase, won.move, lost?.move ?? null, rulings);
  const lostCost = costOf(lost);
  const heldAlphas = loser.alphas - lostCost.alphas;
  const heldWilds = loser.wilds - lostCost.wilds;
  const stolen = Math.min(effect.steal_alpha, heldAlphas);
  const drained = Math.min(effect.drain, loser.health);
  const wonCost = paid(won, lost, rulings);
  const streak = (winner.streak + 1) % STREAK_FOR_POTION;
  const potions =
    effect.potions + Number(streak === 0) + Number(lost !== null && won.tribute !== null);
  return [
    {
      ...winner,
      health: Math.min(winner.health + effect.heal + drained, FULL_HEALTH),
      alphas: winner.alphas - wonCost.alphas + effect.alphas + stolen,
      wilds: winner.wilds - wonCost.wilds + effect.wilds,
      potions: winner.potions + potions,
      streak,
      misses: 0,
    },
    {
      ...loser,
      health: Math.max(loser.health - effect.damage - drained, 0),
      alphas: heldAlphas - stolen - Math.min(effect.destroy_alpha, heldAlphas),
      wilds: heldWilds - Math.min(effect.destroy_wild, heldWilds) + effect.loser_wilds,
      streak: 0,
      misses: lost === null ? loser.misses + 1 : 0,
    },
  ];
}

/** What the winner's choice costs; against an absent ape all comes back. */
function paid(won: Choice, lost: Choice | null, rulings: Rulings): Cost {
  if (lost === null) return costOf(null);
  return rulings.tribute_returned_on_win ? MOVE_COST[won.move] : costOf(won);
}

/** An ape after a tie, or after a movement that both missed (rules, sections 3 and 5). */
function tied(ape: Ape, choice: Choice | null, rulings: Rulings): Ape {
  if (choice === null) return { ...ape, streak: 0, misses: ape.misses + 1 };
  const cost = rulings.tie_keeps_power_moves ? tributeCost(choice.tribute) : costOf(choice);
  return {
    ...ape,
    alphas: ape.alphas - cost.alphas,
    wilds: ape.wilds - cost.wilds,
    streak: 0,
    misses: 0,
  };
}

/** The state after a movement that left the apes as `a` and `b` (rules, section 2). */
function conclude(
  state: State,
  a: Ape,
  b: Ape,
  outcome: Outcome,
  draw: Draw,
  rulings: Rulings,
): State {
  const played: State = { ...state, a, b, outcome };
  if (Math.max(a.misses, b.misses) === MISSES_TO_LOSE) {
    if (a.misses === b.misses) return { ...played, status: "abandoned" };
    return { ...played, status: "won", winner: a.misses < b.misses ? "a" : "b" };
  }

  const opening = state.phase === "opening";
  const phaseEnds = state.in_phase === (opening ? OPENING_MOVEMENTS : rulings.movements_per_phase);
  const roundWinner = roundWinnerOf(played, phaseEnds, rulings);
  const scored =
    roundWinner === null || roundWinner === "tie" ? played : withRound(played, roundWinner);
  if (scored.a.rounds === ROUNDS_TO_WIN) return { ...scored, status: "won", winner: "a" };
  if (scored.b.rounds === ROUNDS_TO_WIN) return { ...scored, status: "won", winner: "b" };
  if (state.movement === rulings.max_movements) return { ...scored, status: "draw" };

  const next: State = {
    ...scored,
    movement: state.movement + 1,
    in_phase: state.in_phase + 1,
    sudden_death: state.sudden_death || roundWinner === "tie",
  };
  if (roundWinner === "a" || roundWinner === "b" || (opening && phaseEnds)) {
    return withInfluence(newRound(next, roundWinner, rulings), draw);
  }
  return phaseEnds ? withInfluence(next, draw) : next;
}

/** Who won the round; null while it is open, "tie" if sudden death must tell. */
function roundWinnerOf(state: State, phaseEnds: boolean, rulings: Rulings): Outcome | null {
  const { a, b } = state;
  if (a.health === 0) return "b";
  if (b.health === 0) return "a";
  if (state.sudden_death) return state.outcome;
  if (
    phaseEnds &&
    state.cycle === rulings.cycles_per_round &&
    state.used.length === INFLUENCES.length
  ) {
    if (a.health === b.health) return "tie";
    return a.health > b.health ? "a" : "b";
  }
  return null;
}

function withRound(state: State, seat: Seat): State {
  return { ...state, [seat]: { ...state[seat], rounds: state[seat].rounds + 1 } };
}

/** The next round's start but for its influence; `last` won the round before, if there was one. */
function newRound(state: State, last: Outcome | null, rulings: Rulings): State {
  const refilled = (ape: Ape, lost: boolean) =>
    rulings.winner_refills || lost ? { ...ape, health: FULL_HEALTH } : ape;
  return {
    ...state,
    round: state.round + 1,
    cycle: 0,
    used: [],
    sudden_death: false,
    a: refilled(state.a, last === "b"),
    b: refilled(state.b, last === "a"),
  };
}

/** The state under a newly drawn influence, in a new cycle if the old one is used up. */
function withInfluence(state: State, draw: Draw): State {
  const cycleStarts = state.used.length === 0 || state.used.length === INFLUENCES.length;
  const used = cycleStarts ? [] : state.used;
  const phase = draw(INFLUENCES.filter((influence) => !used.includes(influence)));
  return {
    ...state,
    phase,
    in_phase: 1,
    cycle: state.cycle + (cycleStarts ? 1 : 0),
    used: [...used, phase],
  };
}
