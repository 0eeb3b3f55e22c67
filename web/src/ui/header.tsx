/** The header: pages, balance, who is signed in, and what is not as it should be. */
import { useEffect, useRef } from "preact/hooks";
import { here } from "../router";
import { chain, credits, player, refreshCredits, signedIn } from "../session";
import { look, trouble } from "../status";
import { text } from "../text";
import { number, short } from "../text/format";
import { connection, mismatch, signIn, signOut, switchNetwork } from "../wallet/connection";
import { Account } from "./account";
import { useAction, useEvery } from "./hooks";
import { ConnectButton } from "./parts";

const PAGES = ["lobby", "credits", "leaderboard", "rules"] as const;
const LOOK_SECONDS = 20;

export function Header() {
  useEvery(LOOK_SECONDS, () => {
    void look();
    void refreshCredits();
  });
  return (
    <header class="top">
      <div class="bar">
        <a class="brand" href="/" aria-label={text.site.name}>
          <Mark />
          <span>{text.site.name}</span>
        </a>
        <nav class="pages" aria-label={text.site.menu}>
          {PAGES.map((page) => (
            <a
              key={page}
              href={`/${page}`}
              aria-current={here.value.pathname === `/${page}` ? "page" : undefined}
            >
              {text.site.pages[page]}
            </a>
          ))}
        </nav>
        <div class="who">
          {signedIn.value ? (
            <>
              <Balance />
              <Menu />
            </>
          ) : (
            <ConnectButton />
          )}
        </div>
      </div>
      <Mismatch />
      <p class="status" role="status" aria-label={text.site.status.label}>
        {trouble.value}
      </p>
    </header>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true">
      <rect x="1" y="5" width="12" height="12" rx="3" fill="var(--sun)" />
      <rect x="19" y="5" width="12" height="12" rx="3" fill="var(--water)" />
      <rect x="10" y="17" width="12" height="12" rx="3" fill="var(--earth)" />
      <circle cx="7" cy="11" r="2" fill="#15101f" />
      <circle cx="25" cy="11" r="2" fill="#15101f" />
      <path d="M13 23h6" stroke="#15101f" stroke-width="2" stroke-linecap="round" />
    </svg>
  );
}

function Balance() {
  const now = credits.value;
  const shown = now ? number(now.available) : "…";
  return (
    <a class="balance" href="/credits" aria-label={text.site.balance.label(shown)}>
      <b>{shown}</b> <span>{text.site.balance.unit}</span>
      {now && now.in_play > 0 && <small>{text.site.balance.inPlay(number(now.in_play))}</small>}
      {now && now.pending_withdrawal > 0 && (
        <small>{text.site.balance.pending(number(now.pending_withdrawal))}</small>
      )}
    </a>
  );
}

function Menu() {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const inside = menu.current?.contains(event.target as Node);
      const isEscape = event instanceof KeyboardEvent && event.key === "Escape";
      if (menu.current?.open && (isEscape || (event.type === "click" && !inside)))
        menu.current.open = false;
    };
    addEventListener("click", close);
    addEventListener("keydown", close);
    return () => {
      removeEventListener("click", close);
      removeEventListener("keydown", close);
    };
  }, []);
  return (
    <details class="menu" ref={menu}>
      <summary>
        <span class="unseen">{text.wallet.account} </span>
        <Account address={player.value} />
      </summary>
      <div class="panel">
        <a href={`/player/${player.value}`}>{text.wallet.profile}</a>
        <button type="button" class="quiet" onClick={() => void signOut()}>
          {text.wallet.signOut}
        </button>
      </div>
    </details>
  );
}

/** The wallet has moved to another account or network than the site is signed in with. */
function Mismatch() {
  const { busy, error, run } = useAction();
  const words = text.wallet.mismatch;
  const what = mismatch.value;
  if (!what) return null;
  const said =
    what === "account"
      ? words.account(short(connection.value?.account ?? ""))
      : words.network(chain.value?.name ?? "");
  return (
    <div class="notice" role="alert">
      <p>{error || said}</p>
      <button
        type="button"
        disabled={busy}
        onClick={() => run(what === "account" ? signIn : switchNetwork)}
      >
        {what === "account" ? words.signIn : words.switch}
      </button>
    </div>
  );
}
