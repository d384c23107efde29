// The one line of a swap that is driven: what is wrong with its nodes stands there while it lasts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LegName } from '../core/trade.ts';
import type { Doubt } from '../sdk/evidence/judge.ts';
import type { LegSeen } from '../sdk/settle/record.ts';
import { keptRecord, now } from '../sdk/testing/honest.ts';
import { lineOf } from './progress.ts';

const { swap, trade } = keptRecord('taker');

function line(doubts: Partial<Record<LegName, readonly Doubt[]>>): string {
  const legs = Object.entries(doubts).map(([name, each]) => {
    return [name as LegName, { evidence: { doubts: each } } as unknown as LegSeen] as const;
  });
  const shown = { swap, trade, legs: new Map(legs) };
  const known = { swapId: swap.id, what: '1 for 2', state: 'funded', text: 'waits' } as const;
  return lineOf({ ...known, shown }, now, 1_000);
}

test('a line says what is wrong with the nodes in the place of what was done last', () => {
  assert.match(line({ a: [] }), /^…00000001 {2}1 for 2 {2}funded {2}claim by \S+ {2}waits$/);
  const stands: Doubt = { code: 'chain_stands', sentence: 'the newest block is 7200 s older' };
  const behind: Doubt = { code: 'node_behind', sentence: 'node 2 stands at block 7' };
  assert.match(
    line({ a: [stands], b: [behind] }),
    / {2}the newest block is 7200 s older; node 2 stands at block 7$/,
  );
});
