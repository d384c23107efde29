// Quoting as the book, prices, switches and clock move, against a market that notes what it hears.

import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { ParleyApiError } from '../sdk/errors.ts';
import type { Rfq, Thread } from '../sdk/types.ts';
import type { AssetConfig, Limits, PairConfig } from './config/config.ts';
import type { Deal } from './journal.ts';
import { openLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { createPromises } from './promises.ts';
import { createQuoting } from './quoting.ts';
import type { Mode } from './rules/decide.ts';
import { parsePrice } from './rules/price.ts';

const asset = (name: string, chain: string, decimals: number): AssetConfig => ({
  ...{ name, chain, token: null, decimals, reserve: 0n, highValueFrom: null },
  ...{ mostOpen: null, mostADay: null },
});
const [btc, sol] = [asset('btc', 'bitcoin', 8), asset('sol', 'solana', 9)];
const pair: PairConfig = {
  ...{ name: 'btc/sol', base: btc, quote: sol, least: 1n, most: 10n ** 9n, price: ['p'] },
  ...{ spreadBps: 100n, slipBps: 50n, gives: ['base', 'quote'] },
};
const limits: Limits = {
  ...{
    mostSwaps: 2,
    mostSwapsATaker: 2,
    mostQuotes: 3,
    mostQuotesATaker: 2,
    quoteSeconds: 90,
    quotesAMinute: 100,
  },
  ...{ balanceSeconds: 30, pollMs: 1_000, cancelSeconds: 15, batchSeconds: 0 },
};
const costs = { fund: 0n, claim: 0n, refund: 0n, deposit: 0n, settlesFromAmount: true };

const rfqOf = (id: string, creatorId = 'taker'): Rfq => ({
  ...{ id, creatorId, direction: 'sell_base', baseAssetId: 'id-btc', quoteAssetId: 'id-sol' },
  ...{ baseAmount: '1000000', status: 'open', visibility: 'public', askAmount: null },
  ...{ expiresAt: new Date(10 ** 9).toISOString(), createdAt: new Date(0).toISOString() },
});

/** 0.01 BTC at 400 SOL each, and a hundred basis points less: 3.96 SOL. */
function stage({ sols = 10n ** 12n } = {}) {
  const heard: string[] = [];
  const at = { ms: 0, price: '400' as string | null, mode: 'open' as Mode, refuses: '' };
  const book = new Map<string, Rfq>();
  const balances = () =>
    new Map([
      ['bitcoin coin', { units: 10n ** 9n, readAtMs: at.ms }],
      ['solana coin', { units: sols, readAtMs: at.ms }],
    ]);
  const promises = createPromises({
    ...{ assets: [btc, sol], limits, mode: () => at.mode, now: () => at.ms },
    deals: new Map<string, Deal>(),
    prices: pricesAt(at),
    stock: {
      ...{ payable: new Map(), reserves: new Map(), costsOf: () => costs },
      get balances() {
        return balances();
      },
      read: async () => undefined,
    },
  });
  const quoting = createQuoting({
    ...{
      promises,
      prices: pricesAt(at),
      pairs: [pair],
      limits,
      now: () => at.ms,
      mode: () => at.mode,
    },
    feed: () => ({ book, state: () => 'live' }),
    idOf: (name) => `id-${name}`,
    client: {
      quote: async (rfqId, amount, { unlessAccepted } = {}) => {
        heard.push(`${rfqId} ${amount}${unlessAccepted ? ' unless accepted' : ''}`);
        if (at.refuses === '') return { id: `thread ${rfqId}` } as Thread;
        const status = { no_answer: 0, rate_limited: 429 }[at.refuses] ?? 409;
        throw new ParleyApiError({ status, code: at.refuses, message: 'no' });
      },
      withdrawQuote: async (threadId) => {
        heard.push(`withdraw ${threadId}`);
        return {} as Thread;
      },
    },
    log: openLog(new PassThrough().resume(), () => 0),
    metrics: createMetrics(),
    signal: new AbortController().signal,
  });
  const look = async () => {
    quoting.look();
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    await new Promise(setImmediate);
    return heard.splice(0);
  };
  return { at, book, look, quoting, promises };
}

const pricesAt = (at: { price: string | null }) => ({
  of: () => (at.price === null ? null : parsePrice(at.price)),
  all: () => new Map(),
  close: () => undefined,
});

test('a quote is sent once, prolonged before it ends, moved with the price, withdrawn without one', async () => {
  const { at, book, look } = stage();
  book.set('r', rfqOf('r'));
  assert.deepEqual(await look(), ['r 3960000000 unless accepted']);
  at.ms = 60_000;
  assert.deepEqual(await look(), []);
  at.ms = 63_000;
  assert.deepEqual(await look(), ['r 3960000000 unless accepted'], 'a third of its time is left');
  // A quarter of a percent less is still within half of the slip.
  at.price = '399';
  assert.deepEqual(await look(), []);
  at.price = '398.9';
  assert.deepEqual(await look(), ['r 3949110000 unless accepted']);
  // Beyond the slip the taker's acceptance would be refused: it is told of the new price.
  at.price = '396.5';
  assert.deepEqual(await look(), ['r 3925350000']);
  at.price = null;
  assert.deepEqual(await look(), ['withdraw thread r']);
  at.price = '400';
  assert.deepEqual(await look(), ['r 3960000000 unless accepted']);
});

test('what is quoted is promised: the next one is quoted only where it can be paid too', async () => {
  const { at, book, look, promises, quoting } = stage({ sols: 5_000_000_000n });
  book.set('one', rfqOf('one'));
  book.set('two', rfqOf('two', 'other'));
  assert.deepEqual(await look(), ['one 3960000000 unless accepted']);
  book.delete('one');
  quoting.changed({ kind: 'agreed', rfq: rfqOf('one') });
  assert.equal(promises.quotes.size, 0);
  assert.deepEqual(await look(), ['two 3960000000 unless accepted']);
  at.ms = 63_000;
  assert.deepEqual(await look(), ['two 3960000000 unless accepted'], 'beside itself it is');
});

test('one taker has so many quotes, and all have so many', async () => {
  const { book, look } = stage();
  for (const id of ['a', 'b', 'c']) book.set(id, rfqOf(id));
  for (const id of ['d', 'e']) book.set(id, rfqOf(id, 'other'));
  assert.deepEqual(
    (await look()).map((each) => each.slice(0, 1)),
    ['a', 'b', 'd'],
  );
});

test('the kill switch withdraws all quotes at once; when paused they end by themselves', async () => {
  for (const mode of ['killed', 'paused'] as const) {
    const { at, book, look, promises } = stage();
    book.set('r', rfqOf('r'));
    await look();
    at.mode = mode;
    assert.deepEqual(await look(), mode === 'killed' ? ['withdraw thread r'] : [], mode);
    at.ms = 91_999;
    assert.deepEqual(await look(), []);
    assert.equal(promises.quotes.size, mode === 'killed' ? 0 : 1);
    at.ms = 92_000;
    assert.deepEqual(await look(), []);
    assert.equal(promises.quotes.size, 0);
  }
});

test('a quote without an answer counts, and is sent again soon; past the budget none is', async () => {
  const { at, book, look, promises } = stage();
  book.set('r', rfqOf('r'));
  at.refuses = 'no_answer';
  assert.deepEqual(await look(), ['r 3960000000 unless accepted']);
  assert.equal(promises.quotes.size, 1, 'it may have been taken');
  at.refuses = 'rate_limited';
  assert.deepEqual(await look(), []);
  at.ms = 2_000;
  assert.deepEqual(await look(), ['r 3960000000 unless accepted']);
  at.refuses = '';
  assert.deepEqual(await look(), []);
  at.ms = 17_000;
  assert.deepEqual(await look(), ['r 3960000000 unless accepted']);
  assert.equal(promises.quotes.get('r')?.threadId, 'thread r');
});

test('a refusal of the market is rested on; what the taker has accepted is left to that', async () => {
  const { at, book, look, promises } = stage();
  book.set('r', rfqOf('r'));
  at.refuses = 'asset_closed';
  assert.deepEqual(await look(), ['r 3960000000 unless accepted']);
  assert.equal(promises.quotes.size, 0);
  assert.deepEqual(await look(), []);
  at.refuses = '';
  at.ms = 30_000;
  assert.deepEqual(await look(), ['r 3960000000 unless accepted']);
  at.ms = 95_000;
  at.refuses = 'taker_accepted';
  assert.deepEqual(await look(), ['r 3960000000 unless accepted']);
  assert.equal(promises.quotes.get('r')?.threadId, 'thread r', 'it may still be agreed on');
});
