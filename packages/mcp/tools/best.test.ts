// The best quote within a bound: one request however often it is asked, no acceptance, and no quote
// beyond the bound.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { codeOf } from '@parley/sdk/errors.ts';
import { isoTime } from '@parley/sdk/people.ts';
import type { Rfq, Thread } from '@parley/sdk/types.ts';
import type { Desk } from '../desk.ts';
import { Refusal } from '../refusal.ts';
import { createTurns } from '../turns.ts';
import { noWait } from '../waiting.ts';
import { bestQuote } from './best.ts';

let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-best-'));
});
after(() => rm(dir, { recursive: true }));

const now = 1_800_000_000;
const sell = { side: 'sell', amount: '0.01', base: 'bitcoin', quote: 'evm:USD', atLeast: '600' };
const usd = { address: `0x${'a'.repeat(40)}`, decimals: 6 };
const listed = [
  { id: 'btc', chain: 'bitcoin', address: null, decimals: 8, symbol: 'BTC' },
  { id: 'usd', chain: 'evm', address: usd.address, decimals: 6, symbol: 'USD' },
];

type Quote = Partial<Pick<Thread, 'status' | 'proposedBy' | 'takerAccepted' | 'quoteExpiresAt'>>;

/** A market that shows quotes by the second at which they are asked for. */
async function market(quotesAt: (seconds: number) => readonly (Quote & { price: string })[]) {
  const posted: Rfq[] = [];
  const looked: string[] = [];
  const clock = { at: 0 };
  const thread = ({ price, ...quote }: Quote & { price: string }, place: number) => ({
    id: `t-${place}`,
    rfqId: 'r-1',
    rfq: posted[0],
    status: 'open',
    proposedBy: 'maker',
    makerId: 'm',
    takerId: 'me',
    takerAccepted: false,
    swapId: null,
    quoteAmount: `${Number(price) * 1e6}`,
    initiator: 'taker',
    ...quote,
  });
  const client = {
    assets: async () => ({ assets: listed, nextCursor: null }),
    rfqs: async () => ({ rfqs: posted, nextCursor: null }),
    createRfq: async (order: { ttlSeconds: number }) => {
      const expiresAt = isoTime(now + order.ttlSeconds);
      const none = { askAmount: null, minSettled: null, visibility: 'public', status: 'open' };
      posted.push({
        ...none,
        ...order,
        id: `r-${posted.length + 1}`,
        creatorId: 'me',
        expiresAt,
      } as never);
      return posted.at(-1);
    },
    thread: async (threadId: string) => {
      looked.push(threadId);
      throw new Refusal('not_verified', 'lied', 'it is another');
    },
    threadsOfRfq: async () => ({ threads: quotesAt(clock.at).map(thread), nextCursor: null }),
  };
  const places = { data: await mkdtemp(join(dir, 'data-')) };
  const chains: Record<string, object> = {
    bitcoin: { family: 'bitcoin', tokens: {} },
    evm: { family: 'evm', tokens: { USD: usd } },
  };
  const desk = {
    held: null,
    userId: 'me',
    client,
    session: { places, profile: { chains }, chain: (name: string) => chains[name], now: () => now },
    scopes: async () => ['taker'],
    names: async () => ({ of: (id: string) => ({ name: id, decimals: 6, pinned: true }) }),
    inTurn: createTurns(),
    timer: {
      seconds: () => clock.at,
      pause: async (ms: number) => {
        clock.at += ms / 1_000;
      },
    },
  };
  const ask = (args: object, held: object | null = null) =>
    // biome-ignore lint/suspicious/noExplicitAny: a test names the fields that it asks for
    bestQuote.run({ ...desk, held } as unknown as Desk, args as never, noWait) as Promise<any>;
  return { ask, posted, looked, clock, data: places.data };
}

test('the best quote is the best of those that keep the bound and may be accepted', async () => {
  const soon = { quoteExpiresAt: isoTime(now + 10) };
  const { ask, clock } = await market((seconds) => [
    { price: '599' },
    { price: '800', status: 'closed' },
    { price: '800', proposedBy: 'taker' },
    { price: '800', ...soon },
    ...(seconds >= 4 ? [{ price: '600' }] : []),
    ...(seconds >= 8 ? [{ price: '640' }] : []),
    ...(seconds >= 10 ? [{ price: '700' }] : []),
  ]);
  const { best, plan, quotes, rfqId } = await ask(sell);
  assert.deepEqual([best.price.amount, quotes, rfqId], ['640', 3, 'r-1']);
  assert.equal(plan, null, 'without keys a plan wants addresses');
  assert.equal(clock.at, 8, 'some seconds after the first that keeps the bound');
});

test('to buy, the least price within the bound is the best', async () => {
  const { ask } = await market(() => [{ price: '601' }, { price: '599' }, { price: '600' }]);
  const { atLeast: _, ...rest } = sell;
  const { best } = await ask({ ...rest, side: 'buy', atMost: '600' });
  assert.equal(best.price.amount, '599');
  assert.equal((await ask({ ...rest, side: 'buy', atMost: '598.9' })).best, null);
});

test('asked again, also twice at once, it waits on at the same request', async () => {
  const { ask, posted } = await market(() => [{ price: '1' }]);
  const all = await Promise.all([ask(sell), ask({ ...sell, atLeast: '650' })]);
  assert.deepEqual(
    all.map(({ best, rfqId }) => [best, rfqId]),
    Array(2).fill([null, 'r-1']),
  );
  await ask({ ...sell, amount: '0.02' });
  await ask({ ...sell, minSettled: 3 });
  assert.deepEqual(
    posted.map(({ baseAmount }) => baseAmount),
    ['1000000', '2000000', '1000000'],
  );
  assert.ok(
    posted.every(({ askAmount }) => askAmount === null),
    'nobody hears the bound',
  );
});

test('a crash before the terms were kept is made good by the next call', async () => {
  const { ask, data } = await market(() => []);
  await ask(sell);
  const terms = join(data, 'terms');
  await rm(terms, { recursive: true });
  await ask(sell);
  assert.deepEqual(await readdir(terms), ['r-1.json']);
});

test('where the own checks refuse each quote, it says why, and how many it has tried', async () => {
  const { ask, looked } = await market(() => [1, 2, 3, 4].map((more) => ({ price: `60${more}` })));
  const { best, plan, refused } = await ask({ ...sell, payTo: 'p', refundTo: 'r' });
  assert.deepEqual([best.price.amount, plan, refused.code], ['604', null, 'lied']);
  assert.deepEqual(looked, ['t-3', 't-2', 't-1']);
});

test('a request of which a quote is accepted already is not asked about again', async () => {
  const { ask } = await market(() => [{ price: '700', takerAccepted: true }, { price: '900' }]);
  await assert.rejects(ask(sell), (error: unknown) => codeOf(error) === 'accepted_already');
});

test('limits and arguments refuse before anybody is asked', async () => {
  const { ask, posted } = await market(() => []);
  const check = async () => {
    throw new Refusal('needs_you', 'over_swap_limit', 'too much');
  };
  const code = (wanted: string) => (error: unknown) => codeOf(error) === wanted;
  await assert.rejects(ask(sell, { ledger: { check } }), code('over_swap_limit'));
  const { atLeast: _, ...unbound } = sell;
  for (const args of [unbound, { ...unbound, atMost: '600' }, { ...sell, atMost: '700' }]) {
    await assert.rejects(ask(args), code('usage'));
  }
  assert.equal(posted.length, 0);
});
