// The form of the swap box, and the request that comes of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Draft,
  emptyDraft,
  flipped,
  keepDraft,
  keptDraft,
  linkedDraft,
  linkOf,
  mostOf,
  noBounds,
  understood,
  type Wanted,
  withAmount,
  withAsk,
  withAsset,
  withPair,
} from './draft.ts';
import '../../texts/testing.ts';
import { assets, btc, eth, listed, usd } from './testing.ts';

const draft = (fields: Partial<Draft> = {}): Draft => ({
  ...emptyDraft,
  give: 'btc',
  get: 'usd',
  amount: '0.01',
  ...fields,
});
const locale = 'en';

function wanted(fields: Partial<Draft>): Wanted {
  const found = understood(draft(fields), assets, noBounds, locale);
  assert.ok(found.ok, found.ok ? '' : found.why);
  return found.wanted;
}

test('the side typed last is exact, and an asking price is one for the other side', () => {
  const asking = draft({ ask: '640' });
  assert.equal(withAmount(asking, 'give', '0.02').ask, '640');
  const other = withAmount(asking, 'get', '650');
  assert.deepEqual([other.exact, other.amount, other.ask], ['get', '650', '']);
});

test('flipping keeps the exact amount with its asset, and twice is nothing', () => {
  const one = draft({ ask: '640' });
  const other = flipped(one);
  assert.deepEqual(
    [other.give, other.amount, other.ask, other.exact],
    ['usd', '0.01', '640', 'get'],
  );
  assert.deepEqual(flipped(other), one);
});

test('whatever is chosen, the two sides are on two chains, and the asking price is of neither', () => {
  const one = draft({ ask: '640' });
  assert.deepEqual(withAsset(one, 'give', usd, usd), flipped(one));
  // Ether for dollars on Ethereum is no swap: the bitcoin goes to the other side.
  assert.deepEqual(withAsset(one, 'give', eth, usd), { ...one, give: 'eth', get: 'btc', ask: '' });
  assert.deepEqual(withAsset(one, 'get', eth, btc), { ...one, get: 'eth', ask: '' });
  assert.equal(withAsset(one, 'get', usd, btc), one);
});

test('the exact side is the base, and the other one the asking price', () => {
  assert.deepEqual(wanted({ ask: '640' }).body, {
    direction: 'sell_base',
    baseAssetId: 'btc',
    baseAmount: '1000000',
    quoteAssetId: 'usd',
    ttlSeconds: 3_600,
    visibility: 'public',
    askAmount: '640000000',
  });
  assert.deepEqual(wanted({ amount: '640', exact: 'get', ttl: '600', audience: 'link' }).body, {
    direction: 'buy_base',
    baseAssetId: 'usd',
    baseAmount: '640000000',
    quoteAssetId: 'btc',
    ttlSeconds: 600,
    visibility: 'private',
  });
  const { body } = wanted({ audience: 'address', address: ' 0xab ' });
  assert.deepEqual([body.visibility, body.targetAddress], ['private', '0xab']);
  assert.deepEqual([body.minSettled, wanted({ minSettled: '5' }).body.minSettled], [undefined, 5]);
  // An address that was typed before the order was opened to all is not sent.
  assert.equal(wanted({ address: '0xab' }).body.targetAddress, undefined);
});

const refusals: [Partial<Draft>, string, RegExp][] = [
  [{ give: '' }, 'give_asset', /what you give/],
  [{ get: 'gone' }, 'get_asset', /what you receive/],
  [{ give: 'eth' }, 'get_asset', /Both are on Ethereum/],
  [{ get: 'old' }, 'get_asset', /OLD takes no swaps/],
  [{ amount: '' }, 'amount', /Type an amount/],
  [{ amount: '0.00' }, 'amount', /more than nothing/],
  [{ amount: '1e30' }, 'amount', /digits only/],
  [{ ask: '0' }, 'ask', /more than nothing/],
  [{ amount: '0.000000001' }, 'amount', /9 decimals.* 8 at most/],
  [{ amount: '1,5' }, 'amount', /“,” is ambiguous/],
  [{ ask: 'many' }, 'ask', /digits/],
  [{ audience: 'address' }, 'address', /address of who/],
  [{ audience: 'address', address: 'x'.repeat(129) }, 'address', /129 characters: 128/],
];

test('a missing or wrong value is said first, one at a time, at its field', () => {
  for (const [fields, at, why] of refusals) {
    const found = understood(draft(fields), assets, noBounds, locale);
    assert.ok(!found.ok, JSON.stringify(fields));
    assert.equal(found.at, at, found.why);
    assert.match(found.why, why);
  }
});

test('what no escrow can hold is refused at its field, and the bounds themselves are not', () => {
  const bounds = {
    least: { give: 10_000n, get: 5_000_000n },
    most: { give: mostOf('bitcoin', { address: null }), get: 2n ** 64n - 1n },
  };
  for (const [fields, at, why] of [
    [{ amount: '0.0001' }, null, null],
    [{ amount: '0.00009999' }, 'amount', /^At least 0\.0001.BTC/],
    [{ amount: '21000000' }, null, null],
    [{ amount: '21000000.00000001' }, 'amount', /BTC on Bitcoin cannot hold more than 21 000 000/],
    [{ ask: '5' }, null, null],
    [{ ask: '4.999999' }, 'ask', /^At least 5.USD/],
    [{ ask: '18446744073709.551615' }, null, null],
    [{ ask: '18446744073709.551616' }, 'ask', /cannot hold more/],
    // Each side has its own bounds, whichever is exact.
    [{ exact: 'get', amount: '4.999999' }, 'amount', /^At least 5.USD/],
    [{ exact: 'get', amount: '5', ask: '0.00009999' }, 'ask', /^At least 0\.0001.BTC/],
  ] as const) {
    const found = understood(draft(fields), assets, bounds, locale);
    assert.equal(found.ok ? null : found.at, at, JSON.stringify(fields));
    if (!found.ok) assert.match(found.why.replaceAll('\u202f', ' '), why ?? /^$/);
  }
});

test('the most of a chain is that of its integers, or of its coins', () => {
  const coin = { address: null };
  const token = { address: '0xab' };
  assert.equal(mostOf('bitcoin', coin), 2_100_000_000_000_000n);
  assert.equal(mostOf('solana', token), 2n ** 64n - 1n);
  assert.deepEqual([mostOf('tron', coin), mostOf('tron', token)], [2n ** 63n - 1n, null]);
  assert.deepEqual([mostOf('evm', coin), mostOf(undefined, coin)], [null, null]);
});

test('a new form trades a pair that has makers, else bitcoin for dollars, and keeps what was chosen', () => {
  const pairOf = (one: Draft) => [one.give, one.get];
  const pair = (baseAssetId: string, quoteAssetId: string) => ({ baseAssetId, quoteAssetId });
  assert.deepEqual(pairOf(withPair(emptyDraft, assets, [])), ['btc', 'usd']);
  // Dollars are what most want to end with, whichever side the market names first.
  assert.deepEqual(pairOf(withPair(emptyDraft, assets, [pair('usd', 'btc')])), ['btc', 'usd']);
  assert.deepEqual(pairOf(withPair(emptyDraft, assets, [pair('btc', 'eth')])), ['btc', 'eth']);
  // One that is closed, unknown or copied is no first sight.
  for (const other of ['old', 'gone', 'fake']) {
    assert.deepEqual(pairOf(withPair(emptyDraft, assets, [pair('btc', other)])), ['btc', 'usd']);
  }
  const chosen = draft({ give: 'eth', get: 'btc' });
  assert.equal(withPair(chosen, assets, []), chosen);
  assert.deepEqual(pairOf(withPair(emptyDraft, [listed('sol', 'solana', 9)], [])), ['sol', '']);
  assert.deepEqual(pairOf(withPair(emptyDraft, [], [])), ['', '']);
});

test('an asking price is exact to the last digit', () => {
  const { quote } = wanted({});
  const asking = withAsk(draft(), quote, 1_234_567_890_123n, locale);
  assert.equal(wanted(asking).askAmount, 1_234_567_890_123n);
});

const hashOf = (fields: Partial<Draft>) => linkOf(wanted(fields)).replace('/#', '');

test('a link fills in coins and amounts, exact in any language, and no other field', () => {
  const one = draft({ ask: '640.5', audience: 'address', address: '0xab', minSettled: '5' });
  const shown = { ...emptyDraft, give: 'btc', get: 'usd', amount: '0.01', ask: '640.5' };
  assert.deepEqual(linkedDraft(hashOf(one), assets, locale), shown);
  assert.equal(linkedDraft(hashOf(one), assets, 'de')?.ask, '640,5');
  const buying = { amount: '640', exact: 'get' } as const;
  const { amount, ask, exact } = linkedDraft(hashOf(buying), assets, locale) ?? draft();
  assert.deepEqual({ amount, ask, exact }, { ...buying, ask: '' });
});

test('a forged link fills in as much as is understood, and none without two known assets', () => {
  const forged = (more: string) => linkedDraft(`give=btc&get=usd&${more}`, assets, locale);
  for (const amount of ['-1', '1e9', '0x10', '1'.repeat(79), ' 1']) {
    assert.equal(forged(`amount=${amount}&exact=both`)?.amount, '', amount);
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
