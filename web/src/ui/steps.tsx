/** A way in steps: what is done, what is being waited for, what is to come. */
import { text } from "../text";

export type Step = { label: string; state: "done" | "now" | "next" };

const SIGNS: Record<Step["state"], string> = { done: "✓", now: "…", next: "·" };

export function Steps({ label, steps }: { label: string; steps: Step[] }) {
  const current = steps.find((step) => step.state === "now") ?? steps.at(-1);
  return (
    <>
      <ol class="steps" aria-label={label}>
        {steps.map((step, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps have an order and nothing else
          <li key={n} class={step.state} aria-current={step.state === "now" ? "step" : undefined}>
            <span class="sign" aria-hidden="true">
              {SIGNS[step.state]}
            </span>
            {step.label}
            <span class="unseen"> ({text.credits.steps[step.state]})</span>
          </li>
        ))}
      </ol>
      <p class="unseen" role="status">
        {current?.label}
      </p>
    </>
  );
}
