/** Chance that neither side can know or bend (rules, section 6), with the browser's own crypto. */

import type { Draw } from "../engine/play";
import type { Choice, Seat } from "../engine/state";
import { isObject } from "./json";

const SALT_BYTES = 32;

/** A new salt: 32 random bytes in lower-case hex. */
export function newSalt(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(SALT_BYTES)));
}

/** What is locked in: it binds match, movement and ape to the choice, and the salt hides it. */
export async function commitment(
  match: string,
  movement: number,
  seat: Seat,
  choice: Choice,
  salt: string,
): Promise<string> {
  const { move, tribute } = choice;
  return toHex(
    await sha256(utf8(`bas:${match}:${movement}:${seat}:${move}:${tribute ?? "none"}:${salt}`)),
  );
}

/** The hash chain after one more event, which is chained without its own hash (RFC 8785). */
export async function extended(chain: string, event: object): Promise<string> {
  const body = Object.fromEntries(Object.entries(event).filter(([key]) => key !== "hash"));
  return toHex(await sha256(joined(fromHex(chain), utf8(canonical(body)))));
}

/** What was published of the server's secret when the match was made. */
export async function secretHash(secret: string): Promise<string> {
  return toHex(await sha256(fromHex(secret)));
}

/** The draw of an influence that follows the event with this hash. */
export async function drawFrom(secret: string, chain: string): Promise<Draw> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", fromHex(secret), algorithm, false, ["sign"]);
  const digest = toHex(new Uint8Array(await crypto.subtle.sign("HMAC", key, fromHex(chain))));
  return (left) => {
    const place = Number(BigInt(`0x${digest}`) % BigInt(left.length));
    const drawn = left[place];
    if (drawn === undefined) throw new RangeError("no influence is left to draw");
    return drawn;
  };
}

/** JSON with sorted keys and no spaces: one text for one value. All keys are ASCII here. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

type Bytes = Uint8Array<ArrayBuffer>;

async function sha256(data: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", data));
}

function utf8(text: string): Bytes {
  return new TextEncoder().encode(text);
}

function joined(...parts: Bytes[]): Bytes {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function toHex(bytes: Bytes): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fromHex(hex: string): Bytes {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
