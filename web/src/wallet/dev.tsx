/**
 * The dev wallet: accounts of the local chain, as a wallet that makes itself known by EIP-6963.
 * The node holds the keys; bas_site/dev_rpc.py passes calls on. Loaded in development only.
 */
import { signal } from "@preact/signals";
import { csrfToken } from "../api/client";
import { text } from "../text";
import { Account } from "../ui/account";
import { Dialog } from "../ui/dialog";
import { DEV_WALLET, type Provider } from "./wallets";

const CHOSEN = "bas.dev-wallet.account";
const USER_REJECTED = 4001;
const ICON =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#ffd23f"/><path d="M7 11h18v12H7zM19 15h6v4h-6z" fill="#241a00"/></svg>',
  );

type Question = { accounts: string[]; answer: (account: string | null) => void };
const question = signal<Question | null>(null);
const listeners = new Map<string, Set<(value: unknown) => void>>();

/** Make the dev wallet known, now and whenever a page asks. */
export function announce(): void {
  const info = {
    uuid: crypto.randomUUID(),
    name: text.wallet.dev.name,
    icon: ICON,
    rdns: DEV_WALLET,
  };
  const tell = () =>
    dispatchEvent(
      new CustomEvent("eip6963:announceProvider", {
        detail: Object.freeze({ info, provider }),
      }),
    );
  addEventListener("eip6963:requestProvider", tell);
  tell();
}

const provider: Provider = {
  async request({ method, params = [] }) {
    if (method === "eth_requestAccounts") return [await chooseAccount()];
    if (method === "eth_accounts") return chosen() ? [chosen()] : [];
    if (method === "wallet_switchEthereumChain") return null;
    return relay(method, params);
  },
  on(event, listener) {
    const all = listeners.get(event) ?? new Set();
    listeners.set(event, all.add(listener as (value: unknown) => void));
  },
  removeListener(event, listener) {
    listeners.get(event)?.delete(listener as (value: unknown) => void);
  },
};

/** A tab has an account of its own, and keeps it when it is loaded again. */
const chosen = () => sessionStorage.getItem(CHOSEN);

async function chooseAccount(): Promise<string> {
  const accounts = (await relay("eth_accounts", [])) as string[];
  const account = await new Promise<string | null>((answer) => {
    question.value = { accounts, answer };
  });
  question.value = null;
  if (!account) throw Object.assign(new Error("refused"), { code: USER_REJECTED });
  sessionStorage.setItem(CHOSEN, account);
  for (const listener of listeners.get("accountsChanged") ?? []) listener([account]);
  return account;
}

async function relay(method: string, params: unknown): Promise<unknown> {
  const response = await fetch("/dev/rpc", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = await response.json();
  if (error) throw Object.assign(new Error(error.message), { code: error.code, data: error.data });
  return result;
}

/** The dialog in which the account is chosen. */
export function DevWallet() {
  const asked = question.value;
  if (!asked) return null;
  return (
    <Dialog title={text.wallet.dev.choose} onClose={() => asked.answer(null)}>
      <p>{text.wallet.dev.hint}</p>
      <ul class="choices">
        {asked.accounts.map((account) => (
          <li key={account}>
            <button type="button" class="choice" onClick={() => asked.answer(account)}>
              <Account address={account} />
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
