/** Which wallets this browser has: EIP-6963 (https://eips.ethereum.org/EIPS/eip-6963). */
import { signal } from "@preact/signals";

/** What every wallet understands: EIP-1193 (https://eips.ethereum.org/EIPS/eip-1193). */
export type Provider = {
  request(call: { method: string; params?: unknown }): Promise<unknown>;
  on?(event: string, listener: (value: never) => void): void;
  removeListener?(event: string, listener: (value: never) => void): void;
};
/** `rdns` names a wallet for good; `icon` is a data: URL. */
export type Wallet = {
  info: { uuid: string; name: string; icon: string; rdns: string };
  provider: Provider;
};

/** Wallets that have made themselves known, in the order in which they did. */
export const wallets = signal<Wallet[]>([]);

/** The dev wallet's name for good (wallet/dev.tsx). */
export const DEV_WALLET = "local.bas.dev-wallet";
/** The wallet of a browser that has only `window.ethereum`. */
const INJECTED = "window.ethereum";

/** Ask wallets to make themselves known. */
export function discover(): void {
  addEventListener("eip6963:announceProvider", (event) => {
    const wallet = (event as CustomEvent<Wallet>).detail;
    const known = wallets.value.some((other) => other.info.uuid === wallet.info.uuid);
    if (!known) wallets.value = [...wallets.value, wallet];
  });
  dispatchEvent(new Event("eip6963:requestProvider"));
}

/** All wallets to choose from, the one of `window.ethereum` only where no real one speaks. */
export function choices(name: string): Wallet[] {
  const injected = (window as { ethereum?: Provider }).ethereum;
  const isAnnounced = wallets.value.some(({ info }) => info.rdns !== DEV_WALLET);
  if (isAnnounced || !injected) return wallets.value;
  const info = { uuid: INJECTED, name, icon: "", rdns: INJECTED };
  return [{ info, provider: injected }, ...wallets.value];
}
