// The chains of a maker's settings, and of what it has open.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mustHaveChains } from './chains.ts';

test('a maker does not start without a chain that something open needs, and says for what', async () => {
  const trade = { base: { chain: 'bitcoin' }, quote: { chain: 'base' } };
  const store = {
    getSwap: async (id: string) => {
      if (id === 'damaged') throw new Error('not readable');
      return id === 'kept' ? { trade } : null;
    },
    getTrade: async (id: string) => (id === 'thread 2' ? trade : null),
  } as never;
  const named = [{ chain: 'bitcoin' }];
  const deal = (threadId: string, swapId: string | null, end: string | null = null) =>
    ({ threadId, swapId, end }) as never;
  const start = (...deals: never[]) => mustHaveChains(named, store, deals);
  await start(deal('thread 1', 'kept', 'received'), deal('thread 3', null));
  // Its trade is kept beside it.
  await assert.rejects(start(deal('thread 2', 'damaged')), { message: /for swap damaged/ });
  await start(deal('thread 3', 'damaged'));
  const missing = {
    name: 'ChainMissing',
    message: /no chain "base" for swap kept, thread thread 2/,
  };
  const accepted = deal('thread 2', null);
  await assert.rejects(start(deal('thread 1', 'kept'), accepted), missing);
  await mustHaveChains([...named, { chain: 'base' }], store, [accepted]);
});
