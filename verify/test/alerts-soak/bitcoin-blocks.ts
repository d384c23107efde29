// Blocks of a real bitcoind that are taken back, and others in their place.

import { randomBytes } from 'node:crypto';
import { type Rpc, rpcTo } from '@parley/dev/devnet/rpc.ts';
import type { Stage } from '../support/stage.ts';

export function bitcoinRpc({ place }: Stage): Rpc {
  return rpcTo(place.bitcoin.rpcUrl);
}

/** Forgets the last blocks; their transactions are in the mempool again. */
export async function invalidate(rpc: Rpc, blocks: number): Promise<void> {
  const height = await rpc<number>('getblockcount');
  await rpc('invalidateblock', [await rpc('getblockhash', [height - blocks + 1])]);
}

/** Blocks with nothing in them. */
export async function otherBlocks(rpc: Rpc, blocks: number): Promise<void> {
  for (let at = 0; at < blocks; at += 1) {
    // Never a block that was refused before: each pays a script of its own.
    const to = `raw(51${'20'}${randomBytes(32).toString('hex')})`;
    const { descriptor } = await rpc<{ descriptor: string }>('getdescriptorinfo', [to]);
    await rpc('generateblock', [descriptor, []]);
  }
}
