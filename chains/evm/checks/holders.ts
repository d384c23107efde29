// Somebody who holds a token now, where no balance can be lent.

import type { Rpc } from '../../nodes/rpc.ts';
import { RpcError } from '../../nodes/rpc.ts';
import { addressIn } from '../../tokens/words.ts';
import { headBlock, logsOf } from '../node.ts';
import { askWord, callData } from './ask.ts';

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** Blocks looked back, a few first: a busy token shows holders there already. */
const windows = [50, 1_000, 5_000] as const;
const mostHolders = 8;
const mostBytes = 4 * 2 ** 20;

export type Holding = { readonly holder: string; readonly balance: bigint };

export async function recentHolder(
  rpc: Rpc,
  token: string,
  signal: AbortSignal,
): Promise<Holding | null> {
  const { number: head } = await headBlock(rpc, signal);
  let best: Holding | null = null;
  for (const window of windows) {
    for (const holder of await receivers(rpc, token, Math.max(0, head - window), head, signal)) {
      // One of whom the token says nothing is no holder.
      const balance = await askWord(rpc, token, callData('balanceOf(address)', holder), signal);
      if (balance !== null && balance > (best?.balance ?? 0n)) best = { holder, balance };
    }
    if (best !== null) return best;
  }
  return null;
}

async function receivers(
  rpc: Rpc,
  token: string,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<string[]> {
  const short: Rpc = {
    ...rpc,
    call: (method, params, by) => rpc.call(method, params, by, { mostBytes }),
  };
  try {
    const logs = await logsOf(short, { address: token, topics: [transferTopic] }, from, to, signal);
    const named = logs.flatMap(({ topics }) => {
      const address = addressIn(BigInt(topics[2] ?? 0));
      return address === null || BigInt(address) === 0n ? [] : [address];
    });
    return [...new Set(named.reverse())].slice(0, mostHolders);
  } catch (error) {
    if (error instanceof RpcError) return [];
    throw error;
  }
}
