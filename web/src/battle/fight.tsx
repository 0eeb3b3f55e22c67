/** A match that has begun: the ring, what the player can do in it, and what happened. */

import type { Seat } from "../engine/state";
import { text } from "../text";
import { type Battle, rulingsOf, type Table } from "./battle";
import { Controls } from "./controls";
import { End } from "./end";
import { RoundAndInfluence } from "./influence";
import { Log } from "./log";
import { Ring } from "./ring";
import { isLocked, type Scene, seatsOf } from "./scene";
import { Connection, Timer } from "./status";
import { type Names, toldInWords } from "./words";

const words = text.battle;

export function Fight({ battle, table }: { battle: Battle; table: Table }) {
  const scene = sceneOf(battle, table);
  const { course, names, you } = scene;
  const lines = course.told.map((told) => toldInWords(told, names, you));
  return (
    <div class={`fight under-${course.state.phase}`}>
      <h1 class="unseen">{words.title}</h1>
      <header class="scoreboard">
        <RoundAndInfluence scene={scene} rulings={rulingsOf(table)} />
        <Connection connection={battle.connection.value} />
        <Timer deadline={course.deadline} />
      </header>
      <Ring scene={scene} stage={stageInWords(battle, scene)} />
      {course.end === null ? (
        <Controls battle={battle} table={table} />
      ) : (
        <End battle={battle} table={table} end={course.end} names={names} />
      )}
      <Log lines={lines} />
      <p class="unseen" role="status">
        {lines.at(-1)}
      </p>
    </div>
  );
}

/** What the apes of a match are called: "You", a house ape's name, or the ape that it is. */
function namesOf(table: Table): Names {
  const name = (seat: Seat) => {
    if (seat === table.you) return words.you;
    return seat === "b" && table.house_ape ? words.houseApe(table.house_ape) : words.apes[seat];
  };
  return { a: name("a"), b: name("b") };
}

function sceneOf(battle: Battle, table: Table): Scene {
  const course = battle.course.value;
  return {
    course,
    names: namesOf(table),
    addresses: table.players,
    you: table.you,
    own: battle.ownLock.value?.choice ?? null,
    isOpen: course.last !== null && (battle.isShowing.value || course.end !== null),
  };
}

function stageInWords(battle: Battle, scene: Scene): string {
  const { course, you, names } = scene;
  const [, far] = seatsOf(scene);
  if (course.end !== null) return words.stage.ended;
  if (you === null) return words.stage.watching;
  const isElsewhere = course.locks[you] !== undefined && battle.ownLock.value === null;
  if (isElsewhere) return words.stage.otherBrowser;
  if (scene.own === null) return words.stage.choose;
  const isRevealing = isLocked(scene, far) || course.stage === "reveal";
  return isRevealing ? words.stage.revealing : words.stage.waitingForOther(names[far]);
}
