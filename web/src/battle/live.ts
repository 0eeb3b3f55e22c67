/** A match's stream of events (docs/live.md), followed for as long as there is something to tell. */

import type { Ape, Choice, Outcome, Phase, Seat } from "../engine/state";

/** Where a match stands after an event. */
export interface LiveState {
  readonly round: number;
  readonly phase: Phase;
  readonly movement: number;
  readonly in_phase: number;
  readonly cycle: number;
  readonly sudden_death: boolean;
  readonly outcome: Outcome | null;
  readonly apes: Readonly<Record<Seat, Ape>>;
}

export type Stage = "lock" | "reveal";

interface Numbered {
  readonly n: number;
  readonly at: string;
}

/** What the stream tells, `type` being the name of the message. */
export type LiveEvent =
  | (Numbered & { readonly type: "start"; readonly state: LiveState })
  | (Numbered & {
      readonly type: "locked";
      readonly ape: Seat;
      readonly movement: number;
      readonly commitment: string;
    })
  | (Numbered & {
      readonly type: "movement";
      readonly movement: number;
      readonly a: Choice | null;
      readonly b: Choice | null;
      readonly state: LiveState;
    })
  | (Numbered & {
      readonly type: "potion" | "resign";
      readonly ape: Seat;
      readonly state: LiveState;
    })
  | (Numbered & { readonly type: "void"; readonly reason: string })
  | (Numbered & {
      readonly type: "ended";
      readonly status: "won" | "draw" | "abandoned" | "cancelled";
      readonly winner: Seat | null;
      readonly ended_by: string | null;
    })
  | {
      readonly type: "clock";
      readonly movement: number;
      readonly stage: Stage;
      readonly deadline: string;
    };

const TYPES = ["start", "locked", "movement", "potion", "resign", "void", "ended", "clock"];

export type Connection = "connecting" | "live" | "lost" | "over";

interface Listener {
  readonly onEvent: (event: LiveEvent) => void;
  readonly onConnection: (connection: Connection) => void;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;

/**
 * Follow a match until its end. A cut is mended by the browser, which sends `Last-Event-ID`; where
 * it gives up (the server refused), a new stream goes on after the last event, after a pause.
 */
export class LiveStream {
  private source: EventSource | null = null;
  private last = -1;
  private pause = FIRST_PAUSE_MS;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly match: string,
    private readonly listener: Listener,
  ) {}

  /** Connect, or connect anew: the events that were missed come first. */
  open(): void {
    this.shut();
    const after = this.last < 0 ? "" : `?after=${this.last}`;
    this.source = new EventSource(`/api/v1/matches/${this.match}/events${after}`);
    this.source.onopen = () => {
      this.pause = FIRST_PAUSE_MS;
      this.listener.onConnection("live");
    };
    this.source.onerror = () => this.onError();
    for (const type of TYPES) {
      this.source.addEventListener(type, (message) => this.onMessage(type, message));
    }
  }

  /** Stop for good. */
  close(): void {
    this.shut();
    this.listener.onConnection("over");
  }

  private shut(): void {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  private onError(): void {
    this.listener.onConnection("lost");
    if (this.source?.readyState !== EventSource.CLOSED) return;
    this.timer = setTimeout(() => this.open(), this.pause);
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE_MS);
  }

  private onMessage(type: string, message: MessageEvent<string>): void {
    const event = { type, ...JSON.parse(message.data) } as LiveEvent;
    if (event.type !== "clock") {
      if (event.n <= this.last) return;
      this.last = event.n;
    }
    this.listener.onEvent(event);
    if (event.type === "ended") this.close();
  }
}
