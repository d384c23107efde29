// The amounts for which swaps of an earlier process and of the day still count.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rfq, Standing } from '@parley/sdk/types.ts';
import type { AssetConfig, Limits, PairConfig } from './config/config.ts';
import type { Deal, End } from './journal.ts';
import { createPromises, type OpenQuote, type Promises, type PromisesInput } from './promises.ts';
import { holdingOf } from './rules/inventory.ts';
import type { Match } from './rules/matching.ts';
import { parsePrice } from './rules/price.ts';
import { btc, pair as btcPair, dealOf, limits, partsOf, sol } from './testing/stage.ts';

const asset = (name: string, chain: string, token: string | null): AssetConfig => ({
  ...sol,
  name,
  chain,
  token,
  decimals: 6,
  mostADay: 1_000n,
});
const usd = asset('usd', 'evm', '0xd');
const trx = asset('trx', 'tron', null);
const pair: PairConfig = {
  ...btcPair,
  name: 'usd/trx',
  base: usd,
  quote: trx,
  spreadBps: 0n,
  slipBps: 0n,
};
const now = 10 * 86_400;
const deal = (threadId: string, agoSeconds: number, end: End | null): Deal => ({
  ...dealOf(threadId, 's', now - agoSeconds),
  rfqId: `rfq ${threadId}`,
  pair: 'usd/trx',
  base: 300n,
  quote: 300n,
  end,
});
const costs = { fund: 30n, claim: 20n, refund: 10n, deposit: 0n, settlesFromAmount: false };
const rfq = { id: 'r', creatorId: 'u' } as Rfq;
const match: Match<PairConfig> = {
  pair,
  ids: { base: 'b', quote: 'q' },
  asked: { direction: 'buy_base', flipped: false, amount: 100n },
};

type Clocks = { readonly now: () => number; readonly readAtMs: () => number };
const still: Clocks = { now: () => now * 1_000, readAtMs: () => now * 1_000 };

function promisesOf(
  deals: readonly Deal[],
  areCostsKnown = true,
  more: Partial<Limits> = {},
  clocks = still,
  others: PromisesInput['others'] = () => [],
) {
  return createPromises({
    others,
    assets: [usd, trx],
    limits: { ...limits, mostSwapsATaker: 1, ...more },
    mode: () => 'open',
    now: clocks.now,
    deals: new Map(deals.map((each) => [each.threadId, each])),
    prices: { of: () => parsePrice('1'), all: () => new Map(), close: () => undefined },
    stock: {
      payable: new Map(),
      reserves: new Map(),
      read: async () => undefined,
      costsOf: () => (areCostsKnown ? costs : null),
      get balances() {
        const all = [usd, trx, { chain: 'evm', token: null }];
        const balance = { units: 10n ** 6n, readAtMs: clocks.readAtMs() };
        return new Map(all.map((each) => [holdingOf(each), balance]));
      },
    },
  });
}

test('a swap of an earlier process counts in full; where fees are unknown its amount does', () => {
  const old = deal('t', 100, null);
  for (const [areCostsKnown, coin] of [
    [true, 40n],
    [false, undefined],
  ] as const) {
    const promises = promisesOf([old], areCostsKnown);
    promises.dealt(old, null);
    const [commitment] = promises.commitments();
    assert.equal(commitment?.amount, 300n);
    assert.equal(commitment?.before.get('evm 0xd'), 300n);
    assert.equal(commitment?.before.get('evm coin'), coin);
  }
});

test('the day counts what was given or may be within 24 hours, and nothing that came to nothing', () => {
  const terms = { gives: 'base', base: 100n, quote: 100n } as const;
  const codeOf = (deals: readonly Deal[]) =>
    promisesOf(deals).verdict(rfq, match, terms, 'acceptance').refused?.code ?? 'yes';
  const three = [deal('a', 100, 'received'), deal('b', 86_400, null), deal('c', 5, 'received')];
  assert.equal(codeOf(three), 'yes');
  assert.equal(codeOf([...three, { ...deal('d', 5, null), base: 1n }]), 'day');
  for (const end of ['refunded', 'lost', 'nothing', 'lapsed', 'refused'] as const) {
    assert.equal(codeOf([...three, deal('d', 5, end)]), 'yes', end);
  }
  assert.equal(codeOf([...three, deal('d', 86_401, 'received')]), 'yes');
});

test('a taker with fewer settled swaps than is wanted is neither quoted nor accepted', () => {
  const terms = { gives: 'base', base: 100n, quote: 100n } as const;
  for (const step of ['quote', 'proposal', 'acceptance'] as const) {
    const codeFor = (settled: number | null, leastSettledOfTaker: number) => {
      const creatorStanding = settled === null ? null : ({ settled } as Standing);
      const promises = promisesOf([], true, { leastSettledOfTaker });
      const wish = { ...rfq, creatorStanding } as Rfq;
      const { refused } = promises.verdict(wish, match, terms, step);
      return refused?.code ?? 'yes';
    };
    assert.equal(codeFor(null, 0), 'yes');
    assert.equal(codeFor(null, 1), 'taker_unknown');
    assert.equal(codeFor(2, 3), 'taker_unknown');
    assert.equal(codeFor(3, 3), 'yes');
  }
});

test('so many swaps are open at most, with one taker fewer; one that is said again is one of them', () => {
  const terms = { gives: 'base', base: 100n, quote: 100n } as const;
  const promises = promisesOf([]);
  const codeFor = (wish: Rfq, thread: string | null = null) =>
    promises.verdict(wish, match, terms, 'acceptance', thread).refused?.code ?? 'yes';
  promises.dealt({ ...deal('t', 0, null), rfqId: rfq.id }, null);
  assert.equal(codeFor(rfq, 't'), 'yes');
  assert.equal(codeFor(rfq, 'another'), 'taker_swaps');
  assert.equal(codeFor({ ...rfq, id: 'other' }), 'taker_swaps');
  assert.equal(codeFor({ ...rfq, id: 'other', creatorId: 'v' }), 'yes');
  promises.dealt({ ...deal('t2', 0, null), takerId: 'v' }, null);
  assert.equal(codeFor({ ...rfq, id: 'other', creatorId: 'w' }), 'most_swaps');
});

test('what is held follows a swap from its agreement until the balances show its end', () => {
  const at = { ms: 1_000, price: null, mode: 'open' as const };
  // The balances of this stage are always of now.
  const { promises } = partsOf({ at });
  const whole = 10n ** 12n;
  const held = () => [promises.heldOf(btc), promises.heldOf(sol)].map((units) => units! - whole);
  const swap = { ...dealOf('t', 's'), base: 7n, quote: 3n };
  const legs = { funded: false, back: false, paid: false };
  promises.dealt(swap, { before: new Map(), after: new Map() });
  assert.deepEqual(held(), [-7n, 3n]);
  promises.shown('t', { ...legs, funded: true });
  assert.deepEqual(held(), [0n, 3n], 'the balance has the funding');
  promises.ended({ ...swap, end: 'received' });
  assert.deepEqual(held(), [0n, 0n]);
  promises.dealt(swap, { before: new Map(), after: new Map() });
  promises.ended({ ...swap, end: 'lapsed' });
  assert.deepEqual(held(), [0n, 0n], 'nothing is given for what came to nothing');
});

test('an end that no balance shows yet counts until one does; after a restart a leg is there at once', () => {
  const reading = { ms: 5_000 };
  const clock = { ms: 6_000 };
  const promises = promisesOf([], true, {}, { readAtMs: () => reading.ms, now: () => clock.ms });
  const swap = { ...deal('t', 1, null), base: 7n, quote: 3n };
  const held = () =>
    [promises.heldOf(usd), promises.heldOf(trx)].map((units) => units! - 10n ** 6n);
  const legs = { funded: true, back: false, paid: false };
  promises.dealt(swap, null);
  promises.shown('t', legs);
  assert.deepEqual(held(), [0n, 3n], 'it was funded before this process began');
  promises.shown('t', { ...legs, paid: true });
  promises.ended({ ...swap, end: 'received' });
  assert.deepEqual(held(), [0n, 3n], 'the balance is older than the payment');
  reading.ms = 6_000;
  assert.deepEqual(held(), [0n, 0n]);
  // A refund, after a balance that was read without the funding.
  promises.dealt(swap, { before: new Map(), after: new Map() });
  promises.shown('t', legs);
  reading.ms = 7_000;
  clock.ms = 8_000;
  promises.ended({ ...swap, end: 'refunded' });
  assert.deepEqual(held(), [7n, 0n]);
  reading.ms = 8_000;
  assert.deepEqual(held(), [0n, 0n]);
});

test('open quotes count against both bounds, and not in the price', () => {
  const bounded = { ...pair, base: { ...usd, sellDownTo: 10n ** 6n - 150n } };
  const promises = promisesOf([]);
  const terms = { gives: 'base', base: 100n, quote: 100n } as const;
  const codeFor = (id: string) =>
    promises.verdict({ ...rfq, id }, { ...match, pair: bounded }, terms, 'quote').refused?.code;
  assert.equal(codeFor('r'), undefined);
  const takes = { before: new Map(), after: new Map() };
  const own = { ...match, pair: bounded };
  promises.quoted({ rfq, match: own, terms, takes, untilMs: 10 ** 12, threadId: null });
  assert.equal(codeFor('r'), undefined, 'it takes the place of its own');
  assert.equal(codeFor('other'), 'stop_selling');
  assert.equal(promises.heldOf(usd), 10n ** 6n);
  // A taker who never funds makes no room.
  promises.dealt({ ...deal('t', 0, null), takerId: 'v', gives: 'quote' }, null);
  assert.equal(promises.heldOf(usd), 10n ** 6n + 300n);
  assert.equal(codeFor('other'), 'stop_selling');
});

test('a coin is promised once on all markets, and the counts are of all; a taker is of one', () => {
  const markets: Promises[] = [];
  const openOne = (at: number) =>
    promisesOf([], true, { mostSwaps: 2, mostQuotes: 1 }, still, () => markets.toSpliced(at, 1));
  markets.push(openOne(0), openOne(1));
  const [one, other] = markets as [Promises, Promises];
  const terms = { gives: 'base', base: 600_000n, quote: 600_000n } as const;
  const large = { ...match, pair: { ...pair, base: { ...usd, mostADay: null } } };
  const codeFor = (wish: Rfq, thread: string) =>
    other.verdict(wish, large, terms, 'acceptance', thread).refused?.code ?? 'yes';
  // Another market may use the same ids.
  const same = { ...deal('t', 0, null), rfqId: rfq.id, base: 600_000n };
  assert.equal(codeFor(rfq, 't'), 'yes');
  one.dealt(same, null);
  assert.equal(codeFor(rfq, 't'), 'inventory');
  assert.deepEqual([one.own().length, other.own().length], [1, 0]);
  assert.equal(other.commitments().length, 1);
  assert.equal(other.verdict(rfq, match, { ...terms, base: 1n }, 'quote').refused, null);
  one.dealt({ ...same, threadId: 'u', base: 1n }, null);
  assert.equal(codeFor(rfq, 't'), 'most_swaps');
  one.ended({ ...same, end: 'lapsed' });
  one.ended({ ...same, threadId: 'u', base: 1n, end: 'lapsed' });
  const { takes } = one.verdict(rfq, large, terms, 'quote') as { takes: OpenQuote['takes'] };
  one.quoted({ rfq, match: large, terms, takes, untilMs: 0, threadId: null });
  const small = { ...terms, base: 1n };
  assert.equal(other.verdict(rfq, match, small, 'quote').refused?.code, 'most_quotes');
});
