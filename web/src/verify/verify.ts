/**
 * Verify a match's transcript: that nobody, the server included, has bent it (rules, section 6).
 *
 * Nothing of it is asked of the server: it runs in the reader's browser, and answers as the
 * command `python -m engine verify` does.
 */

import { type Draw, drink, resign, resolve, START } from "../engine/play";
import type { Rulings } from "../engine/ruleset";
import {
  type Choice,
  IllegalEvent,
  MISSES_TO_LOSE,
  MOVES,
  SEATS,
  type Seat,
  type State,
  TRIBUTES,
} from "../engine/state";
import { canonical, commitment, drawFrom, extended, secretHash } from "./chance";
import { Fault, shown } from "./fault";
import { isObject } from "./json";
import {
  type ChainEvent,
  HEADER,
  type Header,
  objectWith,
  rulingsOf,
  type ShownChoice,
  secretOf,
  type Transcript,
  transcriptOf,
} from "./transcript";

/** How a match ended, and what each ape got, in credits. */
export interface Result {
  readonly status: State["status"] | "cancelled";
  readonly winner: Seat | null;
  readonly ended_by: "rounds" | "missed" | "resigned" | "movements" | "voided";
  readonly pot: string;
  readonly fee: string;
  readonly payouts: Readonly<Record<Seat, string>>;
}

/** An event that has been found to be true, and the state that it led to. */
export interface Step {
  readonly event: ChainEvent;
  readonly state: State;
}

/** What a transcript proves. */
export interface Verified {
  readonly events: number;
  readonly movements: number;
  readonly draws: number;
  readonly result: Result;
}

/**
 * What the transcript proves. `onStep` is told each event once it has been found to be true, with
 * the state that it led to. Throws Fault for the first thing that is off.
 */
export async function verify(
  document: unknown,
  onStep: (step: Step) => void = () => undefined,
): Promise<Verified> {
  const verifier = new Verifier(transcriptOf(document));
  for await (const step of verifier.steps()) onStep(step);
  return verifier.proved();
}

type Of<Type extends ChainEvent["type"]> = Extract<ChainEvent, { type: Type }>;

/** One walk through a transcript, in the order in which it was written. */
class Verifier {
  private readonly header: Header;
  private readonly events: readonly ChainEvent[];
  private chain = "";
  private locked: Partial<Record<Seat, string>> = {};
  private draws = 0;

  constructor(private readonly transcript: Transcript) {
    this.header = transcript.header;
    this.events = transcript.events;
  }

  async *steps(): AsyncGenerator<Step> {
    const [first, ...rest] = this.events;
    if (first?.type !== "start") throw new Fault("events[0].type", "no_start");
    await this.extend(first, 0);
    for (const field of HEADER)
      same(`header.${field}`, this.header[field], first[field], "header_differs");
    const rulings = rulingsOf(this.header);
    const secret = secretOf(this.transcript);
    if ((await secretHash(secret)) !== this.header.secret_hash)
      throw new Fault("server_secret", "wrong_secret");

    let state = START;
    yield { event: first, state };
    let over = false;
    for (const [place, event] of rest.entries()) {
      const index = place + 1;
      if (over || state.status !== "running") throw new Fault(`events[${index}]`, "was_over");
      if (event.type === "locked") this.checkLock(event, index, state);
      if (event.type === "movement") await this.checkShown(event, index, state);
      await this.extend(event, index);
      over = event.type === "void";
      state = await this.applied(event, index, state, secret, rulings);
      yield { event, state };
    }
    this.checkEnd(state);
  }

  /** What has been proved once all steps have been walked. */
  proved(): Verified {
    return {
      events: this.events.length,
      movements: this.events.filter((event) => event.type === "movement").length,
      draws: this.draws,
      result: this.transcript.result as Result, // found to be the true one
    };
  }

  private checkLock(event: Of<"locked">, index: number, state: State): void {
    this.checkNumber(event, index, state);
    if (SEATS.every((seat) => seat in this.locked))
      throw new Fault(`events[${index}]`, "lock_closed");
  }

  private checkNumber(event: Of<"locked" | "movement">, index: number, state: State): void {
    if (event.movement === state.movement) return;
    throw new Fault(`events[${index}].movement`, "wrong_movement", {
      movement: String(state.movement),
    });
  }

  /** Check what the chain can't: choices against commitments. */
  private async checkShown(event: Of<"movement">, index: number, state: State): Promise<void> {
    this.checkNumber(event, index, state);
    for (const seat of SEATS) {
      const choice = event[seat];
      if (choice === null) continue;
      const where = `events[${index}].${seat}`;
      const locked = this.locked[seat];
      if (locked === undefined) throw new Fault(where, "not_locked");
      const field = await this.wrongIn(choice, seat, state, locked);
      if (field !== null) throw new Fault(`${where}.${field}`, "not_what_was_locked", { seat });
    }
  }

  /** The field of a revealed choice that does not fit its commitment, or null. */
  private async wrongIn(
    choice: ShownChoice,
    seat: Seat,
    state: State,
    locked: string,
  ): Promise<string | null> {
    const fits = async (other: Choice) =>
      (await commitment(this.header.match, state.movement, seat, other, choice.salt)) === locked;
    if (await fits(choice)) return null;
    for (const move of MOVES) {
      for (const tribute of [null, ...TRIBUTES]) {
        if (await fits({ move, tribute })) return move === choice.move ? "tribute" : "move";
      }
    }
    return "salt";
  }

  /** Extend the hash chain, and name what is off if it does not hold. */
  private async extend(event: ChainEvent, index: number): Promise<void> {
    const computed = await extended(this.chain, event);
    if (computed !== event.hash) {
      // What follows tells whether the event or its hash was changed.
      if (!(await this.follows(event.hash, index)))
        throw new Fault(`events[${index}].hash`, "chain_broken");
      throw new Fault(`events[${index}]${await this.changedIn(event)}`, "event_changed");
    }
    this.chain = computed;
  }

  private async follows(hash: string, index: number): Promise<boolean> {
    const next = this.events[index + 1];
    if (next === undefined) return hash === this.transcript.chain_hash;
    return (await extended(hash, next)) === next.hash;
  }

  /** The field of an event that must have been changed, as far as that can be told. */
  private async changedIn(event: ChainEvent): Promise<string> {
    switch (event.type) {
      case "start": {
        const field = HEADER.find(
          (name) => canonical(event[name]) !== canonical(this.header[name]),
        );
        return field === undefined ? "" : `.${field}`;
      }
      case "movement": {
        // What is shown has just been compared with what was locked in.
        const seat = SEATS.find((name) => event[name] === null);
        return seat === undefined ? "" : `.${seat}`;
      }
      case "locked":
        return (await this.fitsWithTheOtherApe(event)) ? ".ape" : ".commitment";
      case "void":
        return ".reason";
      default:
        return (await this.fitsWithTheOtherApe(event)) ? ".ape" : ".type";
    }
  }

  private async fitsWithTheOtherApe(event: ChainEvent & { ape: Seat }): Promise<boolean> {
    return (
      (await extended(this.chain, { ...event, ape: event.ape === "a" ? "b" : "a" })) === event.hash
    );
  }

  private async applied(
    event: ChainEvent,
    index: number,
    state: State,
    secret: string,
    rulings: Rulings,
  ): Promise<State> {
    try {
      switch (event.type) {
        case "start":
          throw new Fault(`events[${index}].type`, "second_start");
        case "locked":
          this.locked[event.ape] = event.commitment;
          return state;
        case "movement":
          this.locked = {};
          return resolve(state, event.a, event.b, await this.draw(secret), rulings);
        case "potion":
          return drink(state, event.ape);
        case "resign":
          return resign(state, event.ape);
        case "void":
          return state;
      }
    } catch (error) {
      if (!(error instanceof IllegalEvent)) throw error;
      throw new Fault(`events[${index}]`, "illegal", { code: error.code, seat: error.seat });
    }
  }

  private async draw(secret: string): Promise<Draw> {
    const draw = await drawFrom(secret, this.chain);
    return (left) => {
      this.draws += 1;
      return draw(left);
    };
  }

  private checkEnd(state: State): void {
    const last = this.events.at(-1)?.type ?? "start";
    if (state.status === "running" && last !== "void") {
      throw new Fault(`events[${this.events.length}]`, "goes_on");
    }
    same("chain_hash", this.transcript.chain_hash, this.chain, "differs");
    same("final", this.transcript.final, state, "differs");
    same("result", this.transcript.result, resultOf(state, this.header, last), "differs");
  }
}

/** How a match ended and who is owed what (rules, section 5, Money). */
function resultOf(state: State, header: Header, last: ChainEvent["type"]): Result {
  const stake = BigInt(header.stake);
  const pot = 2n * stake;
  const fee = state.winner === null ? 0n : (pot * BigInt(header.fee_bps)) / 10_000n;
  const payout = (seat: Seat) => {
    if (state.winner === null) return stake;
    return seat === state.winner ? pot - fee : 0n;
  };
  return {
    status: last === "void" ? "cancelled" : state.status,
    winner: state.winner,
    ended_by: endedBy(state, last),
    pot: String(pot),
    fee: String(fee),
    payouts: { a: String(payout("a")), b: String(payout("b")) },
  };
}

function endedBy(state: State, last: ChainEvent["type"]): Result["ended_by"] {
  if (last === "void") return "voided";
  if (last === "resign") return "resigned";
  if (SEATS.some((seat) => state[seat].misses === MISSES_TO_LOSE)) return "missed";
  return state.status === "draw" ? "movements" : "rounds";
}

/** Compare a claim with what it must be, down to the first leaf that differs. */
function same(
  where: string,
  claimed: unknown,
  truth: unknown,
  code: "differs" | "header_differs",
): void {
  if (isObject(truth)) {
    const object = objectWith(claimed, where, Object.keys(truth));
    for (const [key, value] of Object.entries(truth))
      same(`${where}.${key}`, object[key], value, code);
  } else if (Array.isArray(truth) && Array.isArray(claimed) && claimed.length === truth.length) {
    for (const [index, value] of truth.entries()) {
      same(`${where}[${index}]`, claimed[index], value, code);
    }
  } else if (claimed !== truth) {
    throw new Fault(where, code, { is: shown(claimed), must: shown(truth) });
  }
}
