/** What the ring shows at one moment, of a match that is fought and of one that is replayed. */

import type { Mood } from "../art/ape";
import { type Choice, otherSeat, type Seat } from "../engine/state";
import type { Course } from "./course";
import type { Names } from "./words";

export interface Scene {
  readonly course: Course;
  readonly names: Names;
  readonly addresses: Readonly<Partial<Record<Seat, string>>>;
  /** The seat whose eyes one sees with; null for a spectator. */
  readonly you: Seat | null;
  /** What was locked in from this browser for the running movement. */
  readonly own: Choice | null;
  /** Whether the choices of the last movement lie open on the table. */
  readonly isOpen: boolean;
}

/** The seats from left to right: one's own first. */
export function seatsOf({ you }: Scene): [near: Seat, far: Seat] {
  const near = you ?? "a";
  return [near, otherSeat(near)];
}

/** Whether an ape has locked in a choice for the running movement. */
export function isLocked({ course, you, own }: Scene, seat: Seat): boolean {
  return course.locks[seat] !== undefined || (seat === you && own !== null);
}

/** The face that an ape makes. */
export function moodOf(scene: Scene, seat: Seat): Mood {
  const { end, last, state } = scene.course;
  if (end !== null) {
    if (end.winner === null) return "idle";
    return end.winner === seat ? "winner" : "hit";
  }
  if (scene.isOpen && last !== null) {
    const { outcome } = last.state;
    if (last[seat] === null) return "asleep";
    if (outcome === seat) return "winner";
    return outcome === otherSeat(seat) ? "hit" : "idle";
  }
  if (isLocked(scene, seat)) return "locked";
  return state.apes[seat].misses > 0 ? "asleep" : "idle";
}
