/** How a match ended, and what can be done after it. */

import { useState } from "preact/hooks";
import { otherSeat } from "../engine/state";
import { go } from "../router";
import { text } from "../text";
import type { Battle, Table } from "./battle";
import type { Course } from "./course";
import type { Names } from "./words";

const words = text.battle.end;
const WHOLE_BPS = 10_000n;

type Props = { battle: Battle; table: Table; end: NonNullable<Course["end"]>; names: Names };

export function End({ battle, table, end, names }: Props) {
  return (
    <section class="end panel" aria-label={words.won}>
      <div>
        <h2>{title({ battle, table, end, names })}</h2>
        <p>{reason(table, end)}</p>
        <p class="payout">{payout(table, end)}</p>
      </div>
      <p class="buttons">
        {table.you !== null && <Rematch battle={battle} table={table} />}
        <a class="button" href={`/replay/${table.id}`}>
          {words.replay}
        </a>
        <a class="button" href={`/verify?match=${table.id}`}>
          {words.verify}
        </a>
        <Share id={table.id} />
      </p>
      <p class="refused" role="alert">
        {battle.refused}
      </p>
    </section>
  );
}

function title({ table, end, names }: Props): string {
  if (end.status !== "won" || end.winner === null) {
    return end.status === "won" ? words.draw : words[end.status];
  }
  if (table.you === null) return words.wins(names[end.winner]);
  return end.winner === table.you ? words.won : words.lost;
}

function reason(table: Table, { ended_by, winner }: Props["end"]): string {
  if (ended_by === "resigned" && table.you !== null && winner !== table.you) {
    return words.youResigned;
  }
  return words.by[ended_by ?? ""] ?? "";
}

/** What became of the stakes: the winner takes the pot less the fee; else both have theirs back. */
function payout(table: Table, { winner }: Props["end"]): string {
  const stake = BigInt(table.stake);
  if (stake === 0n) return words.practice;
  const pot = 2n * stake;
  const fee = winner === null ? 0n : (pot * BigInt(table.fee_bps)) / WHOLE_BPS;
  const whole = words.pot(String(pot), String(fee));
  if (table.you === null) return whole;
  if (winner === null) return words.back(String(stake));
  if (winner !== table.you) return `${words.lostStake(String(stake))} (${whole})`;
  return `${words.payout(String(pot - fee))} (${whole})`;
}

function Rematch({ battle, table }: { battle: Battle; table: Table }) {
  if (table.house_ape) {
    return (
      <a class="button primary" href="/lobby">
        {words.rematch.practice}
      </a>
    );
  }
  const offered = table.rematch;
  const byOther = table.you !== null && offered?.by === otherSeat(table.you);
  const again = async () => {
    const id = await battle.rematch();
    if (id !== null) go(`/match/${id}`);
  };
  return (
    <button type="button" class="primary" onClick={() => void again()}>
      {byOther ? words.rematch.accept : words.rematch.offer}
    </button>
  );
}

function Share({ id }: { id: string }) {
  const [isCopied, setCopied] = useState(false);
  const share = async () => {
    const url = `${location.origin}/replay/${id}`;
    if (navigator.share) {
      // Whoever closes the dialog has changed their mind: nothing is wrong.
      await navigator.share({ text: words.shareText, url }).catch(() => undefined);
      return;
    }
    await navigator.clipboard.writeText(url);
    setCopied(true);
  };
  return (
    <button type="button" onClick={() => void share()}>
      {isCopied ? words.shared : words.share}
    </button>
  );
}
