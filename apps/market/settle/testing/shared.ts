// Tests only: the parts of a world that the files of one process share, and the stand-ins for its
// chains.

import assert from 'node:assert/strict';
import { before } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { shared } from '@parley/verify/test/support/shared.ts';
import { type Answer, type Deal, startWorld, type World } from './world.ts';

// A machine that is slow for a while is not what is tested.
const worlds = shared(
  () => startWorld({ settings: { chainTimeoutMs: 60_000 } }),
  (world) => world.close(),
);

/** The world of this process, once tests begin. No swap of a file before is followed. */
export function sharedWorld(): World {
  const take = worlds();
  const world = {} as World;
  before(async () => {
    Object.assign(world, await take());
    await followNone(world);
  });
  return world;
}

/** The swaps so far are over, as far as the market is concerned. */
export async function followNone({ deps }: World): Promise<void> {
  for (const table of ['swaps', 'escrows']) {
    await deps.db.rows({ name: '', text: `update ${table} set done = true`, values: [] });
  }
}

/** While `work` runs, these adapters are altered. */
export async function altered<R>(
  { deps }: World,
  alter: Readonly<Record<string, (adapter: ChainAdapter) => Partial<ChainAdapter>>>,
  work: () => Promise<R>,
): Promise<R> {
  const adapters = deps.adapters as Map<string, ChainAdapter>;
  const real = new Map(adapters);
  for (const [chain, other] of Object.entries(alter)) {
    const adapter = adapters.get(chain) as ChainAdapter;
    adapters.set(chain, { ...adapter, ...other(adapter) });
  }
  try {
    return await work();
  } finally {
    for (const [chain, adapter] of real) adapters.set(chain, adapter);
  }
}

export const legPath = (deal: Deal, leg: 'long' | 'short', verb: string) =>
  `/v1/swaps/${deal.id}/legs/${deal[leg]}/${verb}`;

export function refused({ status, code }: Answer, ...expected: [number, string]): void {
  assert.deepEqual([status, code], expected);
}

export async function emptyBlocks({ bitcoinRpc, faucetRpc }: World, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) {
    // Each to somebody else: the same block as one that was taken back would be refused.
    await bitcoinRpc('generateblock', [await faucetRpc<string>('getnewaddress'), []]);
  }
}

/** Whether a swap is over, falls due, and how many of its escrows are followed. */
export async function endOf({ deps }: World, { id }: Deal) {
  const [row] = await deps.db.rows<{ done: boolean; due: boolean; open: number }>({
    name: 'test_end_of',
    text: `select done, due_at is not null as due,
        (select count(*) from escrows where swap_id = swaps.id and not done)::int as open
      from swaps where id = $1`,
    values: [id],
  });
  return row;
}
