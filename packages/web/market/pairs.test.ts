// Pairs as a person reads them: one way round, with prices that may be called so.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Asset, Level } from '@parley/sdk/types.ts';
import { linkedDraft } from '../screens/swap-box/draft.ts';
import { boxHash, depthOf, pairRows, readably, spreadOf, turnedTo } from './pairs.ts';

const asset = (symbol: string, chain: string, verified = true, decimals = 0): Asset =>
  ({ id: `${symbol} ${chain}`, symbol, chain, verified, decimals, enabled: true }) as Asset;
const btc = asset('BTC', 'bitcoin');
const eth = asset('ETH', 'ethereum');
const usdc = asset('USDC', 'ethereum');
const trx = asset('TRX', 'tron');
const fake = asset('USDC', 'tron', false);
const of = (baseAmount: string, quoteAmount: string) => ({ baseAmount, quoteAmount });

test('prices are told in dollars, else in the coin that others are compared with', () => {
  for (const [base, quote] of [
    [btc, usdc],
    [eth, btc],
    [trx, eth],
    [trx, usdc],
    [fake, btc],
  ] as const) {
    assert.deepEqual(readably({ base, quote }), { base, quote });
    assert.deepEqual(readably({ base: quote, quote: base }), { base, quote });
  }
  const alike = { base: trx, quote: fake };
  assert.deepEqual(readably({ base: fake, quote: trx }), alike);
  assert.deepEqual(readably(alike), alike);
  const price = { baseAmount: 2n, quoteAmount: 130n };
  const pair = { base: btc, quote: usdc };
  assert.deepEqual(turnedTo(usdc.id, pair, price), { baseAmount: 130n, quoteAmount: 2n });
  assert.deepEqual(turnedTo(btc.id, pair, price), price);
});

test('a pair that is told the other way round has its bid for an ask, and a spread of prices alone', () => {
  const ids = (base: Asset, quote: Asset) => ({ baseAssetId: base.id, quoteAssetId: quote.id });
  const counts = { agreements: 5, makers: 2 };
  const told = [
    { ...ids(btc, fake), median: null, bid: null, ask: null, ...counts },
    {
      ...ids(usdc, btc),
      median: of('64000', '1'),
      bid: of('64064', '1'),
      ask: of('63936', '1'),
      ...counts,
    },
    { ...ids(asset('gone', 'x'), btc), median: null, bid: null, ask: null, ...counts },
  ];
  const [first, second, ...more] = pairRows(told, [btc, usdc, fake]);
  assert.deepEqual([second?.base, more], [fake, []]);
  assert.deepEqual(first, {
    id: `${btc.id} ${usdc.id}`,
    base: btc,
    quote: usdc,
    median: { baseAmount: 1n, quoteAmount: 64_000n },
    bid: { baseAmount: 1n, quoteAmount: 63_936n, isFar: false },
    ask: { baseAmount: 1n, quoteAmount: 64_064n, isFar: false },
    spreadBps: 21,
    ...counts,
  });
  const lie = { ...told[1]!, ask: of('60000', '1') };
  const [row] = pairRows([lie], [btc, usdc]);
  assert.deepEqual([row?.bid?.isFar, row?.spreadBps], [true, null]);
});

test('levels that cross have no spread, and equal ones none to pay', () => {
  const at = (quoteAmount: bigint) => ({ baseAmount: 2n, quoteAmount, isFar: false });
  assert.equal(spreadOf(at(101n), at(100n)), null);
  assert.equal(spreadOf(at(100n), at(100n)), 0);
  assert.equal(spreadOf(at(100n), null), null);
});

test("depth adds up from the best price on, a maker's sizes hold one another, and lies add nothing", () => {
  const level = (quoteAmount: string, baseAmount = '10', makerId = 'x') =>
    ({ direction: 'sell_base', baseAmount, quoteAmount, makerId }) as Level;
  const median = { baseAmount: 1n, quoteAmount: 100n };
  const levels = [
    level('2000'),
    level('1010'),
    level('500', '5', 'y'),
    level('3000', '30'),
    level('0'),
  ];
  const rows = depthOf(levels, median);
  assert.deepEqual(
    rows.map(({ price: { quoteAmount, isFar }, sum, share }) => [quoteAmount, isFar, sum, share]),
    [
      [1_010n, false, 10n, 28],
      [500n, false, 15n, 42],
      [3_000n, false, 35n, 100],
      [2_000n, true, 0n, 0],
    ],
  );
  assert.deepEqual(depthOf([level('2000')], median)[0]?.share, 0);
});

test('the box takes a link of a pair', () => {
  const draft = linkedDraft(boxHash(btc, usdc), [btc, usdc]);
  assert.deepEqual([draft?.give, draft?.get, draft?.amount], [btc.id, usdc.id, '']);
  const buying = boxHash(usdc, btc, { of: 'get', units: 7n });
  const { exact, amount } = linkedDraft(buying, [btc, usdc]) ?? {};
  assert.deepEqual([exact, amount], ['get', '7']);
});
