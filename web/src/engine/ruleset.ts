/** The rulings of a match: where the rules can be read in two ways, which way it is played. */

export type Steals = "held" | "played";

export interface Rulings {
  readonly movements_per_phase: number;
  readonly winner_refills: boolean;
  readonly cycles_per_round: number;
  readonly max_movements: number;
  readonly tie_keeps_power_moves: boolean;
  readonly sun_wild_steals: Steals;
  readonly earth_wild_steals: Steals;
  readonly core_loser_to_alpha_gains_wild: boolean;
  readonly tribute_returned_on_win: boolean;
}

export const GOD_V1: Rulings = {
  movements_per_phase: 5,
  winner_refills: true,
  cycles_per_round: 3,
  max_movements: 400,
  tie_keeps_power_moves: true,
  sun_wild_steals: "held",
  earth_wild_steals: "played",
  core_loser_to_alpha_gains_wild: true,
  tribute_returned_on_win: false,
};

/** The names of the rulings. */
export const RULINGS = Object.keys(GOD_V1) as (keyof Rulings)[];
