/** Depositing, each step of it shown, and the deposits so far. */
import { useEffect, useState } from "preact/hooks";
import type { Schema } from "../../api/client";
import { chain, knownChain } from "../../session";
import { text } from "../../text";
import { ago, coins, inCredits } from "../../text/format";
import { type Asked, useAction } from "../../ui/hooks";
import { Empty, Refusal } from "../../ui/parts";
import { StakeField, useStake } from "../../ui/stake";
import { type Step, Steps } from "../../ui/steps";
import { connection } from "../../wallet/connection";
import type { Stage } from "../../wallet/vault";

const words = text.credits;

export function DepositForm({ deposits }: { deposits: Schema["Deposit"][] }) {
  const { busy, error, run } = useAction();
  const [address, setAddress] = useState("");
  const [stages, setStages] = useState<Stage[]>([]);
  const wanted = useStake({ first: "100", limited: false });
  useEffect(() => void knownChain(), []);
  const tokens = chain.value?.tokens ?? [];
  const token = tokens.find((one) => one.address === address) ?? tokens[0];
  const holding = useHolding(token, stages.length);
  if (!chain.value || !token) return <section class="panel">{text.site.loading}</section>;

  const cost = BigInt(token.credit_price) * BigInt(wanted.value);
  const isShort = stages.length === 0 && holding !== null && holding < cost;
  const send = () =>
    run(async () => {
      const { deposit } = await import("../../wallet/vault");
      setStages([]);
      await deposit(await knownChain(), token, wanted.value, (stage) =>
        setStages((before) => [...before.filter((one) => one.doing !== stage.doing), stage]),
      );
    });
  const hash = stages.find((stage) => stage.doing === "deposit")?.hash;
  const arrived = hash ? deposits.find((deposit) => deposit.tx_hash === hash) : undefined;
  const isCredited = arrived?.status === "credited";
  return (
    <form
      class="panel stack"
      aria-labelledby="deposit"
      onSubmit={(event) => {
        event.preventDefault();
        if (wanted.check()) void send();
      }}
    >
      <h2 id="deposit">{words.deposit.title}</h2>
      <p class="hint">{words.deposit.hint(chain.value.confirmations)}</p>
      <div class="field">
        <label for="coin">{words.deposit.coin}</label>
        <select
          id="coin"
          value={token.address}
          disabled={busy}
          onChange={(event) => setAddress(event.currentTarget.value)}
        >
          {tokens.map((one) => (
            <option key={one.address} value={one.address}>
              {one.symbol}
            </option>
          ))}
        </select>
        <p class="hint">
          {words.deposit.price(coins(BigInt(token.credit_price), token.decimals), token.symbol)}
          {holding !== null &&
            `. ${words.deposit.holding(coins(holding, token.decimals, 4), token.symbol)}`}
        </p>
      </div>
      <StakeField
        stake={wanted}
        label={words.deposit.credits}
        hint={words.deposit.cost(coins(cost, token.decimals), token.symbol)}
      />
      <button type="submit" class="primary" disabled={busy || isShort}>
        {isCredited ? words.deposit.another : words.deposit.go}
      </button>
      {(busy || stages.length > 0) && (
        <Steps label={words.steps.label} steps={steps(stages, token, arrived)} />
      )}
      <Refusal>{isShort ? words.deposit.short(token.symbol) : error}</Refusal>
    </form>
  );
}

/** What the connected wallet holds of a coin; null while that isn't known. */
function useHolding(token: Schema["Token"] | undefined, when: number): bigint | null {
  const [holding, setHolding] = useState<bigint | null>(null);
  const account = connection.value?.account;
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked anew after each stage, too
  useEffect(() => {
    let isWanted = true;
    setHolding(null);
    if (!account || !token) return;
    void (async () => {
      const vault = await import("../../wallet/vault");
      const held = await vault.holding(await knownChain(), token).catch(() => null);
      if (isWanted) setHolding(held);
    })();
    return () => {
      isWanted = false;
    };
  }, [account, token?.address, when]);
  return holding;
}

const NOT_YET = -1;
const PROGRESS: Record<Stage["at"], number> = { asking: 0, sent: 1, mined: 2 };

/** The way of a deposit, from the wallet to the balance. */
function steps(
  stages: Stage[],
  token: Schema["Token"],
  arrived: Schema["Deposit"] | undefined,
): Step[] {
  const approval = stages.find((stage) => stage.doing === "approve");
  const sending = stages.find((stage) => stage.doing === "deposit");
  const progress = sending ? PROGRESS[sending.at] : NOT_YET;
  const asked = (arrived ? arrived.confirmations_asked : chain.value?.confirmations) ?? null;
  const have = arrived?.confirmations ?? 0;
  const isConfirmed = asked !== null && have > 0 && have >= asked;
  const isCredited = arrived?.status === "credited";
  const state = (isDone: boolean, isNow: boolean) => (isDone ? "done" : isNow ? "now" : "next");
  return [
    ...(approval
      ? [
          {
            label: words.steps.approve(token.symbol),
            state: state(approval.at === "mined", true),
          } as Step,
        ]
      : []),
    { label: words.steps.send, state: state(progress >= 1, !approval || progress === 0) },
    { label: words.steps.mine, state: state(progress >= 2, progress === 1) },
    {
      label: words.steps.confirm(have, asked),
      state: state(isCredited || isConfirmed, progress === 2),
    },
    {
      label:
        arrived && isCredited
          ? words.steps.creditedAs(inCredits(arrived.credits))
          : words.steps.credited,
      state: state(isCredited, isConfirmed),
    },
  ];
}

export function Deposits({ asked }: { asked: Asked<Schema["PaginatedDepositList"]> }) {
  const rows = asked.value?.results;
  return (
    <section class="panel stack" aria-labelledby="deposits">
      <h2 id="deposits">{words.deposits.title}</h2>
      <Refusal>{asked.error}</Refusal>
      {rows?.length === 0 && <Empty title={words.deposits.none}>{words.deposits.noneHint}</Empty>}
      <ul class="rows">
        {rows?.map((deposit) => (
          <li key={deposit.id}>
            <b>{inCredits(deposit.credits)}</b>
            <span>
              {coins(BigInt(deposit.amount), deposit.token.decimals)} {deposit.token.symbol}
            </span>
            <span class={`tag ${deposit.status}`}>
              {deposit.status === "pending"
                ? words.deposits.status.pending(deposit.confirmations, deposit.confirmations_asked)
                : words.deposits.status[deposit.status]}
            </span>
            <time class="hint" dateTime={deposit.seen_at}>
              {ago(deposit.seen_at)}
            </time>
          </li>
        ))}
      </ul>
    </section>
  );
}
