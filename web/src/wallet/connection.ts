/** The wallet in use: connecting, signing in and out, and noticing what changes in the wallet. */
import { computed, signal } from "@preact/signals";
import { post, type Schema, Told } from "../api/client";
import { knownChain, player, refreshCredits } from "../session";
import { text } from "../text";
import { choices, type Provider, type Wallet, wallets } from "./wallets";

type Connection = { wallet: Wallet; account: string; chainId: number };

/** The wallet in use, its account (lower case) and network; null if none is connected. */
export const connection = signal<Connection | null>(null);
/** Whether the dialog to choose a wallet is open. */
export const isChoosing = signal(false);

/** What is different in the wallet from what the site is signed in with. */
export const mismatch = computed<"account" | "network" | null>(() => {
  const now = connection.value;
  if (!now || !player.value) return null;
  if (now.account !== player.value.toLowerCase()) return "account";
  return siteChainId.value && now.chainId !== siteChainId.value ? "network" : null;
});
const siteChainId = signal(0);

const REMEMBERED = "bas.wallet";
const RECONNECT_MS = 3_000;

/** A sentence for whatever a wallet has thrown (EIP-1193, EIP-1474 and what viem wraps). */
export class WalletError extends Told {}

/** Call a wallet. Raises WalletError with a sentence for the player. */
export async function ask<T>(provider: Provider, method: string, params?: unknown): Promise<T> {
  try {
    return (await provider.request({ method, ...(params === undefined ? {} : { params }) })) as T;
  } catch (error) {
    throw walletError(error);
  }
}

/** What a wallet or viem has thrown, as a WalletError. */
export function walletError(error: unknown): Error {
  if (error instanceof WalletError) return error;
  for (let cause = error as Cause | undefined; cause; cause = cause.cause) {
    const said = text.wallet.errors[String(cause.code)];
    if (said) return new WalletError(said);
  }
  const reason = (error as Cause).shortMessage ?? (error as Cause).message;
  return new WalletError(text.wallet.failed(reason ?? ""));
}
type Cause = { code?: number; message?: string; shortMessage?: string; cause?: Cause };

/** Connect a wallet and sign in with its account: EIP-4361, docs/login.md. */
export async function connect(wallet: Wallet): Promise<void> {
  await attach(wallet, await ask<string[]>(wallet.provider, "eth_requestAccounts"));
  await switchNetwork();
  await signIn();
}

/** Sign in with the account that the wallet is on now. */
export async function signIn(): Promise<void> {
  const now = connection.value;
  if (!now) return;
  const { signInMessage } = await import("./siwe");
  const { message, params } = signInMessage(now.account, await post("auth/nonce"));
  const signature = await ask<string>(now.wallet.provider, "personal_sign", params);
  const { wallet } = await post("auth/login", { message, signature });
  player.value = wallet.address;
  await refreshCredits();
}

/** Sign out of the site, and leave the wallet. */
export async function signOut(): Promise<void> {
  await post("auth/logout");
  localStorage.removeItem(REMEMBERED);
  connection.value = null;
  player.value = "";
  await refreshCredits();
}

/** Have the wallet on the site's network: switch to it (EIP-3326), or add it first (EIP-3085). */
export async function switchNetwork(): Promise<void> {
  const now = connection.value;
  const chain = await knownChain();
  siteChainId.value = chain.chain_id;
  if (!now || now.chainId === chain.chain_id) return;
  const { provider } = now.wallet;
  const chainId = `0x${chain.chain_id.toString(16)}`;
  try {
    await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
  } catch (error) {
    if (!isUnknownChain(error)) throw walletError(error);
    await ask(provider, "wallet_addEthereumChain", [addition(chain, chainId)]);
    await ask(provider, "wallet_switchEthereumChain", [{ chainId }]);
  }
  connection.value = { ...now, chainId: await chainIdOf(provider) };
}

/** Connect to the wallet of the last visit again, if it still lets us, without asking anybody. */
export async function reconnect(): Promise<void> {
  const rdns = localStorage.getItem(REMEMBERED);
  const wallet = choices(text.wallet.injected).find((one) => one.info.rdns === rdns);
  if (!wallet || connection.value || !player.value) return;
  const accounts = await ask<string[]>(wallet.provider, "eth_accounts").catch(() => []);
  if (!accounts.length) return;
  siteChainId.value = (await knownChain()).chain_id;
  await attach(wallet, accounts);
}

/** The wallet in use. Raises Told, and lets the player choose one, if there is none. */
export async function inUse(): Promise<Connection> {
  // A page that has just been loaded finds the wallet of the last visit a moment later.
  const until = Date.now() + RECONNECT_MS;
  while (!connection.value && localStorage.getItem(REMEMBERED) && Date.now() < until)
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS / 30));
  if (connection.value) return connection.value;
  isChoosing.value = true;
  throw new Told(text.wallet.reconnect);
}

/** Reconnect as soon as the wallet has made itself known. */
export function keepReconnecting(): void {
  wallets.subscribe(() => void reconnect());
}

async function attach(wallet: Wallet, accounts: string[]): Promise<void> {
  const account = accounts[0]?.toLowerCase();
  if (!account) throw new WalletError(text.wallet.noAccount);
  connection.value = { wallet, account, chainId: await chainIdOf(wallet.provider) };
  localStorage.setItem(REMEMBERED, wallet.info.rdns);
  if (!heard.has(wallet.provider)) listen(wallet.provider);
}

const heard = new WeakSet<Provider>();

function listen(provider: Provider): void {
  heard.add(provider);
  provider.on?.("accountsChanged", (accounts: string[]) => {
    const now = connection.value;
    if (now?.wallet.provider !== provider) return;
    const account = accounts[0]?.toLowerCase();
    connection.value = account ? { ...now, account } : null;
  });
  provider.on?.("chainChanged", (chainId: string) => {
    const now = connection.value;
    if (now?.wallet.provider === provider)
      connection.value = { ...now, chainId: Number.parseInt(chainId, 16) };
  });
}

async function chainIdOf(provider: Provider): Promise<number> {
  return Number.parseInt(await ask<string>(provider, "eth_chainId"), 16);
}

/** Code 4902, or an internal error around it, as some wallets on phones say. */
function isUnknownChain(error: unknown): boolean {
  const { code, data } = error as { code?: number; data?: { originalError?: { code?: number } } };
  return code === 4902 || data?.originalError?.code === 4902;
}

function addition(chain: Schema["Chain"], chainId: string): Record<string, unknown> {
  const coin = chain.tokens.find((token) => /^0x0+$/.test(token.address));
  return {
    chainId,
    chainName: chain.name,
    rpcUrls: chain.public_rpc_url ? [chain.public_rpc_url] : [],
    nativeCurrency: {
      name: coin?.symbol ?? "ETH",
      symbol: coin?.symbol ?? "ETH",
      decimals: coin?.decimals ?? 18,
    },
  };
}
