// One run of a swap at a time: what is stopped is stopped, however often it was begun.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import type { Cli } from '../cli/io.ts';
import type { Session, Unlocked } from '../cli/session.ts';
import type { ParleyClient } from '../sdk/client.ts';
import { createDriver } from './driver.ts';

const swapId = 's-1';
const asset = (chain: string) => ({ id: chain, chain, token: null, decimals: 8 });
const trade = {
  ...{ party: 'taker', direction: 'sell_base', threadId: 't-1' },
  ...{ base: asset('one'), baseAmount: 1n, quote: asset('other'), quoteAmount: 2n },
  ...{ refundTo: { address: 'a', pubkey: null }, payTo: { address: 'b', pubkey: null } },
};

test('a swap that two calls begin at once is one run, and stopping it leaves none', async (t) => {
  const data = await mkdtemp(join(tmpdir(), 'parley-mcp-driver-'));
  t.after(() => rm(data, { recursive: true }));
  let held = 0;
  const store = {
    swapIds: async () => [swapId],
    getSwap: async () => ({ trade }),
    // Released once nothing runs.
    lock: async () => {
      held += 1;
      return { release: async () => void (held -= 1) };
    },
  };
  // A node that is away: a run waits and asks again, until it is stopped.
  const source = async () => {
    throw new Error('the node is away');
  };
  const session = {
    ...{ profile: { chains: {} }, source, now: () => 1_000 },
    places: { data, ended: join(data, 'ended') },
  } as unknown as Session;
  const client = { swaps: async () => ({ swaps: [], nextCursor: null }) };
  const driver = createDriver({
    ...{ session, note: () => {}, client: client as unknown as ParleyClient },
    cli: { err: () => {}, signal: new AbortController().signal } as unknown as Cli,
    own: { store } as unknown as Unlocked,
  });
  await Promise.all([driver.drive(swapId), driver.drive(swapId)]);
  assert.equal(held, 1);
  await driver.stop(swapId);
  await settled();
  assert.equal(held, 0);
  await driver.close();
});
