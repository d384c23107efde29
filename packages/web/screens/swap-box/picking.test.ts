// The picker: its order, its search, and reasons.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Asset } from '@parley/sdk/types.ts';
import '../../texts/testing.ts';
import { closedNow, foundBy, mostShown, popular, turnBy } from './picking.ts';
import { assets, btc, eth, listed, usd } from './testing.ts';

const old = listed('old', 'tron', 6, { enabled: false });

const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id);

test('an asset that cannot be chosen is shown last with the reason, and a search finds by contract', () => {
  const closedBy = (asset: Asset) => closedNow(asset, (chain) => chain === 'tron');
  assert.deepEqual(ids(foundBy(assets, '', closedBy)), ['btc', 'usd', 'eth', 'fake', 'old']);
  assert.match(closedBy(old) ?? '', /TRON takes no new/);
  assert.match(closedBy(listed('off', 'base', 6, { enabled: false })) ?? '', /^Takes no swaps/);
  assert.equal(closedBy(btc), null);
  assert.deepEqual(ids(foundBy(assets, 'ethereum us', closedBy)), ['usd']);
  assert.deepEqual(ids(foundBy(assets, 'tfAKE', closedBy)), ['fake']);
});

test('an asset of the other chain says what becomes of the other side', () => {
  const sides = { side: 'give', chosen: btc, other: usd } as const;
  assert.equal(turnBy(eth, sides), 'You then receive BTC on Bitcoin');
  assert.equal(turnBy(usd, { ...sides, side: 'get', chosen: btc }), 'You then give BTC on Bitcoin');
  assert.deepEqual([turnBy(btc, sides), turnBy(old, sides)], [null, null]);
});

test('a list without end is drawn to a limit', () => {
  const many = Array.from({ length: mostShown + 1 }, (_, at) => listed(`t${at}`, 'base', 6));
  assert.equal(foundBy(many, '', () => null).length, mostShown);
});

test('what is popular is known to the app and open, one asset a symbol', () => {
  const more = [...assets, listed('usdt', 'tron', 6), listed('btc2', 'base', 8, { symbol: 'BTC' })];
  assert.deepEqual(ids(popular(more)), ['btc', 'eth', 'usdt']);
});
