// The fields of the tool `swap` beside the market's words: the errors of the own nodes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { honestSwap } from '@parley/sdk/testing/honest.ts';
import type { Desk } from '../desk.ts';
import type { Driven } from '../driver.ts';
import { swapOut } from '../schemas.ts';
import { swapView } from './views.ts';

const swap = honestSwap('taker');

function shownBy(driven: Driven | null) {
  const held = {
    driver: { of: () => driven },
    own: { store: { getSwap: async () => null } },
  };
  const names = { of: () => ({ name: 'ethereum:USDC', decimals: 6, pinned: true }) };
  const desk = { held, userId: swap.takerId, names: async () => names } as unknown as Desk;
  return swapView(desk, swap);
}

test('a swap shows what is wrong with nodes while its driver says so', async () => {
  const said = { untrusted: 'leg a: chain_stands: its newest block is 7200 s older than now' };
  const running = {
    state: 'running',
    step: 'waiting',
    txid: null,
    said: { untrusted: '' },
  } as const;
  const shown = await shownBy({ ...running, at: 0, doubts: [said] });
  assert.deepEqual(shown.doubts, [said]);
  const { driven } = swapOut.strict().parse(shown);
  assert.ok(driven !== null && !('doubts' in driven));
  assert.deepEqual((await shownBy(null)).doubts, []);
});
