/** A match that has not begun: waiting for somebody, a free seat, or nothing that will begin. */

import { useState } from "preact/hooks";
import { Ape } from "../art/ape";
import { credits } from "../session";
import { text } from "../text";
import { inCredits } from "../text/format";
import { AccountLink } from "../ui/account";
import { InviteQr } from "../ui/invite_qr";
import type { Battle, Table } from "./battle";

const words = text.battle;

type Props = { battle: Battle; table: Table };

/** The address of a match, with its invitation if it has one. */
export function linkTo(table: Table): string {
  const invitation = table.visibility === "invitation" ? table.invitation : null;
  return `${location.origin}/match/${table.id}${invitation ? `#invitation=${invitation}` : ""}`;
}

export function Waiting({ battle, table }: Props) {
  const link = linkTo(table);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(link);
    setCopied(true);
  };
  return (
    <section class="panel waiting">
      <div class="waiting-ape">
        <Ape seat="a" mood="idle" />
      </div>
      <div>
        <h1>{words.waiting.title}</h1>
        <p class="stake">{words.waiting.stake(String(table.stake))}</p>
        <p>{table.visibility === "open" ? words.waiting.open : words.waiting.invited}</p>
        <label class="link">
          {words.waiting.link}
          <input readOnly value={link} onFocus={(event) => event.currentTarget.select()} />
        </label>
        <InviteQr link={link} label={words.waiting.qr} />
        <p class="buttons">
          <button type="button" class="primary" onClick={() => void copy()}>
            {copied ? words.waiting.copied : words.waiting.copy}
          </button>
          <button type="button" onClick={() => void battle.cancel()}>
            {words.waiting.cancel}
          </button>
        </p>
        <p class="refused" role="alert">
          {battle.refused}
        </p>
      </div>
    </section>
  );
}

export function Joining({ battle, table }: Props) {
  const maker = table.players.a ?? "";
  const has = credits.value?.available ?? null;
  const isShort = has !== null && has < table.stake;
  const told = isShort ? words.joining.short : text.lobby.stakeHint;
  return (
    <section class="panel waiting">
      <div class="waiting-ape">
        <Ape seat="b" mood="asleep" />
      </div>
      <div>
        <h1>{words.joining.title}</h1>
        <p class="challenger">
          <AccountLink address={maker} /> {words.joining.challenges}
        </p>
        <p class="stake">{words.waiting.stake(String(table.stake))}</p>
        <p>{words.joining.text}</p>
        <p class="hint">{has === null ? "\u00a0" : told(inCredits(has))}</p>
        <p class="buttons">
          {isShort ? (
            <a class="button primary" href="/credits">
              {text.lobby.deposit}
            </a>
          ) : (
            <button
              type="button"
              class="primary"
              disabled={battle.isBusy.value}
              onClick={() => void battle.join()}
            >
              {words.joining.join}
            </button>
          )}
        </p>
        <p class="refused" role="alert">
          {battle.refused}
        </p>
      </div>
    </section>
  );
}

export function Gone({ table }: { table: Table }) {
  return (
    <section class="panel">
      <h1>{words.gone.title}</h1>
      <p>{table.ended_by === "expired" ? words.gone.expired : words.gone.cancelled}</p>
      <p>
        <a href="/lobby">{words.gone.lobby}</a>
      </p>
    </section>
  );
}
