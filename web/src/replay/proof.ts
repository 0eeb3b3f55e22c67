/** What the verifier found, in a form to be shown. */

import type { Course } from "../battle/course";
import { Fault } from "../verify/fault";
import type { Header } from "../verify/transcript";
import { type Step, type Verified, verify } from "../verify/verify";
import { framesOf } from "./frames";

export interface Proof {
  /** What was proved, or the first thing that is off. */
  readonly found: Verified | Fault;
  /** The terms and the players, as far as they were found to be true. */
  readonly header: Header | null;
  /** Each moment of the match, up to the first thing that is off. */
  readonly frames: readonly Course[];
}

/** Verify a transcript, and keep what was found on the way. */
export async function prove(document: unknown): Promise<Proof> {
  const steps: Step[] = [];
  let found: Verified | Fault;
  try {
    found = await verify(document, (step) => steps.push(step));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    found = error;
  }
  const start = steps[0]?.event;
  return { found, header: start?.type === "start" ? start : null, frames: framesOf(steps) };
}
