// The warnings of parties: how long a read waits for it, how much of it is kept, and when it is
// said. The chains are stubs: their answers are the adapters' part, shown in their own tests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { Warning } from '@parley/chains/interface/gas.ts';
import { nextSteps } from '@parley/core/next.ts';
import { clocksAt } from '@parley/core/testing.ts';
import { pino } from 'pino';
import type { Swap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { type Show, shows, stateOf } from './testing/states.ts';
import { createWarnings, withWarnings } from './warnings.ts';

const warningOf = (verb: Warning['verb']): Warning => ({
  code: 'energy_poor',
  verb,
  address: 'someone',
  sentence: `too poor to ${verb}`,
});

/** Leg `b` has this escrow, on the chain `bitcoin`; no other chain warns. */
function swapOf(escrow: string, long: Show = 'nothing', state = stateOf(long, 'nothing')): Swap {
  const { legs } = state;
  const none = { a: null, b: null };
  const swap = { long: 'b', done: false, tokens: none, lanes: none, laneSignatures: none };
  return { ...swap, state: { ...state, legs: { ...legs, b: { ...legs.b, escrow } } } } as never;
}

function warningsOver(chain: string, adapter: Partial<ChainAdapter>) {
  const adapters = new Map([[chain, adapter as ChainAdapter]]);
  const settings = { chainTimeoutMs: 60_000 } as Deps['settings'];
  return createWarnings({ adapters, settings, log: pino({ level: 'silent' }) });
}

/** Warnings over one chain that answers so. */
function warningsBy(answer: () => Promise<readonly Warning[]>) {
  let asked = 0;
  const warnings = () => {
    asked += 1;
    return answer();
  };
  return { of: warningsOver('bitcoin', { warnings }).of, asked: () => asked };
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

test('a funding is warned of until it is made, a claim until it is sent', async () => {
  const { of } = warningsBy(async () => [warningOf('fund'), warningOf('claim')]);
  const verbs = async (swap: Swap) => (await of(swap)).map(({ verb, by }) => `${by} ${verb}`);
  const fund = 'initiator fund';
  const claim = 'counterparty claim';
  for (const [long, ...expected] of [
    ['nothing', fund, claim],
    ['seen', claim],
    ['claiming'], // it was sent, by whomever
    ['claimed'],
    ['refunded'],
  ] as const) {
    assert.deepEqual(await verbs(swapOf('e', long)), expected);
  }
  assert.deepEqual(await verbs({ ...swapOf('e'), done: true }), []);
});

// Leg b is the long one, which the initiator funds: by 100; the counterparty its own by 200.
for (const [role, leg, sendBy] of [
  ['initiator', 'b', 100],
  ['counterparty', 'a', 200],
] as const) {
  test(`a funding of the ${role} that no block takes is named on its own step, and to nobody else`, async () => {
    const asked: unknown[] = [];
    const stuckFunding: ChainAdapter['stuckFunding'] = async ({ address }, by) => {
      asked.push([address, by]);
      return { code: 'fund_stuck', verb: 'fund', address, sentence: 'no block takes it' };
    };
    const { of } = warningsOver(leg === 'b' ? 'bitcoin' : 'evm', { stuckFunding });
    const toldAt = async (confirmations: number) => {
      const funded = { txid: 's'.repeat(64), confirmations, deep: false };
      const state = stateOf(leg === 'b' ? 'nothing' : 'funded', 'nothing');
      const own = { ...state.legs[leg], facts: { ...shows.seen, funded } };
      const swap = swapOf('b', 'nothing', { ...state, legs: { ...state.legs, [leg]: own } });
      return withWarnings(nextSteps(swap.state, clocksAt(50)), await of(swap)).flatMap((step) =>
        (step.warnings ?? []).map((warning) => [step.by, step.action, step.leg, warning]),
      );
    };
    const told = { code: 'fund_stuck', text: 'no block takes it' };
    assert.deepEqual(await toldAt(0), [[role, 'wait', leg, told]]);
    assert.deepEqual(asked, [[leg, sendBy]]);
    assert.deepEqual(await toldAt(1), [], 'a block took it');
  });
}
