// The amounts for which swaps of an earlier process and of the day still count.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rfq, Standing } from '@parley/sdk/types.ts';
import type { AssetConfig, Limits, PairConfig } from './config/config.ts';
import type { Deal, End } from './journal.ts';
import { createPromises } from './promises.ts';
import { holdingOf } from './rules/inventory.ts';
import type { Match } from './rules/matching.ts';
import { parsePrice } from './rules/price.ts';
import { dealOf, limits } from './testing/stage.ts';

const asset = (name: string, chain: string, token: string | null): AssetConfig => ({
  name,
  chain,
  token,
  decimals: 6,
  reserve: 0n,
  highValueFrom: null,
  mostOpen: null,
  mostADay: 1_000n,
});
const usd = asset('usd', 'evm', '0xd');
const trx = asset('trx', 'tron', null);
const pair: PairConfig = {
  name: 'usd/trx',
  base: usd,
  quote: trx,
  least: 1n,
  most: 10n ** 9n,
  price: ['p'],
  spreadBps: 0n,
  slipBps: 0n,
  gives: ['base', 'quote'],
  levels: [],
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

function promisesOf(deals: readonly Deal[], areCostsKnown = true, more: Partial<Limits> = {}) {
  return createPromises({
    assets: [usd, trx],
    limits: { ...limits, mostSwapsATaker: 1, ...more },
    mode: () => 'open',
    now: () => now * 1_000,
    deals: new Map(deals.map((each) => [each.threadId, each])),
    prices: { of: () => parsePrice('1'), all: () => new Map(), close: () => undefined },
    stock: {
      payable: new Map(),
      reserves: new Map(),
      read: async () => undefined,
      costsOf: () => (areCostsKnown ? costs : null),
      balances: new Map(
        [usd, trx, { chain: 'evm', token: null }].map((each) => [
          holdingOf(each),
          { units: 10n ** 6n, readAtMs: now * 1_000 },
        ]),
      ),
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
