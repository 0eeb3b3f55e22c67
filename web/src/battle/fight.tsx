/** A match that has begun: both apes, the table between them, and what the player can do. */

import { otherSeat, SEATS, type Seat } from "../engine/state";
import { text } from "../text";
import { ApePanel, type ApeView } from "./ape_panel";
import { Arena } from "./arena";
import type { Battle, Table } from "./battle";
import { Controls } from "./controls";
import { End } from "./end";
import { Log } from "./log";
import { Scoreboard } from "./scoreboard";
import { type Names, toldInWords } from "./words";

export function Fight({ battle, table }: { battle: Battle; table: Table }) {
  const course = battle.course.value;
  const near = battle.near.value;
  const far = otherSeat(near);
  const names = namesOf(table);
  const lines = course.told.map((told) => toldInWords(told, names, table.you));
  return (
    <div class={`fight under-${course.state.phase}`}>
      <h1 class="unseen">{text.battle.title}</h1>
      <Scoreboard battle={battle} table={table} />
      <div class="ring">
        <ApePanel view={viewOf(battle, table, near)} isNear />
        <Arena battle={battle} names={names} near={near} />
        <ApePanel view={viewOf(battle, table, far)} />
      </div>
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
export function namesOf(table: Table): Names {
  const name = (seat: Seat) => {
    if (seat === table.you) return text.battle.you;
    if (seat === "b" && table.house_ape) return text.battle.houseApe(table.house_ape);
    return text.battle.apes[seat];
  };
  return { a: name("a"), b: name("b") };
}

function viewOf(battle: Battle, table: Table, seat: Seat): ApeView {
  const course = battle.course.value;
  const isLocked =
    course.locks[seat] !== undefined || (seat === table.you && battle.ownLock.value !== null);
  return {
    seat,
    name: namesOf(table)[seat],
    address: table.players[seat] ?? "",
    ape: course.state.apes[seat],
    mood: moodOf(battle, seat, isLocked),
  };
}

function moodOf(battle: Battle, seat: Seat, isLocked: boolean): ApeView["mood"] {
  const { end, last, state } = battle.course.value;
  if (end !== null) {
    if (end.winner === null) return "idle";
    return end.winner === seat ? "winner" : "hit";
  }
  if (battle.isShowing.value && last !== null) {
    const { outcome } = last.state;
    if (last[seat] === null) return "asleep";
    if (SEATS.some((other) => other === outcome)) return outcome === seat ? "winner" : "hit";
    return "idle";
  }
  if (isLocked) return "locked";
  return state.apes[seat].misses > 0 ? "asleep" : "idle";
}
