/** JSON that cannot be read in two ways. */

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;
const WHOLE_NUMBER = /^-?\d+$/;

/**
 * Parse JSON, refusing what JSON.parse lets pass: a key that stands twice in one object, of which
 * readers differ on which one counts, and a number that is not whole or not exact.
 *
 * Throws SyntaxError.
 */
export function parseStrictly(text: string): unknown {
  const value: unknown = JSON.parse(text); // from here on the text is known to be JSON
  const objects: (Set<string> | null)[] = []; // the keys of each open object; null is a list
  let last = "";
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === "{") objects.push(new Set());
    else if (token === "[") objects.push(null);
    else if (token === "}" || token === "]") objects.pop();
    else if (token === ":") refuseRepeated(objects.at(-1), last);
    else if (/^[-\d]/.test(token)) refuseInexact(token);
    last = token;
  }
  return value;
}

/** Whether this is a JSON object: neither null, nor a list, nor a plain value. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuseRepeated(keys: Set<string> | null | undefined, token: string): void {
  const key = JSON.parse(token) as string; // one key can be spelled with and without escapes
  if (keys?.has(key)) throw new SyntaxError("a key stands twice in one object");
  keys?.add(key);
}

function refuseInexact(token: string): void {
  if (!WHOLE_NUMBER.test(token) || !Number.isSafeInteger(Number(token))) {
    throw new SyntaxError(`${token} is not a whole number that can be read exactly`);
  }
}
