// What parties are warned of: how long a read waits for it, how much of it is kept, and when it is
// said. The chains are stubs: what they say is the adapters' part, shown in their own tests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import type { ChainAdapter, Warning } from '../../chains/adapter.ts';
import type { Swap } from '../db/swaps.ts';
import type { Deps } from '../deps.ts';
import { type Show, stateOf } from './testing/states.ts';
import { createWarnings } from './warnings.ts';

const warningOf = (verb: Warning['verb']): Warning => ({
  code: 'energy_poor',
  verb,
  address: 'someone',
  sentence: `too poor to ${verb}`,
});

/** Leg `b` has this escrow, on the chain `bitcoin`; no other chain warns. */
function swapOf(escrow: string, long: Show = 'nothing'): Swap {
  const { legs, ...state } = stateOf(long, 'nothing');
  const swap = {
    long: 'b',
    done: false,
    tokens: { a: null, b: null },
    state: { ...state, legs: { ...legs, b: { ...legs.b, escrow } } },
  };
  return swap as unknown as Swap;
}

/** Warnings over one chain that answers so. */
function warningsBy(answer: () => Promise<readonly Warning[]>) {
  let asked = 0;
  const warnings = () => {
    asked += 1;
    return answer();
  };
  const deps = {
    adapters: new Map([['bitcoin', { warnings } as unknown as ChainAdapter]]),
    settings: { chainTimeoutMs: 60_000 },
    log: pino({ level: 'silent' }),
  };
  return { of: createWarnings(deps as unknown as Deps).of, asked: () => asked };
}

test('a read waits half a second for warnings and no more; the next one has them', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const slow = Promise.withResolvers<readonly Warning[]>();
  const { of, asked } = warningsBy(() => slow.promise);
  let found: unknown = null;
  const reading = of(swapOf('e')).then((each) => {
    found = each;
  });
  await turn();
  context.mock.timers.tick(499);
  await turn();
  assert.equal(found, null);
  context.mock.timers.tick(1);
  await turn();
  assert.deepEqual(found, []);
  await reading;
  slow.resolve([warningOf('claim')]);
  assert.deepEqual(
    (await of(swapOf('e'))).map(({ leg, code, text }) => [leg, code, text]),
    [['b', 'energy_poor', 'too poor to claim']],
  );
  assert.equal(asked(), 1);
});

test('a thousand escrows are kept: one more pushes the oldest out', async () => {
  const { of, asked } = warningsBy(async () => []);
  for (let at = 0; at < 1_000; at += 1) await of(swapOf(`e${at}`));
  await of(swapOf('e0'));
  assert.equal(asked(), 1_000);
  await of(swapOf('e1000'));
  await of(swapOf('e1'));
  assert.equal(asked(), 1_001);
  await of(swapOf('e0'));
  assert.equal(asked(), 1_002);
});

test('a funding is warned of until it is made, a claim until it is sent', async () => {
  const { of } = warningsBy(async () => [warningOf('fund'), warningOf('claim')]);
  const verbs = async (swap: Swap) => (await of(swap)).map(({ verb, by }) => `${by} ${verb}`);
  const claim = 'counterparty claim';
  assert.deepEqual(await verbs(swapOf('e')), ['initiator fund', claim]);
  assert.deepEqual(await verbs(swapOf('e', 'seen')), [claim]);
  assert.deepEqual(await verbs(swapOf('e', 'claiming')), []); // it was sent, by whomever
  assert.deepEqual(await verbs(swapOf('e', 'claimed')), []);
  assert.deepEqual(await verbs(swapOf('e', 'refunded')), []);
  assert.deepEqual(await verbs({ ...swapOf('e'), done: true }), []);
});

test('a chain that fails has no warnings, and no read fails for it', async () => {
  const { of } = warningsBy(() => Promise.reject(new Error('no node')));
  assert.deepEqual(await of(swapOf('e')), []);
});
