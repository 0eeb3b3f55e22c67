/** Step, play and scrub through a match. */

import { useEffect, useState } from "preact/hooks";
import type { Course } from "../battle/course";
import { RoundAndInfluence } from "../battle/influence";
import { Log } from "../battle/log";
import { Ring } from "../battle/ring";
import type { Scene } from "../battle/scene";
import { toldInWords } from "../battle/words";
import { player } from "../session";
import { text } from "../text";
import type { Header } from "../verify/transcript";

const words = text.replay.player;
const FRAME_MS = 1_800;

export function Player({ frames, header }: { frames: readonly Course[]; header: Header }) {
  const [place, setPlace] = useState(0);
  const [isPlaying, setPlaying] = useState(false);
  const last = frames.length - 1;
  const course = frames[Math.min(place, last)];

  useEffect(() => {
    if (!isPlaying) return undefined;
    if (place >= last) {
      setPlaying(false);
      return undefined;
    }
    const timer = setTimeout(() => setPlace(place + 1), FRAME_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, place, last]);

  if (course === undefined) return null;
  const go = (to: number) => {
    setPlaying(false);
    setPlace(Math.max(0, Math.min(to, last)));
  };
  const toggle = () => {
    if (!isPlaying && place === last) setPlace(0);
    setPlaying(!isPlaying);
  };
  const scene = sceneOf(course, header);
  const lines = course.told.map((told) => toldInWords(told, scene.names, scene.you));
  return (
    <div class={`fight under-${course.state.phase}`}>
      <header class="scoreboard">
        <RoundAndInfluence scene={scene} rulings={header.rulings} />
      </header>
      <Ring scene={scene} stage={words.place(place, last)} />
      <div class="controls">
        <fieldset class="transport" aria-label={words.label}>
          <button type="button" aria-label={words.first} onClick={() => go(0)}>
            «
          </button>
          <button type="button" aria-label={words.back} onClick={() => go(place - 1)}>
            ‹
          </button>
          <button type="button" class="primary" onClick={toggle}>
            {isPlaying ? words.pause : words.play}
          </button>
          <button type="button" aria-label={words.forward} onClick={() => go(place + 1)}>
            ›
          </button>
          <button type="button" aria-label={words.last} onClick={() => go(last)}>
            »
          </button>
        </fieldset>
        <input
          type="range"
          class="scrub"
          aria-label={words.scrub}
          min={0}
          max={last}
          value={place}
          onInput={(event) => go(Number(event.currentTarget.value))}
        />
      </div>
      <Log lines={lines} />
      <p class="unseen" role="status">
        {isPlaying ? "" : lines.at(-1)}
      </p>
    </div>
  );
}

function sceneOf(course: Course, header: Header): Scene {
  const you = (["a", "b"] as const).find((seat) => header[seat] === player.value) ?? null;
  const names = { ...text.battle.apes, ...(you && { [you]: text.battle.you }) };
  const shown = course.told.at(-1)?.event.type;
  return {
    course,
    names,
    addresses: { a: header.a, b: header.b },
    you,
    own: null,
    isOpen: course.last !== null && (shown === "movement" || shown === "ended"),
  };
}
