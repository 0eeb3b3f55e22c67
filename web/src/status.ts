/** Whether all is well with the connection, the service and the chain. */
import { computed, signal } from "@preact/signals";
import { get } from "./api/client";
import { chain } from "./session";
import { text } from "./text";
import { number } from "./text/format";

/** More blocks than this between the chain's head and what was read are worth a word. */
const BLOCKS_BEHIND = 20;
/** A chain that nobody has looked at for so long is not being read. */
const STOPPED_SECONDS = 90;

const isOnline = signal(navigator.onLine);
const isReady = signal(true);
const isStopped = signal(false);

addEventListener("online", () => {
  isOnline.value = true;
});
addEventListener("offline", () => {
  isOnline.value = false;
});

/** Look at the service and the chain. */
export async function look(): Promise<void> {
  if (!isOnline.value) return;
  try {
    const now = await get("chain");
    chain.value = now;
    isReady.value = true;
    const looked = now.scanned_at ? Date.parse(now.scanned_at) : Date.now();
    isStopped.value = Date.now() - looked > STOPPED_SECONDS * 1000;
  } catch {
    isReady.value = false;
  }
}

/** What there is to say, the worst first; empty if all is well. */
export const trouble = computed<string>(() => {
  const words = text.site.status;
  if (!isOnline.value) return words.offline;
  if (!isReady.value) return words.service;
  const behind = chain.value ? chain.value.head_block - chain.value.scanned_block : 0;
  if (isStopped.value) return words.chainStopped;
  return behind > BLOCKS_BEHIND ? words.chain(number(behind)) : "";
});
