// The lines of a swap that is driven: a doubt about its nodes stands there while it lasts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ToldDoubt } from '@parley/sdk/settle/told.ts';
import { keptRecord, now } from '@parley/sdk/testing/honest.ts';
import { linesOf } from './progress.ts';

const { swap, trade } = keptRecord('taker');

function known(...sentences: string[]) {
  const doubts = sentences.map(
    (sentence): ToldDoubt => ({ leg: 'a', code: 'chain_stands', sentence }),
  );
  const shown = { swap, trade };
  return {
    swapId: swap.id,
    what: '1 for 2',
    state: 'funded',
    text: 'waits',
    shown,
    doubts,
  } as const;
}

test('a line says what is wrong with the nodes in the place of what was done last', () => {
  const line = (...sentences: string[]) => linesOf([known(...sentences)], now, 1_000).join('|');
  assert.match(line(), /^…00000001 {2}1 for 2 {2}funded {2}claim by \S+ {2}waits$/);
  assert.match(
    line('the newest block is 7200 s older', 'node 2 stands at block 7'),
    / {2}the newest block is 7200 s older; node 2 stands at block 7$/,
  );
});

test('a reason that is wider than the terminal goes on below, and all of it can be read', () => {
  const why = 'the nodes of bitcoin show an escrow differently (node 1: funded, node 2: unfunded)';
  const [first, ...more] = linesOf([known(why)], now, 80);
  assert.match(first ?? '', /^…00000001 {2}1 for 2 {2}funded {2}claim by \S+$/);
  assert.equal(more.map((each) => each.trim()).join(' '), why);
  assert.ok(more.every((each) => each.startsWith('  ') && [...each].length < 80));
  const one = known(why.repeat(100));
  assert.equal(linesOf([one], now, 80).length, 20, 'as many as fit a terminal');
  assert.equal(linesOf([one, one], now, 80).length, 20, 'of all swaps');
  assert.equal(
    linesOf(
      Array.from({ length: 30 }, () => one),
      now,
      80,
    ).length,
    30,
    'a line each',
  );
  assert.ok(linesOf([one], now, 80).every((each) => [...each].length < 80));
});
