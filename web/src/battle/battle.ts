/** One match on screen: what is known of it, and what the player can do in it. */

import { batch, computed, effect, signal } from "@preact/signals";
import { ApiError, get, post, type Schema, sentence, serverNow } from "../api/client";
import { type Position, potionRefusal, refusal } from "../engine/play";
import type { Rulings } from "../engine/ruleset";
import type { Choice, Move, Seat, Tribute } from "../engine/state";
import { refreshCredits } from "../session";
import { advanced, type Course, UNTOLD } from "./course";
import { type Connection, type LiveEvent, LiveStream } from "./live";
import { forgetLocksBefore, type Lock, lockFor, makeLock } from "./locks";
import { play, type Sound } from "./sound";

export type Table = Schema["Table"];

/** The rulings of a match; the API's schema leaves their types open. */
export function rulingsOf(table: Table): Rulings {
  return table.rulings as unknown as Rulings;
}

/** How long the choices of a movement lie open on the table before the next ones cover them. */
const SHOW_MS = 2_600;
/** How long after a deadline the server is asked, in case that its message was lost. */
const OVERDUE_MS = 3_000;
const RETRY_MS = 1_000;
const REMATCH_POLL_MS = 3_000;

export class Battle {
  /** The match as the server last described it; null until then. */
  readonly table = signal<Table | null>(null);
  readonly course = signal<Course>(UNTOLD);
  readonly connection = signal<Connection>("connecting");
  /** Whether all that had happened before has been told, for the first time. */
  readonly isTold = signal(false);
  /** Why the match can't be shown at all. */
  readonly failure = signal<ApiError | null>(null);
  /** What was refused last, in a sentence. */
  readonly refused = signal("");

  readonly move = signal<Move | null>(null);
  readonly tribute = signal<Tribute | null>(null);
  /** What was locked in here for the running movement: at once, before the server has answered. */
  readonly ownLock = signal<Lock | null>(null);
  /** Whether the last movement's choices lie open on the table. */
  readonly isShowing = signal(false);
  readonly isBusy = signal(false);

  readonly you = computed<Seat | null>(() => this.table.value?.you ?? null);
  readonly isRunning = computed(
    () => this.course.value.hasStarted && this.course.value.end === null,
  );
  /** The choice that would be locked in now. */
  readonly choice = computed<Choice | null>(() =>
    this.move.value === null ? null : { move: this.move.value, tribute: this.tribute.value },
  );

  private readonly stream: LiveStream;
  private isCaughtUp = false;
  private revealing: Lock | null = null;
  private readonly cleanups: (() => void)[] = [];

  constructor(
    readonly id: string,
    private readonly invitation: string,
  ) {
    this.stream = new LiveStream(id, {
      onEvent: (event) => this.onEvent(event),
      onConnection: (connection) => this.onConnection(connection),
    });
  }

  /** Load the match and follow it. Returns what stops it. */
  start(): () => void {
    void this.load();
    const reopen = () => this.reopen();
    const lose = () => {
      if (this.connection.peek() !== "over") this.onConnection("lost");
    };
    addEventListener("online", reopen);
    addEventListener("offline", lose);
    document.addEventListener("visibilitychange", reopen);
    const watchdog = setInterval(() => this.lookForLostMessages(), OVERDUE_MS);
    this.cleanups.push(
      () => removeEventListener("online", reopen),
      () => removeEventListener("offline", lose),
      () => document.removeEventListener("visibilitychange", reopen),
      () => clearInterval(watchdog),
      effect(() => this.revealWhenDue()),
      effect(() => this.followRematch()),
    );
    return () => {
      for (const cleanup of this.cleanups) cleanup();
      this.stream.close();
    };
  }

  /** Where the match stands, as the rules want to know it. */
  position(): Position {
    const { state } = this.course.value;
    return { status: this.isRunning.value ? "running" : "won", phase: state.phase, ...state.apes };
  }

  /** Choose a move; nothing is sent before it is locked in. */
  choose(move: Move): void {
    if (this.canChoose({ move, tribute: null })) this.move.value = move;
    // What can't be offered beside this move is taken back.
    if (!this.canChoose({ move, tribute: this.tribute.value })) this.tribute.value = null;
  }

  /** Choose a tribute to go with the move, or none. */
  offer(tribute: Tribute | null): void {
    if (this.canChoose({ move: this.move.value ?? "rock", tribute })) this.tribute.value = tribute;
  }

  private canChoose(choice: Choice): boolean {
    const you = this.you.value;
    return you !== null && this.ownLock.value === null && !refusal(this.position(), you, choice);
  }

  /** Lock the choice in: shown at once, taken back if the server refuses it. */
  async lockIn(): Promise<void> {
    const choice = this.choice.value;
    const you = this.you.value;
    if (choice === null || you === null || !this.canChoose(choice)) return;
    const { movement } = this.course.value.state;
    play("lock");
    const lock = makeLock(this.id, you, movement, choice);
    batch(() => {
      this.isShowing.value = false;
      this.refused.value = "";
      this.ownLock.value = { movement, choice, salt: "", commitment: "" };
    });
    const made = await lock;
    this.ownLock.value = made;
    await this.untilAnswered(
      () => this.course.value.state.movement === movement,
      async () => {
        const form = { movement, commitment: made.commitment };
        this.table.value = await post("matches/{match_id}/moves", form, this.params);
      },
      () => {
        this.ownLock.value = null;
      },
    );
  }

  /** Drink a potion. */
  async drink(): Promise<void> {
    const you = this.you.value;
    if (you === null || potionRefusal(this.position(), you)) return;
    await this.act(async () => {
      this.table.value = await post("matches/{match_id}/potions", undefined, this.params);
      play("drink");
    });
  }

  /** Give the match up. */
  resign(): Promise<void> {
    return this.act(async () => {
      this.table.value = await post("matches/{match_id}/resign", undefined, this.params);
    });
  }

  /** Take the other seat of an open match. */
  join(): Promise<void> {
    return this.act(async () => {
      const form = { invitation: this.invitation };
      this.table.value = await post("matches/{match_id}/join", form, this.params);
      this.follow();
      void refreshCredits();
    });
  }

  /** Take an open match back. */
  cancel(): Promise<void> {
    return this.act(async () => {
      this.table.value = await post("matches/{match_id}/cancel", undefined, this.params);
      void refreshCredits();
    });
  }

  /** Offer a rematch, or accept the one that is offered; returns the new match's id. */
  async rematch(): Promise<string | null> {
    let id: string | null = null;
    await this.act(async () => {
      id = (await post("matches/{match_id}/rematch", undefined, this.params)).id;
    });
    return id;
  }

  private get params() {
    return { params: { match_id: this.id } };
  }

  private async load(): Promise<void> {
    try {
      const headers: Record<string, string> = this.invitation
        ? { Invitation: this.invitation }
        : {};
      const table = await get("matches/{match_id}", { ...this.params, headers });
      this.table.value = table;
      this.failure.value = null;
      // A stream carries no invitation: a match of invited players is shown live to them alone.
      if (table.you !== null || table.visibility === "open") this.follow();
      else this.connection.value = "over";
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.isOffline) setTimeout(() => void this.load(), RETRY_MS);
      else this.failure.value = error;
    }
  }

  private follow(): void {
    this.connection.value = "connecting";
    this.stream.open();
  }

  private async refresh(): Promise<void> {
    try {
      this.table.value = await get("matches/{match_id}", this.params);
    } catch {
      // What is shown stays; the stream, or the next look, brings what is new.
    }
  }

  /** Do something once; a refusal is shown. */
  private async act(send: () => Promise<void>): Promise<void> {
    if (this.isBusy.value) return;
    this.isBusy.value = true;
    this.refused.value = "";
    try {
      await send();
    } catch (error) {
      this.refused.value = sentence(error);
    } finally {
      this.isBusy.value = false;
    }
  }

  /** Send until there is an answer, as long as it is of use; what is refused is shown and undone. */
  private async untilAnswered(
    isOfUse: () => boolean,
    send: () => Promise<void>,
    undo: () => void,
  ): Promise<void> {
    while (isOfUse()) {
      await whenOnline();
      try {
        return await send();
      } catch (error) {
        const isPassing =
          error instanceof ApiError && (error.isOffline || error.code === "try_again");
        if (!isPassing) {
          if (!isOfUse()) return;
          this.refused.value = sentence(error);
          return undo();
        }
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  private onConnection(connection: Connection): void {
    if (connection === "live") this.isCaughtUp = false;
    this.connection.value = connection;
  }

  private onEvent(event: LiveEvent): void {
    batch(() => {
      const before = this.course.value;
      this.course.value = advanced(before, event);
      switch (event.type) {
        case "start":
          if (this.table.value?.status === "open") void this.refresh(); // who the other one is
          break;
        case "locked":
          this.onLocked(event.ape, event.commitment);
          break;
        case "movement":
          this.onMovement(event);
          break;
        case "clock":
          this.isCaughtUp = true;
          this.isTold.value = true;
          break;
        case "ended":
          this.isTold.value = true;
          forgetLocksBefore(this.id, Number.POSITIVE_INFINITY);
          if (this.table.value?.status !== event.status) {
            void this.refresh();
            void refreshCredits();
          }
          break;
      }
      this.sound(event);
    });
  }

  private onLocked(seat: Seat, committed: string): void {
    if (seat !== this.you.value) return;
    const lock = lockFor(this.id, committed);
    // The event may come before the answer; another browser's lock can't be revealed here.
    if (lock) this.ownLock.value = lock;
  }

  private onMovement({ movement }: { movement: number }): void {
    forgetLocksBefore(this.id, movement + 1);
    this.ownLock.value = null;
    this.move.value = null;
    this.tribute.value = null;
    this.refused.value = "";
    if (!this.isCaughtUp) return;
    this.isShowing.value = true;
    setTimeout(() => {
      // Unless the next choices are already being compared.
      if (this.course.value.last?.movement === movement) this.isShowing.value = false;
    }, SHOW_MS);
  }

  private sound(event: LiveEvent): void {
    if (!this.isCaughtUp) return;
    const own = this.you.value;
    const result = (winner: Seat | "tie" | null): Sound =>
      winner === own ? "win" : winner === null || winner === "tie" || own === null ? "tie" : "loss";
    if (event.type === "movement") play(result(event.state.outcome));
    if (event.type === "ended" && event.winner !== null)
      play(event.winner === own ? "victory" : "loss");
  }

  /** Reveal once both are in, or the time to lock in is up. Sent again until it is answered. */
  private revealWhenDue(): void {
    const { stage, state, locks, end } = this.course.value;
    const lock = this.ownLock.value;
    const you = this.you.value;
    const areBothIn = locks.a !== undefined && locks.b !== undefined;
    if (lock === null || you === null || end !== null || lock.movement !== state.movement) return;
    if (locks[you] !== lock.commitment || !(stage === "reveal" || areBothIn)) return;
    if (this.revealing?.commitment === lock.commitment) return;
    this.revealing = lock;
    void this.untilAnswered(
      () => this.course.value.state.movement === lock.movement && this.isRunning.value,
      async () => {
        const form = { movement: lock.movement, ...lock.choice, salt: lock.salt };
        await post("matches/{match_id}/reveals", form, this.params);
      },
      () => {
        this.revealing = null;
      },
    );
  }

  /** Connect again when the network, or the player, is back. */
  private reopen(): void {
    if (document.visibilityState === "hidden" || this.connection.peek() === "over") return;
    if (this.connection.peek() === "lost") this.stream.open();
    else this.lookForLostMessages();
  }

  /** A deadline that has passed without a word means that the connection is dead. */
  private lookForLostMessages(): void {
    const { deadline, end } = this.course.peek();
    if (deadline === null || end !== null || this.connection.peek() === "over") return;
    if (serverNow() < Date.parse(deadline) + OVERDUE_MS) return;
    void this.refresh(); // which applies the deadline, too
    this.stream.open();
  }

  /** Once the match has ended, look whether the other one offers a rematch. */
  private followRematch(): (() => void) | undefined {
    const isOver = this.course.value.end !== null;
    const canMeetAgain = this.you.value !== null && this.table.value?.house_ape == null;
    if (!isOver || !canMeetAgain) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void this.refresh();
    }, REMATCH_POLL_MS);
    return () => clearInterval(timer);
  }
}

function whenOnline(): Promise<unknown> {
  if (navigator.onLine) return Promise.resolve();
  return new Promise((resolve) => addEventListener("online", resolve, { once: true }));
}
