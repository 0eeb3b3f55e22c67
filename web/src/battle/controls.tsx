/** What the player can do: five moves, a tribute, lock in, a potion, resign. */

import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../art/icons";
import { potionRefusal, refusal } from "../engine/play";
import { MOVES, type Move, type Seat, TRIBUTES, type Tribute } from "../engine/state";
import { text } from "../text";
import { type Battle, rulingsOf, type Table } from "./battle";
import { choiceInWords, forecast } from "./words";

const words = text.battle;
const OFFERS = [null, ...TRIBUTES] as const;

type Props = { battle: Battle; table: Table };

export function Controls({ battle, table }: Props) {
  const you = battle.you.value;
  useKeys(battle);
  if (you === null) return <Reference battle={battle} table={table} />;
  return (
    <section class="controls" aria-label={words.stage.choose}>
      <div class="moves">
        {MOVES.map((move, n) => (
          <MoveButton
            key={move}
            battle={battle}
            table={table}
            you={you}
            move={move}
            digit={n + 1}
          />
        ))}
      </div>
      <Tributes battle={battle} you={you} />
      <LockIn battle={battle} />
      <div class="asides">
        <Potion battle={battle} you={you} />
        <Resign battle={battle} stake={String(table.stake)} />
      </div>
      <p class="refused" role="alert">
        {battle.refused}
      </p>
      <Keys />
    </section>
  );
}

/** For spectators: what the moves would do, with nothing to press. */
function Reference({ battle, table }: Props) {
  return (
    <section class="controls reference">
      <ul class="moves">
        {MOVES.map((move) => (
          <li key={move} class="move">
            <MoveFace battle={battle} table={table} move={move} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function MoveButton(props: Props & { you: Seat; move: Move; digit: number }) {
  const { battle, table, you, move, digit } = props;
  const id = useId();
  const why = whyNotMove(battle, you, move);
  return (
    <button
      type="button"
      class="move"
      aria-describedby={id}
      aria-pressed={(battle.ownLock.value?.choice ?? battle.choice.value)?.move === move}
      aria-disabled={why !== null}
      onClick={() => battle.choose(move)}
    >
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a kbd takes no focus */}
      <kbd aria-hidden="true">{digit}</kbd>
      <MoveFace battle={battle} table={table} move={move} why={why} id={id} />
    </button>
  );
}

function MoveFace(props: Props & { move: Move; why?: string | null; id?: string }) {
  const { battle, table, move, why = null, id } = props;
  const { phase } = battle.course.value.state;
  const { beats, effect } = forecast(phase, move, rulingsOf(table));
  const isUseless = phase === "opening" && (move === "wild" || move === "alpha");
  return (
    <>
      <Icon name={move} />
      <span class="move-name">{words.moves[move]}</span>
      <span class="move-effect" id={id} aria-hidden={id !== undefined}>
        {why !== null && <span class="why">{why}</span>}
        {why === null && !isUseless && (
          <>
            <span class="unseen">
              {words.beats(beats.map((other) => words.moves[other]).join(", "))}:{" "}
            </span>
            <span class="beats" aria-hidden="true">
              {beats.map((other) => (
                <Icon key={other} name={other} />
              ))}
            </span>
            <span>{effect}</span>
          </>
        )}
      </span>
    </>
  );
}

function whyNotMove(battle: Battle, you: Seat, move: Move): string | null {
  const refused = refusal(battle.position(), you, { move, tribute: null });
  if (refused?.code === "not_held") {
    return move === "wild" ? words.whyNot.needsWild : words.whyNot.needsAlpha;
  }
  if (refused) return words.whyNot[refused.code];
  return battle.ownLock.value === null ? null : words.whyNot.lockedIn;
}

function whyNotTribute(battle: Battle, you: Seat, tribute: Tribute | null): string | null {
  const move = battle.move.value ?? "rock";
  const refused = refusal(battle.position(), you, { move, tribute });
  if (refused?.code === "not_held" && tribute !== null) return words.whyNot.needsMore[tribute];
  if (refused) return words.whyNot[refused.code];
  return battle.ownLock.value === null ? null : words.whyNot.lockedIn;
}

function Tributes({ battle, you }: { battle: Battle; you: Seat }) {
  const id = useId();
  return (
    <fieldset class="tributes" aria-describedby={`${id}-hint`}>
      <legend>
        <Icon name="tribute" /> {words.tribute.legend}
      </legend>
      {OFFERS.map((tribute) => {
        const why = whyNotTribute(battle, you, tribute);
        return (
          <button
            key={tribute}
            type="button"
            class="tribute"
            aria-label={words.tribute.label[tribute ?? "none"]}
            aria-pressed={battle.tribute.value === tribute}
            aria-disabled={why !== null}
            title={why ?? ""}
            onClick={() => battle.offer(tribute)}
          >
            {words.tribute[tribute ?? "none"]}
          </button>
        );
      })}
      <p id={`${id}-hint`} class="hint">
        {words.tribute.hint}
      </p>
    </fieldset>
  );
}

function LockIn({ battle }: { battle: Battle }) {
  const locked = battle.ownLock.value;
  const choice = locked?.choice ?? battle.choice.value;
  const id = useId();
  return (
    <button
      type="button"
      class={`lock-in primary ${locked ? "locked" : ""}`}
      aria-describedby={id}
      aria-disabled={locked !== null || choice === null}
      onClick={() => void battle.lockIn()}
    >
      <Icon name="lock" />
      <span>
        <strong>{locked ? words.lockedIn : words.lockIn}</strong>
        <small id={id} aria-hidden="true">
          {choice ? choiceInWords(choice) : words.stage.choose}
        </small>
      </span>
    </button>
  );
}

function Potion({ battle, you }: { battle: Battle; you: Seat }) {
  const id = useId();
  const refused = potionRefusal(battle.position(), you);
  return (
    <button
      type="button"
      class="aside"
      aria-describedby={id}
      aria-disabled={refused !== null || battle.isBusy.value}
      onClick={() => void battle.drink()}
    >
      <Icon name="potion" />
      <span>
        {words.drink}
        <small id={id} aria-hidden="true">
          {refused ? words.whyNot[refused.code] : words.log.counts.health(2)}
        </small>
      </span>
    </button>
  );
}

function Resign({ battle, stake }: { battle: Battle; stake: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  return (
    <>
      <button type="button" class="aside quiet" onClick={() => dialog.current?.showModal()}>
        {words.resign}
      </button>
      <dialog ref={dialog} aria-labelledby={id}>
        <h2 id={id}>{words.resigning.title}</h2>
        <p>{words.resigning.text(stake)}</p>
        <form method="dialog" class="buttons">
          <button type="submit" class="danger" onClick={() => void battle.resign()}>
            {words.resigning.yes}
          </button>
          <button type="submit" class="primary">
            {words.resigning.no}
          </button>
        </form>
      </dialog>
    </>
  );
}

function Keys() {
  return (
    <p class="keys">
      <strong>{words.keys.title}</strong>
      {words.keys.rows.map(([key, does]) => (
        <span key={key}>
          <kbd>{key}</kbd> {does}
        </span>
      ))}
    </p>
  );
}

/** Let keys do what the buttons do, unless they are meant for something else. */
function useKeys(battle: Battle): void {
  // As soon as the keys are shown, they do what is said.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (target.closest("input, textarea, select, dialog")) return;
      const move = MOVES[Number(event.key) - 1];
      const key = event.key.toLowerCase();
      if (move !== undefined) battle.choose(move);
      else if (key === "t") nextTribute(battle);
      else if (key === "l") void battle.lockIn();
      else if (key === "d") void battle.drink();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [battle]);
}

/** The next tribute that can be offered, or none after the last. */
function nextTribute(battle: Battle): void {
  const now = OFFERS.indexOf(battle.tribute.value);
  for (let step = 1; step <= OFFERS.length; step++) {
    const tribute = OFFERS[(now + step) % OFFERS.length] ?? null;
    battle.offer(tribute);
    if (battle.tribute.value === tribute) return;
  }
}
