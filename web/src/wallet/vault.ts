/** The vault and its coins, through the player's wallet: docs/vault.md. */
import {
  type Address,
  createPublicClient,
  createWalletClient,
  custom,
  defineChain,
  type Hash,
  type Hex,
  parseAbi,
} from "viem";
import { type Schema, Told } from "../api/client";
import { text } from "../text";
import { inUse, switchNetwork, walletError } from "./connection";

export const VAULT_ABI = parseAbi([
  "function deposit() payable",
  "function depositToken(address token, uint256 amount)",
  "function withdraw(address player, address token, uint256 amount, uint256 id, uint256 deadline, bytes signature)",
]);
export const TOKEN_ABI = parseAbi([
  "function balanceOf(address account) view returns (uint256)",
  "function allowance(address owner, address spender) view returns (uint256)",
  "function approve(address spender, uint256 value) returns (bool)",
]);
const NATIVE = "0x0000000000000000000000000000000000000000";
const RECEIPT_POLL_MS = 1_000;

/** What is happening: which transaction, and how far it is. */
export type Stage = {
  doing: "approve" | "deposit" | "redeem";
  at: "asking" | "sent" | "mined";
  hash?: Hash;
};
type Tell = (stage: Stage) => void;

/** What the player holds of a coin, in its smallest unit. Raises WalletError. */
export async function holding(chain: Schema["Chain"], token: Schema["Token"]): Promise<bigint> {
  const { reader, account } = await clients(chain);
  return token.address === NATIVE
    ? reader.getBalance({ address: account })
    : reader.readContract({
        address: token.address as Address,
        abi: TOKEN_ABI,
        functionName: "balanceOf",
        args: [account],
      });
}

/**
 * Deposit credits' worth of a coin, with an approval first where one is missing; returns the
 * deposit's transaction hash once it is mined. Raises WalletError with a sentence for the player.
 */
export async function deposit(
  chain: Schema["Chain"],
  token: Schema["Token"],
  credits: number,
  tell: Tell,
): Promise<Hash> {
  const vault = { address: chain.vault as Address, abi: VAULT_ABI };
  const amount = BigInt(credits) * BigInt(token.credit_price);
  if (token.address === NATIVE)
    return transact(chain, "deposit", tell, { ...vault, functionName: "deposit", value: amount });
  const coin = { address: token.address as Address, abi: TOKEN_ABI };
  const { reader, account } = await clients(chain);
  const allowed = await reader.readContract({
    ...coin,
    functionName: "allowance",
    args: [account, vault.address],
  });
  if (allowed < amount) {
    const args = [vault.address, amount] as const;
    await transact(chain, "approve", tell, { ...coin, functionName: "approve", args });
  }
  const args = [coin.address, amount] as const;
  return transact(chain, "deposit", tell, { ...vault, functionName: "depositToken", args });
}

/** Send a voucher to the vault; returns the transaction's hash once it is mined. */
export async function redeem(
  chain: Schema["Chain"],
  voucher: Schema["Voucher"],
  tell: Tell,
): Promise<Hash> {
  return transact(chain, "redeem", tell, {
    address: voucher.vault as Address,
    abi: VAULT_ABI,
    functionName: "withdraw",
    args: [
      voucher.player as Address,
      voucher.token as Address,
      BigInt(voucher.amount),
      BigInt(voucher.id),
      BigInt(voucher.deadline),
      voucher.signature as Hex,
    ],
  });
}

type Call = {
  address: Address;
  abi: typeof VAULT_ABI | typeof TOKEN_ABI;
  functionName: string;
  args?: readonly unknown[];
  value?: bigint;
};

/** Try a call, have it signed and sent, and wait until it is mined. */
async function transact(
  chain: Schema["Chain"],
  doing: Stage["doing"],
  tell: Tell,
  call: Call,
): Promise<Hash> {
  const { reader, writer, account } = await clients(chain);
  try {
    // Tried first: what would fail is refused here, with its reason, and costs no gas.
    const { request } = await reader.simulateContract({
      ...(call as never as object),
      account,
    } as never);
    tell({ doing, at: "asking" });
    const hash = await writer.writeContract(request as never);
    tell({ doing, at: "sent", hash });
    const receipt = await reader.waitForTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Told(text.credits.reverted);
    tell({ doing, at: "mined", hash: receipt.transactionHash });
    return receipt.transactionHash;
  } catch (error) {
    throw walletError(error);
  }
}

/** One to read and one to write, both through the connected wallet, on the site's network. */
async function clients(chain: Schema["Chain"]) {
  const now = await inUse();
  await switchNetwork();
  const coin = chain.tokens.find((token) => token.address === NATIVE);
  const viemChain = defineChain({
    id: chain.chain_id,
    name: chain.name,
    nativeCurrency: {
      name: "Ether",
      symbol: coin?.symbol ?? "ETH",
      decimals: coin?.decimals ?? 18,
    },
    rpcUrls: { default: { http: [] } },
  });
  const account = now.account as Address;
  const transport = custom(now.wallet.provider as never);
  return {
    account,
    reader: createPublicClient({ chain: viemChain, transport, pollingInterval: RECEIPT_POLL_MS }),
    writer: createWalletClient({ account, chain: viemChain, transport }),
  };
}
