/** What happened and what would happen, in plain words of the catalogue. */

import type { Rulings } from "../engine/ruleset";
import {
  type Ape,
  type Choice,
  type Move,
  otherSeat,
  type Phase,
  SEATS,
  type Seat,
} from "../engine/state";
import { BEATS, type Effect, effectOf, NO_EFFECT } from "../engine/tables";
import { text } from "../text";
import type { Told } from "./course";
import type { LiveState } from "./live";

/** What an ape is called in this match. */
export type Names = Readonly<Record<Seat, string>>;

const COUNTS = ["health", "alphas", "wilds", "potions"] as const;
const words = text.battle;

/** The effect of a win in a few words, e.g. "2 damage, steals 1 alpha"; what the loser gains apart. */
export function effectInWords(effect: Effect, won: Move): string {
  const names = Object.keys(NO_EFFECT) as (keyof Effect)[];
  const told = names
    .filter((name) => effect[name] > 0 && name !== "loser_wilds")
    .map((name) => {
      // A power move that is "gained" when it is played is one that is kept.
      if (name === "alphas" && won === "wild") return words.effect.takesAlpha;
      if (name === "wilds" && won === "wild") return words.effect.keepsWild;
      if (name === "alphas" && won === "alpha") return words.effect.keepsAlpha;
      return words.effect[name](effect[name]);
    });
  return told.join(", ") || words.effect.none;
}

/** What a move would do under an influence if it won against what it beats there. */
export function forecast(
  phase: Phase,
  move: Move,
  rulings: Rulings,
): { beats: Move[]; effect: string } {
  const beats = BEATS[move].filter((other) => phase !== "opening" || other !== "wild");
  const [first] = beats;
  const effect = first === undefined ? NO_EFFECT : effectOf(phase, move, first, rulings);
  return { beats, effect: effectInWords(effect, move) };
}

/** A choice in words: "Rock with a tribute of 2 wilds"; null is a missed movement. */
export function choiceInWords(choice: Choice | null): string {
  if (choice === null) return words.missed;
  return words.lockInMove(words.moves[choice.move], tributeInWords(choice));
}

function tributeInWords({ tribute }: Choice): string {
  return tribute === null ? "" : words.tribute.with[tribute];
}

/** A line of the log. */
export function toldInWords({ event, before }: Told, names: Names, you: Seat | null): string {
  const who = (seat: Seat) => ({ name: names[seat], isYou: seat === you });
  switch (event.type) {
    case "start":
      return words.log.start;
    case "potion":
      return words.log.potion(who(event.ape));
    case "resign":
      return words.log.resigned(who(event.ape));
    case "void":
      return words.log.voided(event.reason);
    case "ended":
      if (event.winner !== null) return words.log.ended(who(event.winner));
      return event.status === "won" ? "" : words.log.noWinner[event.status];
    case "movement": {
      const played = SEATS.map((seat) => {
        const choice = event[seat];
        if (choice === null) return words.log.missed(who(seat));
        return words.log.played(who(seat), words.moves[choice.move], tributeInWords(choice));
      });
      const after = event.state;
      const parts = [`${played.join(", ")}. ${resultInWords(event, before, names, you)}`];
      const winner = SEATS.find((seat) => after.apes[seat].rounds > before.apes[seat].rounds);
      if (winner !== undefined) {
        const loser = otherSeat(winner);
        parts.push(
          words.log.roundWon(who(winner), after.apes[winner].rounds, after.apes[loser].rounds),
        );
      }
      if (after.sudden_death && !before.sudden_death) parts.push(words.log.suddenDeath);
      if (after.in_phase === 1 && after.movement > before.movement && after.phase !== "opening") {
        parts.push(words.log.influence[after.phase]);
      }
      return parts.join(" ");
    }
  }
}

/** Who won a movement and what it changed: "You win: Gorilla −2 health, +1 wild." */
export function resultInWords(
  event: Extract<Told["event"], { type: "movement" }>,
  before: LiveState,
  names: Names,
  you: Seat | null,
): string {
  const { outcome } = event.state;
  const changes = SEATS.map((seat) => {
    const told = changesInWords(before, event.state, seat);
    return told && words.log.change({ name: names[seat], isYou: seat === you }, told);
  }).filter(Boolean);
  let head: string = words.log.tie;
  if (event.a === null && event.b === null) head = words.log.void;
  else if (outcome === "a" || outcome === "b") {
    head = words.log.win({ name: names[outcome], isYou: outcome === you });
  }
  return changes.length > 0 ? `${head}: ${changes.join("; ")}.` : `${head}.`;
}

function changesInWords(before: LiveState, after: LiveState, seat: Seat): string {
  const [old, now]: [Ape, Ape] = [before.apes[seat], after.apes[seat]];
  // At a round's end health is already that of the next one.
  const isSameRound = before.round === after.round;
  return COUNTS.filter((count) => now[count] !== old[count] && (count !== "health" || isSameRound))
    .map((count) => words.log.counts[count](now[count] - old[count]))
    .join(", ");
}
