// The console's figures: profit and loss, exposure, and the price of one quote. Each
// looks no better for the maker than it is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Asset, Rfq, Swap, Thread } from '@parley/sdk/types.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import { exposuresOf } from './exposure.ts';
import { askedBps, foundBy, neighbour, ordersOf } from './orders.ts';
import { dayMs, medianBefore, profitsOf, resultOf, roundedDown, tradesOf } from './pnl.ts';
import { againstMedian, around, fromLevel, stepped } from './ticket.ts';

const asset = (symbol: string, address: string | null = null) =>
  ({ id: symbol, symbol, chain: symbol, address, verified: true }) as Asset;
const btc = asset('BTC');
const eth = asset('ETH');
const usd = asset('USDC', '0x1');
const fake = { ...asset('USDT', '0x2'), verified: false };
const assets = [btc, eth, usd, fake];
const nowMs = Date.parse('2026-11-27T12:00:00.000Z');
const at = (seconds: number) => new Date(nowMs + seconds * 1_000).toISOString();

type Ended = {
  status?: Swap['status'];
  gives?: readonly [string, bigint, string?];
  gets?: readonly [string, bigint, string?];
  ago?: number;
  isTaker?: boolean;
};
const swap = ({ status = 'counterparty_claimed', isTaker = false, ...more }: Ended): Swap => {
  const { gives = ['BTC', 10n], gets = ['USDC', 650n], ago = 60 } = more;
  const leg = (
    [assetId, amount, is = 'claimed']: readonly [string, bigint, string?],
    funder: string,
  ) => ({
    assetId,
    amount: `${amount}`,
    status: is,
    funder,
  });
  const funder = isTaker ? 'taker' : 'maker';
  const legs = { a: leg(gives, funder), b: leg(gets, isTaker ? 'maker' : 'taker') };
  const makerId = isTaker ? 'they' : 'me';
  return { status, makerId, legs, createdAt: at(-ago - 600), updatedAt: at(-ago) } as Swap;
};
const trades = (...swaps: Swap[]) => tradesOf(swaps, 'me', assets, nowMs - dayMs);
const at65 = { baseAmount: 3n, quoteAmount: 190n };

test('selling and buying are valued at the median, and each division rounds against the reader', () => {
  // 10 are worth 633.3…: 634 where they are given, 633 where they came.
  const [sold, bought] = trades(
    swap({}),
    swap({ gives: ['USDC', 620n], gets: ['BTC', 10n], isTaker: true }),
  );
  assert.deepEqual(
    [sold?.base, sold?.quote, bought?.base, bought?.quote],
    [-10n, 650n, 10n, -620n],
  );
  assert.equal(sold && resultOf(sold, at65), 16n);
  assert.equal(bought && resultOf(bought, at65), 13n);
  assert.equal(sold && resultOf(sold, null), null);
});

test('a refunded swap counts nothing, and half a settled one what it moved', () => {
  const refunded = ['BTC', 10n, 'refunded'] as const;
  const [back, lost, kept] = trades(
    swap({ status: 'refunded', gives: refunded, gets: ['USDC', 650n, 'refunded'] }),
    swap({ status: 'half_settled', gets: ['USDC', 650n, 'refunded'] }),
    swap({ status: 'half_settled', gives: refunded }),
  );
  assert.equal(back && resultOf(back, null), 0n);
  assert.equal(lost && resultOf(lost, at65), -634n);
  assert.equal(kept && resultOf(kept, null), 650n);
});

test('a running swap, one before the time, and one of an unlisted asset are no result yet', () => {
  const before = dayMs / 1_000;
  assert.equal(trades(swap({ ago: before })).length, 1);
  assert.deepEqual(
    trades(
      swap({ status: 'initiator_claimed' }),
      swap({ ago: before + 1 }),
      swap({ gets: ['gone', 1n] }),
    ),
    [],
  );
});

test('each quote asset has a sum of its own, and a swap without a price is counted beside it', () => {
  const all = trades(
    swap({}),
    swap({ gives: ['ETH', 10n], gets: ['USDC', 20n] }),
    swap({ gives: ['ETH', 10n], gets: ['BTC', 30n] }),
    swap({}),
  );
  const profits = profitsOf(all, ({ pair }) =>
    pair.base === eth && pair.quote === usd ? null : at65,
  );
  assert.deepEqual(
    profits.map(({ quote, units, counted, unknown }) => [quote.symbol, units, counted, unknown]),
    [
      ['USDC', 32n, 2, 1],
      ['BTC', -604n, 1, 0],
    ],
  );
});

test('the median before a swap leaves out its own minute, and needs three agreements', () => {
  const agreement = (quoteAmount: number, seconds: number) => {
    const direction = 'sell_base' as const;
    return { direction, baseAmount: '1', quoteAmount: `${quoteAmount}`, agreedAt: at(seconds) };
  };
  const agreements = [agreement(99, 0), agreement(66, -60), agreement(64, -120)];
  const median = (more: ReturnType<typeof agreement>[]) =>
    medianBefore({ agreements: [...agreements, ...more] }, nowMs + 59_000)?.quoteAmount;
  assert.equal(median([]), undefined);
  assert.equal(median([agreement(60, -180)]), 64n);
  assert.equal(median([agreement(60, -180), agreement(70, -240)]), 64n);
  assert.equal(median([agreement(0, -180)]), undefined);
});

const thread = (is: object, rfq: object = {}) =>
  ({
    id: 't',
    rfqId: 'r',
    status: 'open',
    swapId: null,
    proposedBy: 'maker',
    quoteAmount: '650',
    acceptanceExpiresAt: null,
    makerAccepted: false,
    rfq: {
      direction: 'buy_base',
      baseAssetId: 'BTC',
      baseAmount: '10',
      quoteAssetId: 'USDC',
      expiresAt: at(600),
      ...rfq,
    },
    ...is,
  }) as unknown as Thread;

test('promised is what the other side may accept; at stake and coming what a swap has not moved', () => {
  const found = exposuresOf(
    [
      thread({}),
      thread({ proposedBy: 'taker' }),
      thread({}, { expiresAt: at(0) }),
      thread({ proposedBy: 'taker', takerAccepted: true, acceptanceExpiresAt: at(9) }),
    ],
    [
      swap({ status: 'initiator_claimed', gives: ['ETH', 5n], gets: ['USDC', 7n, 'funded'] }),
      swap({ status: 'agreed', gives: ['ETH', 3n, 'unfunded'], gets: ['BTC', 1n, 'unfunded'] }),
      swap({ status: 'expired', gives: ['ETH', 9n, 'unfunded'], gets: ['BTC', 9n, 'unfunded'] }),
    ],
    { accountId: 'me', assets, nowMs },
  );
  assert.deepEqual(
    found.map((each) => [each.asset.symbol, each.quoted, each.atStake, each.coming]),
    [
      ['BTC', 20n, 0n, 1n],
      ['ETH', 0n, 3n, 0n],
      ['USDC', 0n, 0n, 7n],
    ],
  );
});

test('a gain is cut, and a loss is never shown smaller than it is', () => {
  for (const [units, shown] of [
    [1_999n, 1_900n],
    [-1_901n, -2_000n],
    [-1_900n, -1_900n],
    [99n, 0n],
  ] as const) {
    assert.equal(roundedDown(units, 8, 6), shown);
  }
  assert.equal(roundedDown(-7n, 2, 6), -7n);
});

test('a quote begins at the own level, rounded for the maker, and steps by basis points', () => {
  assert.equal(fromLevel(at65, 10n, true), 634n);
  assert.equal(fromLevel(at65, 10n, false), 633n);
  assert.equal(stepped(640_000n, 10), 640_640n);
  assert.equal(stepped(640_000n, -1), 639_936n);
  assert.deepEqual([stepped(5n, 1), stepped(5n, -1), stepped(1n, -100)], [6n, 4n, 1n]);
});

test('levels around recent swaps pay no more and take no less than their distance says', () => {
  // 10 are worth 633.3…: 1 % off is 627 and 639.6….
  assert.deepEqual(around(at65, 10n, 100), { pays: 627n, takes: 640n });
  assert.deepEqual(around(at65, 10n, 0), { pays: 633n, takes: 634n });
});

test('the profit of a quote is what is left of it after the worth of the other side, rounded up', () => {
  assert.deepEqual(againstMedian(650n, 10n, at65, true), { bps: 252, profit: 16n });
  assert.deepEqual(againstMedian(620n, 10n, at65, false), { bps: 205, profit: 13n });
  const amount = fc.bigInt({ min: 1n, max: 10n ** 30n });
  fc.assert(
    fc.property(amount, amount, amount, amount, fc.boolean(), (quote, base, one, other, isGot) => {
      const median = { baseAmount: one, quoteAmount: other };
      const { profit } = againstMedian(quote, base, median, isGot);
      const exact = (isGot ? 1n : -1n) * (quote * one - base * other);
      assert.ok(profit * one <= exact && exact < (profit + 1n) * one);
    }),
    { numRuns: runs(100) },
  );
});

const rfq = (id: string, more: Partial<Rfq> = {}) =>
  ({
    id,
    direction: 'sell_base',
    baseAssetId: 'BTC',
    baseAmount: '10',
    quoteAssetId: 'USDC',
    askAmount: '620',
    ...more,
  }) as Rfq;

test('orders are rows of their pair, the newest first, and filters leave those that fit', () => {
  const turned = { direction: 'sell_base', baseAssetId: 'USDC', quoteAssetId: 'BTC' } as const;
  const orders = ordersOf(
    [
      rfq('1'),
      rfq('2', { ...turned, baseAmount: '65000', askAmount: '1000' }),
      rfq('3', { baseAssetId: 'ETH', askAmount: null }),
      rfq('4', { baseAssetId: 'gone' }),
    ],
    assets,
    [thread({ rfqId: '3' }), thread({ rfqId: '1', status: 'closed' })],
    nowMs,
  );
  const ids = (found: readonly { id: string }[]) => found.map(({ id }) => id).join();
  assert.equal(ids(orders), '3,2,1');
  const [open, other, asks] = orders;
  assert.deepEqual(asks?.asked, { baseAmount: 10n, quoteAmount: 620n });
  assert.deepEqual(other?.asked, { baseAmount: 1_000n, quoteAmount: 65_000n });
  // 62 for what is worth 63.3, and 65 for it: each as the maker sees it.
  assert.deepEqual(
    [asks, other, open].map((each) => each && askedBps(each, at65)),
    [205, 253, null],
  );
  const all = { words: '', pair: '', least: null, whose: 'all' } as const;
  const found = (filter: object) => ids(foundBy(orders, { ...all, ...filter }));
  assert.equal(found({}), '3,2,1');
  assert.equal(found({ whose: 'mine' }), '3');
  assert.equal(found({ whose: 'new' }), '2,1');
  assert.equal(found({ pair: 'BTC USDC' }), '2,1');
  assert.equal(found({ pair: 'BTC USDC', least: 11n }), '2');
  assert.equal(found({ least: 10n }), '3,2,1');
  assert.equal(found({ words: 'eth' }), '3');
  assert.deepEqual(
    [neighbour(orders, null, 1), neighbour(orders, '3', 1), neighbour(orders, '1', 1)].map(
      (each) => each?.id,
    ),
    ['3', '2', '1'],
  );
  assert.equal(neighbour(orders, '3', -1)?.id, '3');
  assert.equal(neighbour([], '3', 1), null);
});
