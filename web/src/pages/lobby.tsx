/** /lobby — your matches, open matches, and ways to begin one. */
import { useState } from "preact/hooks";
import { get, post, type Schema } from "../api/client";
import { go } from "../router";
import { credits, player, refreshCredits, signedIn } from "../session";
import { text } from "../text";
import { ago, inCredits, short } from "../text/format";
import { AccountLink } from "../ui/account";
import { useAction, useAsked } from "../ui/hooks";
import { Empty, Refusal, SignedOut } from "../ui/parts";
import { StakeField, useStake } from "../ui/stake";

const words = text.lobby;
const REFRESH_SECONDS = 3;
const OWN_SHOWN = 8;

export default function LobbyPage() {
  return signedIn.value ? <Lobby /> : <SignedOut title={words.title} />;
}

function Lobby() {
  const own = useAsked(
    () => get("matches", { query: { mine: true, page_size: OWN_SHOWN } }),
    REFRESH_SECONDS,
  );
  const open = useAsked(() => get("matches"), REFRESH_SECONDS);
  const apes = useAsked(() => get("matches/practice"));
  return (
    <>
      <h1>{words.title}</h1>
      {credits.value?.available === 0 && (
        <p class="notice">
          {words.poor} <a href="/credits">{words.deposit}</a>
        </p>
      )}
      <div class="lobby">
        <section aria-labelledby="open" class="panel stack waiting-list">
          <h2 id="open">{words.open}</h2>
          <p class="hint">{words.openHint}</p>
          <Refusal>{open.error}</Refusal>
          {open.value?.results.length === 0 && <Empty title={words.none}>{words.noneHint}</Empty>}
          <ul class="cards">
            {open.value?.results.map((card) => (
              <OpenMatch key={card.id} card={card} />
            ))}
          </ul>
        </section>
        <div class="ways">
          <QuickMatch />
          <Invite />
        </div>
        <Practice apes={apes.value ?? []} />
        {own.value && own.value.results.length > 0 && (
          <section aria-labelledby="own" class="panel stack own">
            <h2 id="own">{words.yours}</h2>
            <ul class="cards">
              {own.value.results.map((card) => (
                <OwnMatch key={card.id} card={card} />
              ))}
            </ul>
          </section>
        )}
      </div>
    </>
  );
}

/** Go to a match's table, with the stake gone from the balance. */
async function sitDown(table: Schema["Table"]): Promise<void> {
  void refreshCredits();
  go(`/match/${table.id}`);
}

function OpenMatch({ card }: { card: Schema["Card"] }) {
  const { busy, error, run } = useAction();
  const maker = card.players.a ?? "";
  const params = { match_id: card.id };
  const stake = inCredits(card.stake);
  return (
    <li class="card">
      <AccountLink address={maker} />
      <span class="stake">{words.stakeEach(stake)}</span>
      <time class="hint" dateTime={card.created_at}>
        {ago(card.created_at)}
      </time>
      <button
        type="button"
        class="primary"
        disabled={busy}
        aria-label={words.joinLabel(stake, short(maker))}
        onClick={() =>
          run(async () => sitDown(await post("matches/{match_id}/join", {}, { params })))
        }
      >
        {words.join}
      </button>
      <Refusal>{error}</Refusal>
    </li>
  );
}

function OwnMatch({ card }: { card: Schema["Card"] }) {
  const side = card.players.a === player.value ? "a" : "b";
  const other = card.players[side === "a" ? "b" : "a"];
  const isLive = card.status === "open" || card.status === "running";
  const outcome = card.winner === side ? words.outcome.won : words.outcome.lost;
  return (
    <li class="card">
      {other ? <AccountLink address={other} /> : <span class="hint">{words.unnamed}</span>}
      <span class="stake">
        {card.stake ? words.stakeEach(inCredits(card.stake)) : words.practiceMatch}
      </span>
      <span class={`tag ${card.status}`}>
        {card.status === "won" ? outcome : words.status[card.status]}
      </span>
      <a class={isLive ? "button primary" : "button"} href={`/match/${card.id}`}>
        {card.status === "running" ? words.resume : isLive ? words.watch : words.again}
      </a>
    </li>
  );
}

function QuickMatch() {
  const { busy, error, run } = useAction();
  const stake = useStake();
  return (
    <form
      class="panel stack"
      aria-labelledby="quick"
      onSubmit={(event) => {
        event.preventDefault();
        if (stake.check())
          void run(async () => sitDown(await post("matches/quick", { stake: stake.value })));
      }}
    >
      <h2 id="quick">{words.quick.title}</h2>
      <p class="hint">{words.quick.hint}</p>
      <StakeField stake={stake} />
      <button type="submit" class="primary" disabled={busy}>
        {words.quick.go}
      </button>
      <Refusal>{error}</Refusal>
    </form>
  );
}

function Invite() {
  const { busy, error, run } = useAction();
  const stake = useStake();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <form
      class="panel stack"
      aria-labelledby="invite"
      onSubmit={(event) => {
        event.preventDefault();
        const terms = {
          stake: stake.value,
          visibility: isOpen ? ("open" as const) : ("invitation" as const),
          ruleset: "god-v1" as const,
        };
        if (stake.check()) void run(async () => sitDown(await post("matches", terms)));
      }}
    >
      <h2 id="invite">{words.create.title}</h2>
      <p class="hint">{words.create.hint}</p>
      <StakeField stake={stake} />
      <label class="check">
        <input
          type="checkbox"
          checked={isOpen}
          onChange={(event) => setIsOpen(event.currentTarget.checked)}
        />
        {words.create.open}
      </label>
      <button type="submit" disabled={busy}>
        {words.create.go}
      </button>
      <Refusal>{error}</Refusal>
    </form>
  );
}

function Practice({ apes }: { apes: Schema["HouseApe"][] }) {
  const { busy, error, run } = useAction();
  return (
    <section class="panel stack" aria-labelledby="practice">
      <h2 id="practice">{words.practice.title}</h2>
      <p class="hint">{words.practice.hint}</p>
      <ul class="apes">
        {apes.map((ape) => (
          <li key={ape.name}>
            <button
              type="button"
              disabled={busy}
              aria-label={words.practice.go(ape.name)}
              onClick={() =>
                run(async () =>
                  sitDown(await post("matches/practice", { ape: ape.name as Schema["ApeEnum"] })),
                )
              }
            >
              {words.practice.go(ape.name)}
            </button>
            <span class="hint">{ape.description}</span>
          </li>
        ))}
      </ul>
      <Refusal>{error}</Refusal>
    </section>
  );
}
