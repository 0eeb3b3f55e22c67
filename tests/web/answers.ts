/**
 * Answers questions about the rules, one JSON line for each line of standard input, so that
 * Python's engine can be compared with the browser's (tests/web/test_engine.py).
 */

import { createInterface } from "node:readline";
import { drink, legalChoices, resign, resolve, START } from "../../web/src/engine/play";
import type { Rulings } from "../../web/src/engine/ruleset";
import { type Choice, IllegalEvent, type Influence, SEATS, type Seat, type State } from "../../web/src/engine/state";
import { Fault } from "../../web/src/verify/fault";
import { parseStrictly } from "../../web/src/verify/json";
import { verify } from "../../web/src/verify/verify";

type Event =
  | { type: "movement"; a: Choice | null; b: Choice | null }
  | { type: "potion" | "resign"; ape: Seat };

interface Replay {
  rulings: Rulings;
  influences: Influence[];
  events: Event[];
}

function replayed({ rulings, influences, events }: Replay) {
  const draws = [...influences];
  const lines = [{ state: START, choices: SEATS.map((seat) => legalChoices(START, seat)) }];
  let state: State = START;
  for (const event of events) {
    try {
      state = after(state, event, () => draws.shift() as Influence, rulings);
    } catch (error) {
      if (!(error instanceof IllegalEvent)) throw error;
      return { lines, refused: error.code };
    }
    const position = state;
    lines.push({ state, choices: SEATS.map((seat) => legalChoices(position, seat)) });
  }
  return { lines, refused: null };
}

function after(state: State, event: Event, draw: () => Influence, rulings: Rulings): State {
  switch (event.type) {
    case "movement":
      return resolve(state, event.a, event.b, draw, rulings);
    case "potion":
      return drink(state, event.ape);
    case "resign":
      return resign(state, event.ape);
  }
}

async function verified(text: string) {
  try {
    return await verify(parseStrictly(text));
  } catch (error) {
    if (error instanceof Fault) return { fault: error.where, code: error.code };
    if (error instanceof SyntaxError) return { fault: "not JSON" };
    throw error;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line) as { replay: Replay } | { verify: string };
  const answer = "replay" in question ? replayed(question.replay) : await verified(question.verify);
  console.log(JSON.stringify(answer));
}
