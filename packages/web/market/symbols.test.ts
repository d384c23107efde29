// A symbol is another's word beside an amount: it turns and hides nothing of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainSymbol } from './tokens.ts';

test('a symbol keeps its letters, and nothing that turns or hides text', () => {
  for (const [said, shown] of [
    ['USDT', 'USDT'],
    ['₮.e', '₮.e'],
    ['US\u202eDT\u200b', 'USDT'],
    ['B\u00a0T\nC\u2028', 'BTC'],
    ['x'.repeat(1_000_000), 'x'.repeat(32)],
  ] as const) {
    assert.equal(plainSymbol(said), shown);
  }
});
