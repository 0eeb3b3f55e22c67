/** The tables of the rules, as data (rules, sections 3 and 4). */

import type { Rulings } from "./ruleset";
import {
  type Choice,
  CORE_MOVES,
  type Influence,
  type Move,
  type Outcome,
  type Phase,
  type Tribute,
} from "./state";

/** What is taken out of an ape's hands. */
export interface Cost {
  readonly alphas: number;
  readonly wilds: number;
}

const NOTHING: Cost = { alphas: 0, wilds: 0 };

export const MOVE_COST: Record<Move, Cost> = {
  rock: NOTHING,
  paper: NOTHING,
  scissors: NOTHING,
  wild: { alphas: 0, wilds: 1 },
  alpha: { alphas: 1, wilds: 0 },
};

export const TRIBUTE_COST: Record<Tribute, Cost> = {
  wilds: { alphas: 0, wilds: 2 },
  alphas: { alphas: 3, wilds: 0 },
};

/** What a tribute takes; none takes nothing. */
export function tributeCost(tribute: Tribute | null): Cost {
  return tribute === null ? NOTHING : TRIBUTE_COST[tribute];
}

/** What a choice takes, move and tribute together; a missed movement (null) takes nothing. */
export function costOf(choice: Choice | null): Cost {
  if (choice === null) return NOTHING;
  const move = MOVE_COST[choice.move];
  const tribute = tributeCost(choice.tribute);
  return { alphas: move.alphas + tribute.alphas, wilds: move.wilds + tribute.wilds };
}

export const BEATS: Record<Move, readonly Move[]> = {
  rock: ["scissors", "wild"],
  paper: ["rock", "wild"],
  scissors: ["paper", "wild"],
  wild: ["alpha"],
  alpha: CORE_MOVES,
};

/**
 * What a win does once tributes and played power moves are set aside. A played power move is gone
 * unless the effect says otherwise: "kept" and "passes to the winner" are gains here.
 */
export interface Effect {
  /** The loser's health. */
  readonly damage: number;
  /** The winner's health. */
  readonly heal: number;
  /** Health that moves from the loser to the winner. */
  readonly drain: number;
  /** Gained by the winner, as `wilds` and `potions` are. */
  readonly alphas: number;
  readonly wilds: number;
  readonly potions: number;
  /** Held by the loser, to the winner. */
  readonly steal_alpha: number;
  /** Held by the loser, gone. */
  readonly destroy_alpha: number;
  readonly destroy_wild: number;
  /** Gained by the loser. */
  readonly loser_wilds: number;
}

export const NO_EFFECT: Effect = {
  damage: 0,
  heal: 0,
  drain: 0,
  alphas: 0,
  wilds: 0,
  potions: 0,
  steal_alpha: 0,
  destroy_alpha: 0,
  destroy_wild: 0,
  loser_wilds: 0,
};

export const CORE_BEATS_CORE: Record<Phase, Partial<Effect>> = {
  opening: { alphas: 1, loser_wilds: 1 },
  sun: { damage: 2, steal_alpha: 1, loser_wilds: 1 },
  water: { damage: 3, heal: 1, loser_wilds: 1 },
  moon: { damage: 2, alphas: 1, loser_wilds: 1 },
  earth: { damage: 2, destroy_alpha: 1, destroy_wild: 1, loser_wilds: 1 },
};

export const ALPHA_BEATS_CORE: Record<Influence, Partial<Effect>> = {
  sun: { damage: 3 },
  water: { heal: 3 },
  moon: { damage: 3, alphas: 1, destroy_wild: 1 },
  earth: { damage: 3, destroy_wild: 1 },
};

/** Under Sun and Earth a ruling tells which alpha a wild steals. */
export function wildBeatsAlpha(influence: Influence, rulings: Rulings): Partial<Effect> {
  const table: Record<Influence, Partial<Effect>> = {
    sun:
      rulings.sun_wild_steals === "held" ? { wilds: 1, steal_alpha: 1 } : { wilds: 1, alphas: 1 },
    water: { drain: 3 },
    moon: { damage: 3, wilds: 1 },
    earth:
      rulings.earth_wild_steals === "held"
        ? { steal_alpha: 1, potions: 1 }
        : { alphas: 1, potions: 1 },
  };
  return table[influence];
}

/** Who wins between the moves of a and b; null is a missed movement. */
export function outcomeOf(a: Move | null, b: Move | null): Outcome {
  if (beats(a, b)) return "a";
  return beats(b, a) ? "b" : "tie";
}

function beats(one: Move | null, other: Move | null): boolean {
  return one !== null && (other === null || BEATS[one].includes(other));
}

/** What it does when `won` beats `lost` (null: the other ape missed the movement). */
export function effectOf(phase: Phase, won: Move, lost: Move | null, rulings: Rulings): Effect {
  const core = { ...NO_EFFECT, ...CORE_BEATS_CORE[phase] };
  if (lost === null || lost === "wild") return { ...core, loser_wilds: 0 };
  if (phase !== "opening" && won === "alpha") {
    const loser_wilds = rulings.core_loser_to_alpha_gains_wild ? 1 : 0;
    return { ...NO_EFFECT, ...ALPHA_BEATS_CORE[phase], loser_wilds };
  }
  if (phase !== "opening" && won === "wild") {
    return { ...NO_EFFECT, ...wildBeatsAlpha(phase, rulings) };
  }
  return core;
}
