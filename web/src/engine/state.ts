/** What a match is at one moment: plain values, named as the API and a transcript name them. */

export const CORE_MOVES = ["rock", "paper", "scissors"] as const;
export const MOVES = [...CORE_MOVES, "wild", "alpha"] as const;
export const TRIBUTES = ["wilds", "alphas"] as const;
export const INFLUENCES = ["sun", "water", "moon", "earth"] as const;
export const SEATS = ["a", "b"] as const;

export const FULL_HEALTH = 10;
export const ROUNDS_TO_WIN = 3;
export const STREAK_FOR_POTION = 3;
export const MISSES_TO_LOSE = 3;

export type Move = (typeof MOVES)[number];
export type Tribute = (typeof TRIBUTES)[number];
export type Influence = (typeof INFLUENCES)[number];
export type Phase = "opening" | Influence;
export type Seat = (typeof SEATS)[number];
export type Outcome = Seat | "tie";
export type Status = "running" | "won" | "draw" | "abandoned";

/** What an ape plays in one movement (rules, section 3). */
export interface Choice {
  readonly move: Move;
  readonly tribute: Tribute | null;
}

/** What an ape has (rules, section 1). `misses` counts missed movements in a row. */
export interface Ape {
  readonly health: number;
  readonly alphas: number;
  readonly wilds: number;
  readonly potions: number;
  readonly streak: number;
  readonly rounds: number;
  readonly misses: number;
}

/**
 * A whole match after some event. `phase`, `movement`, `in_phase`, `round` and `cycle` are those of
 * the movement that comes next. `used` holds the influences of this cycle, the running one last.
 */
export interface State {
  readonly status: Status;
  readonly winner: Seat | null;
  readonly round: number;
  readonly phase: Phase;
  readonly movement: number;
  readonly in_phase: number;
  readonly cycle: number;
  readonly sudden_death: boolean;
  readonly a: Ape;
  readonly b: Ape;
  readonly outcome: Outcome | null;
  readonly used: readonly Influence[];
}

export type IllegalCode =
  | "match_over"
  | "core_only"
  | "not_held"
  | "potion_in_opening"
  | "no_potion"
  | "full_health";

/** An event the rules refuse. `code` is stable; `seat` and `choice` are whose and which. */
export class IllegalEvent extends Error {
  constructor(
    readonly code: IllegalCode,
    readonly seat: Seat,
    readonly choice: Choice | null = null,
  ) {
    super(code);
  }
}

/** The ape across the table. */
export function otherSeat(seat: Seat): Seat {
  return seat === "a" ? "b" : "a";
}
