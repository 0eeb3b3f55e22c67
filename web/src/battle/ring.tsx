/** The ring: two apes, and the table between them with two cards, laid face down, then turned. */

import { Icon } from "../art/icons";
import type { Choice, Seat } from "../engine/state";
import { text } from "../text";
import { ApePanel } from "./ape_panel";
import "./ring.css";
import { isLocked, moodOf, type Scene, seatsOf } from "./scene";
import { choiceInWords, resultInWords } from "./words";

const words = text.battle;

export function Ring({ scene, stage }: { scene: Scene; stage: string }) {
  const [near, far] = seatsOf(scene);
  return (
    <div class="ring">
      <Panel scene={scene} seat={near} isNear />
      <Table scene={scene} stage={stage} />
      <Panel scene={scene} seat={far} />
    </div>
  );
}

function Panel({ scene, seat, isNear = false }: { scene: Scene; seat: Seat; isNear?: boolean }) {
  return (
    <ApePanel
      seat={seat}
      name={scene.names[seat]}
      address={scene.addresses[seat] ?? ""}
      ape={scene.course.state.apes[seat]}
      mood={moodOf(scene, seat)}
      isNear={isNear}
    />
  );
}

function Table({ scene, stage }: { scene: Scene; stage: string }) {
  const { last, told } = scene.course;
  const before = told.find(({ event }) => event === last)?.before;
  return (
    <section class={`arena ${scene.isOpen ? "open" : ""}`} aria-label={words.table}>
      <div class="cards">
        {seatsOf(scene).map((seat) => (
          // A new key turns the card anew.
          <Card key={`${seat}-${scene.isOpen && last?.movement}`} scene={scene} seat={seat} />
        ))}
      </div>
      <p class="stage">{stage}</p>
      {/* Another text comes as another element, which appears; it does not move. */}
      <p class="result" key={last?.movement}>
        {last !== null &&
          before !== undefined &&
          resultInWords(last, before, scene.names, scene.you)}
      </p>
    </section>
  );
}

function Card({ scene, seat }: { scene: Scene; seat: Seat }) {
  const { last } = scene.course;
  const name = scene.names[seat];
  if (scene.isOpen && last !== null) {
    const choice = last[seat];
    return (
      <div
        class={`card face ${last.state.outcome === seat ? "winner" : ""}`}
        role="img"
        aria-label={words.card.of(name, choiceInWords(choice))}
      >
        {choice ? <Face choice={choice} /> : <span class="missed">{words.missed}</span>}
      </div>
    );
  }
  const isDown = isLocked(scene, seat);
  const own = seat === scene.you ? scene.own : null;
  return (
    <div
      class={`card ${isDown ? "down" : "bare"}`}
      role="img"
      aria-label={words.card.of(name, isDown ? words.card.down : words.card.empty)}
    >
      {isDown && <Icon name="lock" />}
      {own && <Face choice={own} class="peek" />}
    </div>
  );
}

function Face({ choice, class: className = "" }: { choice: Choice; class?: string }) {
  return (
    <span class={`faces ${className}`}>
      <Icon name={choice.move} />
      <span class="face-name">{words.moves[choice.move]}</span>
      {choice.tribute && (
        <span class="face-tribute">
          <Icon name="tribute" /> {words.tribute[choice.tribute]}
        </span>
      )}
    </span>
  );
}
