/** The message that a player signs to sign in: EIP-4361, docs/login.md. */
import { getAddress, stringToHex } from "viem";
import { createSiweMessage } from "viem/siwe";
import type { Schema } from "../api/client";
import { text } from "../text";

/** The message, and the parameters of `personal_sign` for it. */
export function signInMessage(
  account: string,
  challenge: Schema["Nonce"],
): { message: string; params: [string, string] } {
  const message = createSiweMessage({
    address: getAddress(account),
    domain: challenge.domain,
    uri: challenge.uri,
    chainId: challenge.chain_id,
    nonce: challenge.nonce,
    statement: text.wallet.statement,
    version: "1",
  });
  return { message, params: [stringToHex(message), account] };
}
