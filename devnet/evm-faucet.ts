// Gifts on an EVM dev chain: ether from the first well-known account, tokens by minting them.
import { setTimeout as sleep } from 'node:timers/promises';
import { getAddress, isAddress } from 'viem';
import { DevnetError, RefusedRequest } from '../host/failure.ts';
import type { AnvilNode } from './anvil.ts';
import type { DevToken, Gift } from './dev-chain.ts';
import { RpcError } from './rpc.ts';

/** The first account of anvil's well-known mnemonic; it deploys and it gives. */
export const faucetAddress = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
export const faucetPrivateKey =
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

const wei = 10n ** 18n;
const defaultGiftWei = 100n * wei;
const giftLimitWei = 10_000n * wei;
const defaultGiftTokens = 1_000_000n;
const giftLimitTokens = 1_000_000_000n;
const receiptLimitMs = 10_000;
const receiptPollMs = 20;

/** Mined when it returns, also while the chain does not mine by itself. */
export async function sendGift(
  node: AnvilNode,
  tokens: readonly DevToken[],
  gift: Gift,
  automatic: boolean,
): Promise<{ txid: string; amount: bigint }> {
  const { address } = gift;
  if (!isAddress(address, { strict: true })) {
    throw new RefusedRequest(400, `${address} is not an EVM address (or its checksum is wrong).`);
  }
  const { call, amount } = gift.token === null ? ether(gift) : minting(tokens, gift);
  const txid = await node
    .rpc<string>('eth_sendTransaction', [{ from: faucetAddress, ...call }])
    .catch((error: unknown) => {
      if (!(error instanceof RpcError)) throw error;
      throw new RefusedRequest(409, `The faucet cannot send now: ${error.message}`);
    });
  if (!automatic) await node.rpc('evm_mine');
  await untilMined(node, txid);
  return { txid, amount };
}

type Sending = {
  readonly call: { to: string; value?: string; data?: string };
  readonly amount: bigint;
};

function ether({ address, amount }: Gift): Sending {
  const value = amount ?? defaultGiftWei;
  checkLimit(value, giftLimitWei, 'wei');
  return { call: { to: address, value: `0x${value.toString(16)}` }, amount: value };
}

/** `mint(address,uint256)` of the dev tokens, open to everyone. */
function minting(tokens: readonly DevToken[], { address, token, amount }: Gift): Sending {
  const known = tokens.find((entry) => entry.address.toLowerCase() === token?.toLowerCase());
  if (known === undefined) throw new RefusedRequest(400, `The faucet has no token ${token}.`);
  const unit = 10n ** BigInt(known.decimals);
  const value = amount ?? defaultGiftTokens * unit;
  checkLimit(value, giftLimitTokens * unit, `units of ${known.symbol}`);
  const to = getAddress(address).slice(2).toLowerCase().padStart(64, '0');
  const data = `0x40c10f19${to}${value.toString(16).padStart(64, '0')}`;
  return { call: { to: known.address, data }, amount: value };
}

function checkLimit(value: bigint, limit: bigint, unit: string): void {
  if (value >= 1n && value <= limit) return;
  throw new RefusedRequest(400, `The faucet gives 1 to ${limit} ${unit} at a time, not ${value}.`);
}

async function untilMined(node: AnvilNode, txid: string): Promise<void> {
  const until = performance.now() + receiptLimitMs;
  while (performance.now() < until) {
    const receipt = await node.rpc<{ status: string } | null>('eth_getTransactionReceipt', [txid]);
    if (receipt?.status === '0x1') return;
    if (receipt !== null) throw new RefusedRequest(409, `The gift ${txid} failed on chain.`);
    await sleep(receiptPollMs);
  }
  throw new DevnetError(`the gift ${txid} was not mined`, { txid });
}
