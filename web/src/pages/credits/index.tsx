/** /credits — the balance, deposits, withdrawals and the statement. */
import { get } from "../../api/client";
import { credits, refreshCredits, signedIn } from "../../session";
import { text } from "../../text";
import { number } from "../../text/format";
import { useAsked, useEvery } from "../../ui/hooks";
import { SignedOut } from "../../ui/parts";
import { DepositForm, Deposits } from "./deposit";
import { Statement } from "./statement";
import { Withdrawals, WithdrawForm } from "./withdraw";

const words = text.credits;
const REFRESH_SECONDS = 2;

export default function CreditsPage() {
  return signedIn.value ? <Credits /> : <SignedOut title={words.title} />;
}

function Credits() {
  const deposits = useAsked(() => get("deposits", { query: { page_size: 10 } }), REFRESH_SECONDS);
  const withdrawals = useAsked(
    () => get("withdrawals", { query: { page_size: 10 } }),
    REFRESH_SECONDS,
  );
  useEvery(REFRESH_SECONDS, refreshCredits);
  return (
    <>
      <h1>{words.title}</h1>
      <Balance />
      <div class="twins">
        <div class="stack">
          <DepositForm deposits={deposits.value?.results ?? []} />
          <Deposits asked={deposits} />
        </div>
        <div class="stack">
          <WithdrawForm onAsked={withdrawals.reload} />
          <Withdrawals asked={withdrawals} />
        </div>
      </div>
      <Statement balance={credits.value?.available} />
    </>
  );
}

function Balance() {
  const now = credits.value;
  const shown = (value: number | undefined) => (value === undefined ? "…" : number(value));
  return (
    <>
      <dl class="figures">
        <div class="panel">
          <dt>{words.balance.available}</dt>
          <dd>{shown(now?.available)}</dd>
        </div>
        <div class="panel">
          <dt>{words.balance.inPlay}</dt>
          <dd>{shown(now?.in_play)}</dd>
        </div>
        <div class="panel">
          <dt>{words.balance.pending}</dt>
          <dd>{shown(now?.pending_withdrawal)}</dd>
        </div>
      </dl>
      {now && now.available < 0 && <p class="notice">{words.balance.below}</p>}
    </>
  );
}
