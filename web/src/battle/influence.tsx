/** The round, the score and the running influence. */

import { Icon } from "../art/icons";
import { OPENING_MOVEMENTS } from "../engine/play";
import type { Rulings } from "../engine/ruleset";
import { text } from "../text";
import { type Scene, seatsOf } from "./scene";

const words = text.battle.status;

export function RoundAndInfluence({ scene, rulings }: { scene: Scene; rulings: Rulings }) {
  const { state } = scene.course;
  const [near, far] = seatsOf(scene);
  const isOpening = state.phase === "opening";
  const movements = isOpening ? OPENING_MOVEMENTS : rulings.movements_per_phase;
  const cycle = state.sudden_death
    ? words.suddenDeath
    : words.cycle(state.cycle, rulings.cycles_per_round);
  return (
    <>
      <p class="round">
        <strong>{words.round(state.round)}</strong>
        <span class="score">{words.score(state.apes[near].rounds, state.apes[far].rounds)}</span>
      </p>
      <div class="influence">
        <Icon name={state.phase} />
        <p>
          <strong>{text.battle.influences[state.phase]}</strong>
          <span>
            {words.inPhase(state.in_phase, movements)}
            {!isOpening && ` · ${cycle}`}
          </span>
        </p>
      </div>
    </>
  );
}
