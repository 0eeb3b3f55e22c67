/**
 * What this browser has locked in and not yet revealed. It is kept through reloads: without its
 * salt a choice can't be revealed, and the movement would be lost.
 */

import { type Choice, MOVES, type Seat, TRIBUTES } from "../engine/state";
import { commitment, newSalt } from "../verify/chance";

export interface Lock {
  readonly movement: number;
  readonly choice: Choice;
  readonly salt: string;
  readonly commitment: string;
}

/** Commit to a choice, and keep it before anybody is told: the answer may be lost on the way. */
export async function makeLock(
  match: string,
  seat: Seat,
  movement: number,
  choice: Choice,
): Promise<Lock> {
  const salt = newSalt();
  const lock = {
    movement,
    choice,
    salt,
    commitment: await commitment(match, movement, seat, choice, salt),
  };
  const others = locksOf(match).filter((other) => other.movement === movement);
  localStorage.setItem(key(match), JSON.stringify([...others, lock]));
  return lock;
}

/** The lock that was made here for this commitment, if it was. */
export function lockFor(match: string, committed: string): Lock | undefined {
  return locksOf(match).find((lock) => lock.commitment === committed);
}

/** Forget what was locked in before this movement: it has been shown, or it counts no more. */
export function forgetLocksBefore(match: string, movement: number): void {
  const kept = locksOf(match).filter((lock) => lock.movement >= movement);
  if (kept.length === 0) localStorage.removeItem(key(match));
  else localStorage.setItem(key(match), JSON.stringify(kept));
}

function key(match: string): string {
  return `bas:locks:${match}`;
}

function locksOf(match: string): Lock[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key(match)) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isLock) : [];
  } catch {
    return []; // somebody else wrote there; nothing of it can be revealed
  }
}

function isLock(value: Lock | null): value is Lock {
  return (
    typeof value?.movement === "number" &&
    typeof value.salt === "string" &&
    MOVES.includes(value.choice?.move) &&
    [null, ...TRIBUTES].includes(value.choice.tribute)
  );
}
