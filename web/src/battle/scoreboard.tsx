/** The line above the ring: round, influence and what wins do under it, time, connection. */

import { useEffect, useState } from "preact/hooks";
import { serverNow } from "../api/client";
import { Icon } from "../art/icons";
import { OPENING_MOVEMENTS } from "../engine/play";
import type { Rulings } from "../engine/ruleset";
import { otherSeat } from "../engine/state";
import { text } from "../text";
import type { Battle, Table } from "./battle";
import { isSoundOn, toggleSound } from "./sound";

const words = text.battle;
const TICK_MS = 250;
const HURRY_SECONDS = 8;

export function Scoreboard({ battle, table }: { battle: Battle; table: Table }) {
  const { state, deadline, end } = battle.course.value;
  const rulings = table.rulings as unknown as Rulings;
  const isOpening = state.phase === "opening";
  const near = state.apes[battle.near.value];
  const far = state.apes[otherSeat(battle.near.value)];
  const movements = isOpening ? OPENING_MOVEMENTS : rulings.movements_per_phase;
  return (
    <header class="scoreboard">
      <p class="round">
        <strong>{words.status.round(state.round)}</strong>
        <span class="score">{words.status.score(near.rounds, far.rounds)}</span>
      </p>
      <div class="influence">
        <Icon name={state.phase} />
        <p>
          <strong>{words.influences[state.phase]}</strong>
          <span>
            {words.status.inPhase(state.in_phase, movements)}
            {!isOpening && ` · ${words.status.cycle(state.cycle, rulings.cycles_per_round)}`}
          </span>
        </p>
      </div>
      <Timer deadline={end === null ? deadline : null} />
      <p class={`connection ${battle.connection.value}`}>
        <span>{words.connection[battle.connection.value]}</span>
        <button type="button" aria-pressed={isSoundOn.value} onClick={toggleSound}>
          {isSoundOn.value ? words.sound.on : words.sound.off}
        </button>
      </p>
    </header>
  );
}

/** The seconds left by the server's clock, and a bar that shrinks with them. */
function Timer({ deadline }: { deadline: string | null }) {
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
