// Quoting as the book, prices, switches and clock move, against a market that notes what it hears.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import type { Rfq, Thread } from '@parley/sdk/types.ts';
import type { Limits, PairConfig } from './config/config.ts';
import { createQuoting } from './quoting.ts';
import type { Mode } from './rules/decide.ts';
import { dealOf, limits, pair, partsOf, pricedPair } from './testing/stage.ts';

const rfqOf = (id: string, creatorId = 'taker'): Rfq => ({
  id,
  creatorId,
  direction: 'sell_base',
  baseAssetId: 'id-btc',
  quoteAssetId: 'id-sol',
  baseAmount: '1000000',
  status: 'open',
  visibility: 'public',
  askAmount: null,
  minSettled: null,
  creatorStanding: null,
  expiresAt: new Date(10 ** 9).toISOString(),
  createdAt: new Date(0).toISOString(),
});

/** 0.01 BTC at 400 SOL each, and a hundred basis points less: 3.96 SOL. */
type Given = { readonly sols?: bigint; readonly limits?: Limits; readonly of?: PairConfig };

function stage({ of = pair, ...given }: Given = {}) {
  const heard: string[] = [];
  const at = { ms: 0, price: '400' as string | null, mode: 'open' as Mode, refuses: '' };
  /** Until then no request is answered. */
  const answers = { begin: Promise.resolve() };
  const book = new Map<string, Rfq>();
  const parts = partsOf({ at, ...given });
  const refusal = () => {
    const status = { no_answer: 0, rate_limited: 429 }[at.refuses] ?? 409;
    return new ParleyApiError({ status, code: at.refuses, message: 'no' });
  };
  const quoting = createQuoting({
    ...parts,
    pairs: [of],
    idOf: (name) => `id-${name}`,
    feed: () => ({ book, state: () => 'live' }),
    client: {
      quoteMany: async (quotes) => {
        const said = quotes.map(({ rfqId, quoteAmount, unlessAccepted }) => {
          return `${rfqId} ${quoteAmount}${unlessAccepted ? ' unless accepted' : ''}`;
        });
        heard.push(said.join(', '));
        await answers.begin;
        if (at.refuses === 'no_answer' || at.refuses === 'rate_limited') throw refusal();
        return quotes.map(({ rfqId }) => {
          if (at.refuses === '') return { status: 200, rfqId, threadId: `thread ${rfqId}` };
          return { status: 409, rfqId, code: at.refuses, error: 'no' };
        });
      },
      withdrawQuote: async (threadId) => {
        heard.push(`withdraw ${threadId}`);
        return {} as Thread;
      },
      withdrawQuotes: async () => {
        heard.push('withdraw all');
        return { withdrawn: 1, committed: 0, next: null };
      },
    },
  });
  const look = async () => {
    quoting.look();
    await new Promise(setImmediate);
    return heard.splice(0);
  };
  return { at, answers, book, heard, look, quoting, ...parts };
}

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

test('a quote has the spread of its size and of what is held, and moves with that', async () => {
  const { book, look, promises } = stage({ of: pricedPair });
  book.set('r', rfqOf('r'));
  assert.deepEqual(await look(), ['r 3920000000 unless accepted']);
  // 10 000 bitcoin are on their way to somebody else: no basis points are left of the 50.
  promises.dealt({ ...dealOf('t', 's'), rfqId: 'other', base: 10n ** 12n }, null);
  assert.deepEqual(await look(), ['r 3940000000 unless accepted']);
});

test('a quoted amount is promised: the next one is quoted only where it can be paid too', async () => {
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
    (await look()).flatMap((each) => each.split(', ')).map((each) => each.slice(0, 1)),
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

const many = { ...limits, mostQuotes: 200, mostQuotesATaker: 200 };

test('decisions in one go leave 50 in a request, within both budgets', async () => {
  for (const [most, sizes] of [
    [{}, [50, 50, 20]],
    [{ requestsAMinute: 2 }, [50, 50]],
    [{ quotesAMinute: 70 }, [50, 20]],
  ] as const) {
    const { at, book, look } = stage({ limits: { ...many, ...most } });
    for (let n = 0; n < 120; n += 1) book.set(`r${n}`, rfqOf(`r${n}`));
    const sent = async () => (await look()).map((each) => each.split(', ').length);
    assert.deepEqual(await sent(), sizes);
    assert.deepEqual(await sent(), []);
    at.ms = 60_000;
    const left = 120 - sizes.reduce((sum, each) => sum + each, 0);
    assert.deepEqual(await sent(), left === 0 ? [] : [left]);
  }
});

test('all quotes are taken back by one request when none can stand, else each by its own', async () => {
  const { at, book, look, promises } = stage({ limits: many });
  for (const id of ['a', 'b', 'c']) book.set(id, rfqOf(id));
  await look();
  for (const id of ['b', 'c']) book.set(id, { ...rfqOf(id), expiresAt: new Date(0).toISOString() });
  at.ms = 63_000;
  const [one, other, again] = (await look()).toSorted().toReversed();
  assert.deepEqual([one, other], ['withdraw thread c', 'withdraw thread b']);
  assert.match(again ?? '', /^a /);
  book.set('d', rfqOf('d'));
  await look();
  at.price = null;
  assert.deepEqual(await look(), ['withdraw all']);
  assert.equal(promises.quotes.size, 0);
});

test('one price of an RFQ is on its way at a time; refusals on an RFQ that left are forgotten', async () => {
  const { at, answers, book, look, quoting, turns } = stage();
  const { promise, resolve } = Promise.withResolvers<void>();
  answers.begin = promise;
  book.set('r', rfqOf('r'));
  assert.equal((await look()).length, 1);
  at.price = '380';
  assert.deepEqual(await look(), [], 'the price before is on its way');
  assert.ok(turns.isTaken('r'));
  at.refuses = 'asset_closed';
  resolve();
  book.delete('r');
  quoting.changed({ kind: 'cancelled', rfq: rfqOf('r') });
  await look();
  assert.ok(!turns.isTaken('r'));
  assert.deepEqual(await look(), []);
  at.refuses = '';
  book.set('r', rfqOf('r'));
  assert.deepEqual(await look(), ['r 3762000000 unless accepted'], 'it does not rest any more');
});
