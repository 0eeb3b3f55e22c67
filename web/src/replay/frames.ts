/** A transcript's verified steps as the moments of a replay. */

import { advanced, type Course, UNTOLD } from "../battle/course";
import type { LiveEvent } from "../battle/live";
import type { State } from "../engine/state";
import type { Step } from "../verify/verify";

/** The course of the match after each event that is told. */
export function framesOf(steps: readonly Step[]): Course[] {
  const frames: Course[] = [];
  let course = UNTOLD;
  steps.forEach((step, n) => {
    course = advanced(course, liveEvent(step, n));
    if (step.event.type !== "locked") frames.push(course);
  });
  const last = steps.at(-1);
  const isOver =
    last !== undefined && (last.state.status !== "running" || last.event.type === "void");
  if (isOver) frames.push(advanced(course, ended(last, steps.length)));
  return frames;
}

/** The event as the stream would have told it. */
function liveEvent({ event, state }: Step, n: number): LiveEvent {
  return { ...event, n, at: "", state: liveState(state) } as LiveEvent;
}

function liveState({ a, b, ...state }: State) {
  return { ...state, apes: { a, b } };
}

function ended({ event, state }: Step, n: number): LiveEvent {
  const status = state.status === "running" ? "cancelled" : state.status;
  const ended_by = event.type === "resign" ? "resigned" : null;
  return { type: "ended", n, at: "", status, winner: state.winner, ended_by };
}
