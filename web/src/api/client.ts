/** The API, with a session: types of docs/api/openapi.yaml, CSRF, idempotency, problems. */
import { text } from "../text";
import type { components, paths } from "./schema";

export type Schema = components["schemas"];
type Problem = Schema["Problem"];
type Method = "get" | "post";
type PathsWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never;
}[keyof paths];
type Json<R> = R extends { content: { "application/json": infer Body } } ? Body : undefined;
type Answer<P extends keyof paths, M extends Method> =
  paths[P] extends Record<M, { responses: infer R }>
    ? 200 extends keyof R
      ? Json<R[200]>
      : 201 extends keyof R
        ? Json<R[201]>
        : undefined
    : never;
type Body<P extends keyof paths> = paths[P] extends {
  post: { requestBody?: { content: { "application/json": infer B } } };
}
  ? B
  : undefined;
type Short<P> = P extends `/api/v1/${infer Rest}` ? Rest : never;
type Long<S extends string> = `/api/v1/${S}`;

type Options = {
  /** Values of the path's {names}. */
  params?: Record<string, string | number>;
  query?: Record<string, string | number | boolean | undefined>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

/** An error whose message is a sentence for the player. */
export class Told extends Error {}

/** A refusal or a failure, in a sentence for the player; `code` is for the program. */
export class ApiError extends Told {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly problem: Problem | null = null,
  ) {
    super(message);
  }

  /** Whether the request never reached the server, or its answer never came back. */
  get isOffline(): boolean {
    return this.status === 0;
  }
}

/** GET a path below /api/v1/, e.g. `get("matches/{match_id}", { params: { match_id } })`. */
export function get<S extends Short<PathsWith<"get">>>(
  path: S,
  options: Options = {},
): Promise<Answer<Long<S> & keyof paths, "get">> {
  return send("GET", path, undefined, options);
}

/**
 * POST to a path below /api/v1/. Each call has an `Idempotency-Key` of its own; whoever repeats a
 * call whose answer was lost passes the key of the first in `headers`.
 */
export function post<S extends Short<PathsWith<"post">>>(
  path: S,
  body?: Body<Long<S> & keyof paths>,
  options: Options = {},
): Promise<Answer<Long<S> & keyof paths, "post">> {
  return send("POST", path, body ?? {}, options);
}

/** GET a list's page by its `next` link. */
export async function getPage<T>(link: string): Promise<T> {
  const url = new URL(link);
  return send("GET", url.pathname.replace("/api/v1/", "") + url.search, undefined, {});
}

/** How far the server's clock is ahead of this one. */
let serverAheadMs = 0;
/** A Date header tells whole seconds; below this, the two clocks can't be told apart. */
const CLOCK_TOLERANCE_MS = 1_000;

/** The server's time in milliseconds, by the latest answer's Date: deadlines are by its clock. */
export function serverNow(): number {
  return Date.now() + serverAheadMs;
}

function setClock(response: Response): void {
  const told = Date.parse(response.headers.get("Date") ?? "");
  if (Number.isNaN(told)) return;
  const ahead = told + CLOCK_TOLERANCE_MS / 2 - Date.now();
  serverAheadMs = Math.abs(ahead) < CLOCK_TOLERANCE_MS ? 0 : ahead;
}

async function send<T>(method: string, path: string, body: unknown, options: Options): Promise<T> {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(String(options.params?.[name])),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options.query ?? {}))
    if (value !== undefined) query.set(name, String(value));
  const headers: Record<string, string> = { Accept: "application/json", ...options.headers };
  const request: RequestInit = { method, headers, credentials: "same-origin" };
  if (options.signal) request.signal = options.signal;
  if (method === "POST") {
    headers["Content-Type"] = "application/json";
    headers["X-CSRFToken"] = csrfToken();
    headers["Idempotency-Key"] ??= crypto.randomUUID();
    request.body = JSON.stringify(body);
  }
  let response: Response;
  try {
    response = await fetch(`/api/v1/${filled}${query.size ? `?${query}` : ""}`, request);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(0, "offline", text.errors.offline);
  }
  setClock(response);
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as T;
  throw await problem(response);
}

async function problem(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => null)) as Problem | null;
  const code = body?.code ?? "unknown";
  const said = text.errors.byCode[code] ?? body?.errors?.[0]?.detail ?? body?.detail;
  return new ApiError(response.status, code, said ?? text.errors.unknown, body);
}

/** The token that Django wants to see in a header of every write. */
export function csrfToken(): string {
  return /(?:^|; )csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? "";
}

/** The sentence to show for anything that was thrown. */
export function sentence(error: unknown): string {
  return error instanceof Told ? error.message : text.errors.unknown;
}
