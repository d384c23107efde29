// Typed amounts become an indicative price, or are refused before they are sent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftedLevels, type LevelDraft } from './due.ts';
import '../../texts/testing.ts';

const drafted = (more: Partial<LevelDraft>) =>
  draftedLevels({ size: 1_000n, pays: null, takes: null, validForSeconds: 600, ...more });
const level = (direction: string, quoteAmount: string) => ({
  direction,
  quoteAmount,
  baseAmount: '1000',
  validForSeconds: 600,
});

test("the maker's payment is for takers who sell, its receipt for takers who buy", () => {
  const bid = level('sell_base', '64');
  const ask = level('buy_base', '65');
  assert.deepEqual(drafted({ pays: 64n }), [bid]);
  assert.deepEqual(drafted({ takes: 65n }), [ask]);
  assert.deepEqual(drafted({ pays: 64n, takes: 65n }), [bid, ask]);
});

test('an amount that lacks or is zero is refused, and to pay as much as one takes', () => {
  for (const each of [{}, { size: null, pays: 64n }]) assert.match(`${drafted(each)}`, /amount/);
  for (const each of [{ size: 0n, pays: 64n }, { pays: 0n }, { pays: 64n, takes: 0n }]) {
    assert.match(`${drafted(each)}`, /more than zero/);
  }
  for (const takes of [64n, 63n]) assert.match(`${drafted({ pays: 64n, takes })}`, /less/);
});
