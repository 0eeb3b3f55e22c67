/** The table between the apes: two cards, laid face down, then turned. */

import { Icon } from "../art/icons";
import { type Choice, otherSeat, type Seat } from "../engine/state";
import { text } from "../text";
import type { Battle } from "./battle";
import { choiceInWords, type Names, resultInWords } from "./words";

const words = text.battle;

/** A card on the table: not laid yet, face down, or open; null is a missed movement. */
type Card = "empty" | "down" | { open: Choice | null };

export function Arena({ battle, names, near }: { battle: Battle; names: Names; near: Seat }) {
  const { last, told } = battle.course.value;
  const isOpen = last !== null && (battle.isShowing.value || battle.course.value.end !== null);
  const before = told.find(({ event }) => event === last)?.before;
  return (
    <section class={`arena ${isOpen ? "open" : ""}`} aria-label={words.title}>
      <div class="cards">
        {[near, otherSeat(near)].map((seat) => (
          <CardView
            // A new key turns the card anew.
            key={`${seat}-${isOpen ? last.movement : "next"}`}
            card={isOpen ? { open: last[seat] } : cardOf(battle, seat)}
            name={names[seat]}
            isWinner={isOpen && last.state.outcome === seat}
            own={seat === battle.you.value ? (battle.ownLock.value?.choice ?? null) : null}
          />
        ))}
      </div>
      <p class="stage">{stageInWords(battle, names, near)}</p>
      <p class="result">
        {last !== null &&
          before !== undefined &&
          resultInWords(last, before, names, battle.you.value)}
      </p>
    </section>
  );
}

function cardOf(battle: Battle, seat: Seat): Card {
  const isOwn = seat === battle.you.value;
  const isDown =
    battle.course.value.locks[seat] !== undefined || (isOwn && battle.ownLock.value !== null);
  return isDown ? "down" : "empty";
}

function CardView(props: { card: Card; name: string; isWinner: boolean; own: Choice | null }) {
  const { card, name, isWinner, own } = props;
  if (card === "empty" || card === "down") {
    const said = words.card.of(name, card === "empty" ? words.card.empty : words.card.down);
    return (
      <div class={`card ${card}`} role="img" aria-label={said}>
        {card === "down" && <Icon name="lock" />}
        {card === "down" && own && <Faces choice={own} class="peek" />}
      </div>
    );
  }
  const said = words.card.of(name, choiceInWords(card.open));
  return (
    <div class={`card face ${isWinner ? "winner" : ""}`} role="img" aria-label={said}>
      {card.open ? <Faces choice={card.open} /> : <span class="missed">{words.missed}</span>}
    </div>
  );
}

function Faces({ choice, class: className = "" }: { choice: Choice; class?: string }) {
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

function stageInWords(battle: Battle, names: Names, near: Seat): string {
  const { stage, locks, end, state } = battle.course.value;
  const you = battle.you.value;
  if (end !== null) return words.stage.ended;
  if (you === null) return words.stage.watching;
  const own = battle.ownLock.value;
  const isElsewhere = locks[you] !== undefined && own?.movement !== state.movement;
  if (isElsewhere) return words.stage.otherBrowser;
  if (own === null) return words.stage.choose;
  if (locks[otherSeat(near)] !== undefined) return words.stage.revealing;
  return stage === "reveal"
    ? words.stage.revealing
    : words.stage.waitingForOther(names[otherSeat(near)]);
}
