/** The shape of a transcript: what a document from outside must look like before it is believed. */

import { RULINGS, type Rulings } from "../engine/ruleset";
import { type Choice, MOVES, SEATS, type Seat, TRIBUTES } from "../engine/state";
import { Fault, shown } from "./fault";
import { isObject } from "./json";

export interface Header {
  readonly match: string;
  readonly ruleset: string;
  readonly rulings: Rulings & { readonly name: string };
  readonly stake: string;
  readonly fee_bps: number;
  readonly secret_hash: string;
  readonly a: string;
  readonly b: string;
}

export interface ShownChoice extends Choice {
  readonly salt: string;
}

/** Everything that can happen in a match, each with its hash in the chain. */
export type ChainEvent = { readonly hash: string } & (
  | ({ readonly type: "start" } & Header)
  | {
      readonly type: "locked";
      readonly ape: Seat;
      readonly movement: number;
      readonly commitment: string;
    }
  | {
      readonly type: "movement";
      readonly movement: number;
      readonly a: ShownChoice | null;
      readonly b: ShownChoice | null;
    }
  | { readonly type: "potion" | "resign"; readonly ape: Seat }
  | { readonly type: "void"; readonly reason: string }
);

export type EventType = ChainEvent["type"];

export interface Transcript {
  readonly header: Header;
  readonly server_secret: string;
  readonly events: readonly ChainEvent[];
  readonly chain_hash: string;
  readonly final: unknown;
  readonly result: unknown;
}

export const HEADER = [
  "match",
  "ruleset",
  "rulings",
  "stake",
  "fee_bps",
  "secret_hash",
  "a",
  "b",
] as const;
const DOCUMENT = ["format", "header", "server_secret", "events", "chain_hash", "final", "result"];
const EVENTS: Record<EventType, readonly string[]> = {
  start: HEADER,
  locked: ["ape", "movement", "commitment"],
  movement: ["movement", "a", "b"],
  potion: ["ape"],
  resign: ["ape"],
  void: ["reason"],
};

const FORMAT = /^bas-transcript-1$/;
const HEX_32 = /^[0-9a-f]{64}$/;
const AMOUNT = /^(0|[1-9][0-9]{0,77})$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const NAME = /^[ -~]{1,32}$/;
const SEAT = /^[ab]$/;
const REASON = /^[^\ud800-\udfff]*$/u;
const START = {
  match: UUID,
  ruleset: NAME,
  stake: AMOUNT,
  secret_hash: HEX_32,
  a: ADDRESS,
  b: ADDRESS,
};

const MAX_BASIS_POINTS = 10_000;
const MAX_COUNT = 1_000_000;

/**
 * The document as a transcript, if it has the shape of one. Header, secret and the claims at the
 * end are looked at when their turn comes. Throws Fault.
 */
export function transcriptOf(document: unknown): Transcript {
  const transcript = objectWith(document, "", DOCUMENT);
  text(transcript.format, "format", FORMAT);
  objectWith(transcript.header, "header", HEADER);
  const events = transcript.events;
  if (!Array.isArray(events) || events.length === 0) throw new Fault("events", "not_a_list");
  for (const [index, event] of events.entries()) checkEvent(event, `events[${index}]`);
  return transcript as unknown as Transcript;
}

/** The server's secret, which must be 32 bytes in hex. Throws Fault. */
export function secretOf(transcript: Transcript): string {
  return text(transcript.server_secret, "server_secret", HEX_32);
}

/** The rulings of a header whose fields have been found to be those of the start. Throws Fault. */
export function rulingsOf(header: Header): Rulings {
  const rulings = objectWith(header.rulings, "header.rulings", [
    "name",
    ...RULINGS,
  ]) as unknown as Header["rulings"];
  if (rulings.name !== header.ruleset) throw new Fault("header.rulings.name", "not_the_ruleset");
  for (const ruling of RULINGS) {
    if (!RULING_VALUES[ruling](rulings[ruling]))
      throw new Fault("header.rulings", "bad_ruling", { ruling });
  }
  return rulings;
}

const isCount = (value: unknown) =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= MAX_COUNT;
const isFlag = (value: unknown) => typeof value === "boolean";
const isSteals = (value: unknown) => value === "held" || value === "played";

const RULING_VALUES: Record<keyof Rulings, (value: unknown) => boolean> = {
  movements_per_phase: isCount,
  winner_refills: isFlag,
  cycles_per_round: isCount,
  max_movements: isCount,
  tie_keeps_power_moves: isFlag,
  sun_wild_steals: isSteals,
  earth_wild_steals: isSteals,
  core_loser_to_alpha_gains_wild: isFlag,
  tribute_returned_on_win: isFlag,
};

function checkEvent(value: unknown, where: string): void {
  if (!isObject(value) || typeof value.type !== "string") throw new Fault(where, "not_an_event");
  const type = value.type;
  if (!isEventType(type)) throw new Fault(`${where}.type`, "unknown_type", { is: shown(type) });
  const event = objectWith(value, where, ["type", "hash", ...EVENTS[type]]);
  text(event.hash, `${where}.hash`, HEX_32);
  if (type === "start") {
    checkStart(event, where);
    return;
  }
  if ("ape" in event) text(event.ape, `${where}.ape`, SEAT);
  if ("commitment" in event) text(event.commitment, `${where}.commitment`, HEX_32);
  if ("reason" in event) text(event.reason, `${where}.reason`, REASON);
  if ("movement" in event) whole(event.movement, `${where}.movement`);
  if (type === "movement") {
    for (const seat of SEATS) checkChoice(event[seat], `${where}.${seat}`);
  }
}

function isEventType(type: string): type is EventType {
  return Object.hasOwn(EVENTS, type);
}

function checkStart(event: Record<string, unknown>, where: string): void {
  for (const [field, form] of Object.entries(START)) text(event[field], `${where}.${field}`, form);
  const feeBps = whole(event.fee_bps, `${where}.fee_bps`);
  if (feeBps < 0 || feeBps > MAX_BASIS_POINTS)
    throw new Fault(`${where}.fee_bps`, "fee_out_of_range");
  const rulings = objectWith(event.rulings, `${where}.rulings`, ["name", ...RULINGS]);
  for (const [ruling, value] of Object.entries(rulings)) {
    if (typeof value !== "boolean" && !Number.isInteger(value))
      text(value, `${where}.rulings.${ruling}`, NAME);
  }
}

function checkChoice(value: unknown, where: string): void {
  if (value === null) return;
  const choice = objectWith(value, where, ["move", "tribute", "salt"]);
  const { move, tribute } = choice;
  if (!MOVES.some((known) => known === move)) {
    throw new Fault(`${where}.move`, "unknown_move", { is: shown(move) });
  }
  if (tribute !== null && !TRIBUTES.some((known) => known === tribute)) {
    throw new Fault(`${where}.tribute`, "unknown_tribute", { is: shown(tribute) });
  }
  text(choice.salt, `${where}.salt`, HEX_32);
}

/** The value, if it is an object with exactly these keys. Throws Fault. */
export function objectWith(
  value: unknown,
  where: string,
  keys: readonly string[],
): Record<string, unknown> {
  if (!isObject(value)) throw new Fault(where, "not_an_object");
  const missing = keys.find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) throw new Fault(where, "key_missing", { key: missing });
  const extra = Object.keys(value).find((key) => !keys.includes(key));
  if (extra !== undefined) throw new Fault(where, "key_unknown", { key: shown(extra) });
  return value;
}

function text(value: unknown, where: string, form: RegExp): string {
  if (typeof value !== "string") throw new Fault(where, "not_text");
  if (!form.test(value)) throw new Fault(where, "bad_form", { is: shown(value) });
  return value;
}

function whole(value: unknown, where: string): number {
  if (typeof value !== "number" || !Number.isInteger(value)) throw new Fault(where, "not_whole");
  return value;
}
