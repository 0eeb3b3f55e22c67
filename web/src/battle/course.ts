/** What the stream's events add up to: where the match stands, who has locked in, what was told. */

import { START } from "../engine/play";
import type { Seat } from "../engine/state";
import type { LiveEvent, LiveState, Stage } from "./live";

type Of<Type extends LiveEvent["type"]> = Extract<LiveEvent, { type: Type }>;

/** An event that is told in the log, with the state before it. */
export interface Told {
  readonly event: Exclude<LiveEvent, Of<"locked"> | Of<"clock">>;
  readonly before: LiveState;
}

export interface Course {
  readonly hasStarted: boolean;
  readonly state: LiveState;
  /** The commitments of the running movement. */
  readonly locks: Readonly<Partial<Record<Seat, string>>>;
  readonly stage: Stage;
  /** When the running stage ends, by the server's clock; null if nothing runs. */
  readonly deadline: string | null;
  readonly last: Of<"movement"> | null;
  readonly end: Of<"ended"> | null;
  /** In the order in which it happened. */
  readonly told: readonly Told[];
}

const OPENING: LiveState = {
  round: START.round,
  phase: START.phase,
  movement: START.movement,
  in_phase: START.in_phase,
  cycle: START.cycle,
  sudden_death: START.sudden_death,
  outcome: START.outcome,
  apes: { a: START.a, b: START.b },
};

/** Before anything has been told. */
export const UNTOLD: Course = {
  hasStarted: false,
  state: OPENING,
  locks: {},
  stage: "lock",
  deadline: null,
  last: null,
  end: null,
  told: [],
};

/** The course after one more event. */
export function advanced(course: Course, event: LiveEvent): Course {
  switch (event.type) {
    case "locked":
      return { ...course, locks: { ...course.locks, [event.ape]: event.commitment } };
    case "clock":
      return { ...course, stage: event.stage, deadline: event.deadline };
    case "ended":
      return { ...told(course, event), end: event, deadline: null };
    case "void":
      return told(course, event);
    case "movement":
      return { ...told(course, event), state: event.state, last: event, locks: {}, stage: "lock" };
    default:
      return { ...told(course, event), state: event.state, hasStarted: true };
  }
}

function told(course: Course, event: Told["event"]): Course {
  return { ...course, told: [...course.told, { event, before: course.state }] };
}
