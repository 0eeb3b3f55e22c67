/** Withdrawing: a voucher is asked for, signed by the house, and redeemed on the vault. */
import { useState } from "preact/hooks";
import { post, type Schema } from "../../api/client";
import { credits, knownChain, refreshCredits } from "../../session";
import { text } from "../../text";
import { coins, date, inCredits } from "../../text/format";
import { type Asked, useAction } from "../../ui/hooks";
import { Empty, Refusal } from "../../ui/parts";
import { StakeField, useStake } from "../../ui/stake";
import type { Stage } from "../../wallet/vault";

const words = text.credits.withdraw;
type Withdrawal = Schema["Withdrawal"];

export function WithdrawForm({ onAsked }: { onAsked: () => Promise<void> }) {
  const { busy, error, run } = useAction();
  const wanted = useStake();
  return (
    <form
      class="panel stack"
      aria-labelledby="withdraw"
      onSubmit={(event) => {
        event.preventDefault();
        if (!wanted.check()) return;
        void run(async () => {
          await post("withdrawals", { credits: wanted.value });
          await Promise.all([onAsked(), refreshCredits()]);
        });
      }}
    >
      <h2 id="withdraw">{words.title}</h2>
      <p class="hint">{words.hint}</p>
      <StakeField stake={wanted} label={words.credits} />
      <button type="submit" disabled={busy || credits.value?.available === 0}>
        {words.go}
      </button>
      <Refusal>{error}</Refusal>
    </form>
  );
}

export function Withdrawals({ asked }: { asked: Asked<Schema["PaginatedWithdrawalList"]> }) {
  const rows = asked.value?.results;
  return (
    <section class="panel stack" aria-labelledby="withdrawals">
      <h2 id="withdrawals">{words.list}</h2>
      <Refusal>{asked.error}</Refusal>
      {rows?.length === 0 && <Empty title={words.none}>{words.noneHint}</Empty>}
      <ul class="rows">
        {rows?.map((withdrawal) => (
          <Row key={withdrawal.id} withdrawal={withdrawal} onChanged={asked.reload} />
        ))}
      </ul>
    </section>
  );
}

function Row({
  withdrawal,
  onChanged,
}: {
  withdrawal: Withdrawal;
  onChanged: () => Promise<void>;
}) {
  const { busy, error, run } = useAction();
  const [stage, setStage] = useState<Stage | null>(null);
  const { status, voucher, token } = withdrawal;
  const what = inCredits(withdrawal.credits);
  const isCancellable = status === "requested" || status === "approved";
  const redeem = () =>
    run(async () => {
      if (!voucher) return;
      const vault = await import("../../wallet/vault");
      await vault.redeem(await knownChain(), voucher, setStage).finally(() => setStage(null));
      await onChanged();
    });
  const cancel = () =>
    run(async () => {
      const params = { withdrawal_id: withdrawal.id };
      await post("withdrawals/{withdrawal_id}/cancel", undefined, { params });
      await Promise.all([onChanged(), refreshCredits()]);
    });
  return (
    <li>
      <b>{what}</b>
      <span>{words.pays(coins(BigInt(withdrawal.amount), token.decimals), token.symbol)}</span>
      <span class={`tag ${status}`}>{said(withdrawal)}</span>
      {withdrawal.waiting_for && (
        <span class="hint wide">{words.waiting[withdrawal.waiting_for]}</span>
      )}
      {status === "signed" && voucher && (
        <>
          <button
            type="button"
            class="primary"
            disabled={busy}
            aria-label={words.redeemLabel(what)}
            onClick={redeem}
          >
            {words.redeem}
          </button>
          <span class="hint wide" role="status">
            {stage?.at === "sent"
              ? words.sent
              : busy
                ? words.asking
                : withdrawal.deadline && words.until(date(withdrawal.deadline))}
          </span>
        </>
      )}
      {isCancellable && (
        <button type="button" disabled={busy} aria-label={words.cancelLabel(what)} onClick={cancel}>
          {words.cancel}
        </button>
      )}
      <Refusal>{error}</Refusal>
    </li>
  );
}

function said({ status, confirmations, confirmations_asked }: Withdrawal): string {
  return status === "redeemed"
    ? words.status.redeemed(confirmations, confirmations_asked)
    : words.status[status];
}
