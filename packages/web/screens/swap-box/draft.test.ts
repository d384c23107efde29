// The form of the swap box, and the request that comes of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Asset } from '@parley/sdk/types.ts';
import {
  type Draft,
  estimateOf,
  flipped,
  keepDraft,
  keptDraft,
  linkedDraft,
  linkOf,
  understood,
  type Wanted,
  withAmount,
  withAsk,
} from './draft.ts';
import '../../texts/testing.ts';

const asset = (id: string, chain: string, decimals: number, more: Partial<Asset> = {}): Asset => ({
  id,
  chain,
  symbol: id.toUpperCase(),
  address: null,
  decimals,
  enabled: true,
  verified: true,
  source: 'curated',
  ...more,
});
const assets = [
  asset('btc', 'bitcoin', 8),
  asset('usd', 'ethereum', 6),
  asset('eth', 'ethereum', 18),
  asset('old', 'tron', 6, { enabled: false }),
];
const draft = (fields: Partial<Draft> = {}): Draft => ({
  ...keptDraft(),
  give: 'btc',
  get: 'usd',
  giveAmount: '0.01',
  ...fields,
});
const locale = 'en';

function wanted(fields: Partial<Draft>): Wanted {
  const found = understood(draft(fields), assets, locale);
  assert.ok(found.ok, found.ok ? '' : found.why);
  return found.wanted;
}

test('the side typed first is exact, and stays so until its amount is gone', () => {
  const start = draft({ giveAmount: '' });
  const first = withAmount(start, 'get', '640');
  assert.equal(first.exact, 'get');
  const both = withAmount(first, 'give', '0.01');
  assert.equal(both.exact, 'get');
  assert.equal(withAmount(both, 'get', '650').exact, 'get');
  assert.equal(withAmount(both, 'get', ' ').exact, 'give');
});

test('flipping keeps the exact amount with its asset, and twice is nothing', () => {
  const one = draft({ getAmount: '640' });
  const other = flipped(one);
  assert.deepEqual([other.give, other.getAmount, other.exact], ['usd', '0.01', 'get']);
  assert.deepEqual(flipped(other), one);
});

test('the exact side is the base, and the other one the asking price', () => {
  assert.deepEqual(wanted({ getAmount: '640' }).body, {
    direction: 'sell_base',
    baseAssetId: 'btc',
    baseAmount: '1000000',
    quoteAssetId: 'usd',
    ttlSeconds: 3_600,
    visibility: 'public',
    askAmount: '640000000',
  });
  assert.deepEqual(
    wanted({ giveAmount: '', getAmount: '640', exact: 'get', ttl: '600', audience: 'link' }).body,
    {
      direction: 'buy_base',
      baseAssetId: 'usd',
      baseAmount: '640000000',
      quoteAssetId: 'btc',
      ttlSeconds: 600,
      visibility: 'private',
    },
  );
  const { body } = wanted({ audience: 'address', address: ' 0xab ' });
  assert.deepEqual([body.visibility, body.targetAddress], ['private', '0xab']);
  assert.deepEqual([body.minSettled, wanted({ minSettled: '5' }).body.minSettled], [undefined, 5]);
  // An address that was typed before the order was opened to all is not sent.
  assert.equal(wanted({ address: '0xab' }).body.targetAddress, undefined);
});

const refusals: [Partial<Draft>, RegExp][] = [
  [{ give: '' }, /what you give/],
  [{ get: 'gone' }, /what you want/],
  [{ give: 'eth' }, /Both are on Ethereum/],
  [{ get: 'old' }, /OLD takes no swaps/],
  [{ giveAmount: '' }, /how much/],
  [{ giveAmount: '0.00' }, /more than nothing/],
  [{ getAmount: '0' }, /more than nothing/],
  [{ giveAmount: '0.000000001' }, /9 decimals.* 8 at most/],
  [{ giveAmount: '1,5' }, /“,” is ambiguous/],
  [{ getAmount: 'many' }, /digits/],
  [{ audience: 'address' }, /address of who/],
  [{ audience: 'address', address: 'x'.repeat(129) }, /129 characters: 128/],
];

test('a missing or wrong value is said first, one at a time', () => {
  for (const [fields, why] of refusals) {
    const found = understood(draft(fields), assets, locale);
    assert.ok(!found.ok, JSON.stringify(fields));
    assert.match(found.why, why);
  }
});

test('recent swaps come to less of what is got and more of what is given; asked for they are exact', () => {
  const third = { baseAmount: 3n, quoteAmount: 100n };
  assert.equal(estimateOf(wanted({}), third), 33_333_333n);
  const buying = { giveAmount: '', getAmount: '0.01', exact: 'get' } as const;
  const getting = wanted({ ...buying, give: 'usd', get: 'btc' });
  assert.equal(estimateOf(getting, third), 33_333_334n);
  const asking = withAsk(draft(), wanted({}), 1_234_567_890_123n, locale);
  assert.equal(wanted(asking).askAmount, 1_234_567_890_123n);
});

const hashOf = (fields: Partial<Draft>) => linkOf(wanted(fields)).replace('/#', '');

test('a link fills in coins and amounts, exact in any language, and no other field', () => {
  const one = draft({ getAmount: '640.5', audience: 'address', address: '0xab', minSettled: '5' });
  const shown = { ...keptDraft(), give: 'btc', get: 'usd', giveAmount: '0.01', getAmount: '640.5' };
  assert.deepEqual(linkedDraft(hashOf(one), assets, locale), shown);
  assert.equal(linkedDraft(hashOf(one), assets, 'de')?.getAmount, '640,5');
  const buying = { giveAmount: '', getAmount: '640', exact: 'get' } as const;
  const { giveAmount, getAmount, exact } = linkedDraft(hashOf(buying), assets, locale) ?? draft();
  assert.deepEqual({ giveAmount, getAmount, exact }, buying);
});

test('a forged link fills in as much as is understood, and none without two known assets', () => {
  const forged = (more: string) => linkedDraft(`give=btc&get=usd&${more}`, assets, locale);
  for (const amount of ['-1', '1e9', '0x10', '1'.repeat(79), ' 1']) {
    assert.equal(forged(`amount=${amount}&exact=both`)?.giveAmount, '', amount);
  }
  const { address, audience, ttl } = forged('address=0xab&audience=address&ttl=1') ?? draft();
  assert.deepEqual([address, audience, ttl], ['', 'public', '3600']);
  for (const hash of ['', 'top', 'give=btc&get=gone']) {
    assert.equal(linkedDraft(hash, assets, locale), null);
  }
});

test('what was typed is there again in the same tab', () => {
  const was = draft({ audience: 'link' });
  keepDraft(was);
  assert.deepEqual(keptDraft(), was);
});
