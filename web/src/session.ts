/** Who is signed in and what they own: signals that pages read. */
import { computed, signal } from "@preact/signals";
import { ApiError, get, type Schema } from "./api/client";

const shell = document.documentElement.dataset;

/** Whether this is a developer's stack, on which Anvil's accounts may be used as wallets. */
export const development = shell.environment === "development";
/** The address that is signed in, in EIP-55 form; empty for nobody. */
export const player = signal(shell.player ?? "");
export const signedIn = computed(() => player.value !== "");
/** Credits of the player; null until they are known. */
export const credits = signal<Schema["Credits"] | null>(null);
/** The chain that the site lives on; null until it is known. */
export const chain = signal<Schema["Chain"] | null>(null);

/** Ask for the player's credits anew; forget them if nobody is signed in. */
export async function refreshCredits(): Promise<void> {
  if (!player.value) {
    credits.value = null;
    return;
  }
  try {
    credits.value = await get("credits");
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) player.value = "";
  }
}

/** Ask once which chain it is; later calls share the answer. */
export async function knownChain(): Promise<Schema["Chain"]> {
  chain.value ??= await get("chain");
  return chain.value;
}
