/** The first thing in a transcript that is off. */

/** What the checks of a transcript are called, in the order in which they are shown. */
export const CHECKS = ["shape", "secret", "chain", "commitments", "rules", "result"] as const;
export type Check = (typeof CHECKS)[number];

/** Every fault, and the check that finds it. */
const FAULTS = {
  not_an_object: "shape",
  key_missing: "shape",
  key_unknown: "shape",
  not_a_list: "shape",
  not_an_event: "shape",
  unknown_type: "shape",
  unknown_move: "shape",
  unknown_tribute: "shape",
  not_text: "shape",
  bad_form: "shape",
  not_whole: "shape",
  fee_out_of_range: "shape",
  not_the_ruleset: "shape",
  bad_ruling: "shape",
  no_start: "shape",
  second_start: "shape",
  header_differs: "shape",
  wrong_secret: "secret",
  event_changed: "chain",
  chain_broken: "chain",
  wrong_movement: "rules",
  lock_closed: "commitments",
  not_locked: "commitments",
  not_what_was_locked: "commitments",
  illegal: "rules",
  was_over: "rules",
  goes_on: "rules",
  differs: "result",
} satisfies Record<string, Check>;

export type FaultCode = keyof typeof FAULTS;

/** Where it stands (a path into the document; empty for all of it), what it is, and the details. */
export class Fault extends Error {
  readonly check: Check;

  constructor(
    readonly where: string,
    readonly code: FaultCode,
    readonly details: Readonly<Record<string, string>> = {},
  ) {
    super(`${where}: ${code}`);
    this.check = FAULTS[code];
  }
}

/** A value from outside on one line, in ASCII, cut to a readable length. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return text.length <= 40 ? text : `${text.slice(0, 37)}...`;
}
