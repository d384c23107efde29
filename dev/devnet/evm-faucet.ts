// Gifts on an EVM dev chain: ether from the first well-known account, tokens by minting them.
import { setTimeout as sleep } from 'node:timers/promises';
import { DevnetError, RefusedRequest } from '@parley/host/failure.ts';
import { getAddress, isAddress } from 'viem';
import type { AnvilNode } from './anvil.ts';
import type { DevToken, Gift } from './dev-chain.ts';
import { amountOf, cannotSend, mintCall, tokenGift } from './faucet.ts';
import { RpcError } from './rpc.ts';

/** The first account of anvil's well-known mnemonic; it deploys and it gives. */
export const faucetAddress = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
export const faucetPrivateKey =
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

const wei = 10n ** 18n;
const ether = { usual: 100n * wei, most: 10_000n * wei, unit: 'wei' };
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
  const { call, amount } = gift.token === null ? coins(gift) : minting(tokens, gift);
  const txid = await node
    .rpc<string>('eth_sendTransaction', [{ from: faucetAddress, ...call }])
    .catch((error: unknown) => {
      if (!(error instanceof RpcError)) throw error;
      throw cannotSend(error);
    });
  if (!automatic) await node.rpc('evm_mine');
  await untilMined(node, txid);
  return { txid, amount };
}

function coins(gift: Gift) {
  const amount = amountOf(gift, ether);
  return { call: { to: gift.address, value: `0x${amount.toString(16)}` }, amount };
}

function minting(tokens: readonly DevToken[], gift: Gift) {
  const { token, amount } = tokenGift(tokens, gift);
  const to = getAddress(gift.address).slice(2).toLowerCase();
  return { call: { to: token, data: `0x${mintCall(to, amount)}` }, amount };
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
