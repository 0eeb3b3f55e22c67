/** Each check of a transcript, and how it went. */

import { text } from "../text";
import { CHECKS, type Check, Fault } from "../verify/fault";
import type { Proof } from "./proof";

const words = text.replay.verify;

type Answer = "passed" | "failed" | "unknown";
const SIGNS: Record<Answer, string> = { passed: "✓", failed: "✗", unknown: "–" };

export function Checks({ found }: Pick<Proof, "found">) {
  const isOff = found instanceof Fault;
  return (
    <div class={`checks ${isOff ? "off" : "ok"}`}>
      <p role="status">
        <strong>{isOff ? words.off : words.ok}</strong>
        <span>
          {isOff ? reasonOf(found) : words.sums(found.events, found.movements, found.draws)}
        </span>
      </p>
      <ul>
        {CHECKS.map((check) => {
          const answer = answerOf(check, found);
          return (
            <li key={check} class={answer}>
              <span class="sign" aria-hidden="true">
                {SIGNS[answer]}
              </span>
              {words.checks[check]}
              <span class="answer">{words[answer]}</span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function reasonOf(fault: Fault): string {
  return words.first(fault.where, text.replay.faults[fault.code](fault.details));
}

/** The walk goes event by event, so that one fault leaves all checks but the shape's undone. */
function answerOf(check: Check, found: Proof["found"]): Answer {
  if (!(found instanceof Fault)) return "passed";
  if (found.check === check) return "failed";
  return check === "shape" ? "passed" : "unknown";
}
