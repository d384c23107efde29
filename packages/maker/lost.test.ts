// A swap of the maker whose own leg was taken while its nodes were away: a person is told. On paper
// chains.

import assert from 'node:assert/strict';
import { paperScene } from '@parley/sdk/testing/paper-scene.ts';
import { timed } from '@parley/sdk/testing/timed.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import type { SettlingInput } from './settling.ts';
import { dealOf, settlingOf } from './testing/stage.ts';

timed('a leg that was taken, and nothing paid for it, ends as lost and is an error', async () => {
  const scene = await paperScene('maker', { theirsAt: Infinity, stepSeconds: 20 });
  const { swapId, trade, store, client, chains } = scene.input;
  assert.ok(trade);
  const { threadId } = trade;
  await store.putTrade(trade);
  const deal = dealOf(threadId, swapId, scene.wall);
  const { begin, deals, promises, lines, end } = settlingOf(deal, {
    store,
    client,
    chains: chains as SettlingInput['chains'],
    now: () => scene.wall * 1_000,
  });
  const until = (is: () => boolean) =>
    waitUntil(async () => {
      await scene.input.now?.();
      return is();
    });
  const { a, b } = scene.chains;
  begin(deal);
  await until(() => a.mined.length > 0 && a.height > 40);
  Object.assign(scene, { theirsAt: 0, stepSeconds: 600 });
  a.node = 'gone';
  b.node = 'gone';
  await until(() => scene.endOf('b') !== null);
  a.node = 'well';
  b.node = 'well';
  await until(() => promises.open.size === 0);
  assert.deepEqual([deals.get(threadId)?.end, scene.endOf('a')], ['lost', 'claimed']);
  const ended = lines.map((line) => JSON.parse(line)).find(({ event }) => event === 'ended');
  assert.deepEqual([ended?.level, ended?.end], ['error', 'lost']);
  await end();
});
