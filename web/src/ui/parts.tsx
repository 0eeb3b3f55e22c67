/** Small parts that pages share. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { text } from "../text";
import { isChoosing } from "../wallet/connection";

/** What went wrong, told at once to those who listen; its place is kept while it is empty. */
export function Refusal({ children }: { children: string }) {
  return (
    <p class="refusal" role="alert">
      {children}
    </p>
  );
}

/** A list without entries: why, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h3>{title}</h3>
      {children && <p>{children}</p>}
    </div>
  );
}

export function ConnectButton() {
  return (
    <button
      type="button"
      class="primary"
      onClick={() => {
        isChoosing.value = true;
      }}
    >
      {text.wallet.connect}
    </button>
  );
}

/** Instead of a page that is only for those who are signed in. */
export function SignedOut({ title }: { title: string }) {
  return (
    <>
      <h1>{title}</h1>
      <section class="panel stack">
        <h2>{text.site.signedOut.title}</h2>
        <p>{text.site.signedOut.hint}</p>
        <p>
          <ConnectButton />
        </p>
      </section>
    </>
  );
}

export function CopyButton({ value }: { value: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
  };
  return (
    <button type="button" onClick={() => void copy()} aria-live="polite">
      {copied ? text.site.copied : text.site.copy}
    </button>
  );
}
