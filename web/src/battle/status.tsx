/** What changes by itself: the time that is left, and the connection. */

import { useEffect, useState } from "preact/hooks";
import { serverNow } from "../api/client";
import { text } from "../text";
import type { Connection as State } from "./live";
import { isSoundOn, toggleSound } from "./sound";

const words = text.battle;
const TICK_MS = 250;
const HURRY_SECONDS = 8;

export function Connection({ connection }: { connection: State }) {
  return (
    <p class={`connection ${connection}`}>
      <span>{words.connection[connection]}</span>
      <button type="button" aria-pressed={isSoundOn.value} onClick={toggleSound}>
        {isSoundOn.value ? words.sound.on : words.sound.off}
      </button>
    </p>
  );
}

/** The seconds left by the server's clock, and a bar that shrinks with them. */
export function Timer({ deadline }: { deadline: string | null }) {
  const [left, setLeft] = useState(0);
  const [whole, setWhole] = useState(1);
  useEffect(() => {
    if (deadline === null) return undefined;
    const end = Date.parse(deadline);
    const tick = () => setLeft(Math.max(0, end - serverNow()));
    setWhole(Math.max(1, end - serverNow()));
    tick();
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, [deadline]);
  const seconds = Math.ceil(left / 1_000);
  const isShort = deadline !== null && seconds <= HURRY_SECONDS;
  return (
    <div class={`timer ${isShort ? "short" : ""}`} role="timer" aria-label={words.status.timer}>
      <span class="seconds">{deadline === null ? "–" : words.status.seconds(seconds)}</span>
      <span class="timer-bar" aria-hidden="true">
        <span
          style={{ transform: `scaleX(${deadline === null ? 0 : Math.min(1, left / whole)})` }}
        />
      </span>
    </div>
  );
}
