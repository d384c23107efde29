// An order against a market that is scripted: its end, its acceptance, and a crash at every call.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ParleyApiError, VerificationError } from '@parley/sdk/errors.ts';
import type { OwnTrade } from '@parley/sdk/trade.ts';
import type { Rfq, Thread } from '@parley/sdk/types.ts';
import { needsYou } from '../failures.ts';
import { placesOf } from '../places.ts';
import { type Asking, agreedOn, type OrderEvent } from './agree.ts';
import { closeOrder, dropOrder, openOrders, readOrder } from './kept.ts';
import type { Offer } from './offers.ts';
import type { Order } from './order.ts';

let home: string;
before(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-orders-'));
});
after(() => rm(home, { recursive: true, force: true }));

const began = 1_800_000_000;
const order: Order = {
  id: 'id-one',
  isNamed: true,
  side: 'sell',
  base: { name: 'bitcoin', chain: 'bitcoin', token: null, decimals: 8 },
  baseAmount: 1_000_000n,
  quote: { name: 'ethereum:USDC', chain: 'ethereum', token: '0x1', decimals: 6 },
  limit: 640n,
  waitSeconds: 60,
  minSettled: null,
};

const refusal = (status: number, code: string) =>
  new ParleyApiError({ status, code, message: code });

/** As a market is: one reply a key, and one swap a request. */
function market() {
  const rfqs = new Map<string, Rfq>();
  const threads = new Map<string, Thread>();
  const replies = new Map<string, Rfq | Error>();
  const state = { clock: began, asked: 0, price: '640', maker: 'accepts' as Maker, mostRfqs: 9 };
  const rfqOf = (id: string) => rfqs.get(id) ?? assert.fail(`no RFQ ${id}`);
  const put = (id: string, change: Partial<Rfq>) => rfqs.set(id, { ...rfqOf(id), ...change });
  const client = {
    createRfq: async (_: object, { idempotencyKey = '' }) => {
      const full = rfqs.size >= state.mostRfqs ? refusal(409, 'too_many_open') : undefined;
      const known = replies.get(idempotencyKey) ?? full;
      if (known instanceof Error) {
        replies.set(idempotencyKey, known);
        throw known;
      }
      if (known !== undefined) return known;
      const rfq = { id: `rfq-${rfqs.size}`, status: 'open' } as Rfq;
      rfqs.set(rfq.id, rfq);
      replies.set(idempotencyKey, rfq);
      return rfq;
    },
    rfq: async (id: string) => rfqOf(id),
    threadsOfRfq: async (rfqId: string) => {
      const id = `thread-${rfqId}`;
      const rfq = rfqOf(rfqId);
      const known = threads.get(id) ?? quoteOn(id, rfqId);
      if (known.takerAccepted && state.maker === 'accepts' && known.swapId === null) {
        Object.assign(known, { swapId: `swap-${rfqId}`, status: 'agreed' });
        put(rfqId, { status: 'agreed' });
      }
      const one = { ...known, rfq, quoteAmount: state.price };
      threads.set(id, one);
      return { threads: state.price === '0' ? [] : [one], nextCursor: null };
    },
    cancelRfq: async (id: string) => {
      const { status } = rfqOf(id);
      if (status === 'agreed') throw refusal(409, 'rfq_gone');
      if (threads.get(`thread-${id}`)?.takerAccepted === true) throw refusal(409, 'committed');
      put(id, { status: 'cancelled' });
      return rfqOf(id);
    },
  };
  const accept = ({ thread }: Offer) => {
    const known = threads.get(thread.id);
    if (known === undefined) throw refusal(404, 'unknown_thread');
    threads.set(thread.id, { ...known, takerAccepted: true });
  };
  const swaps = () => [...threads.values()].flatMap(({ swapId }) => swapId ?? []);
  return { client, state, accept, swaps, rfqs, put, threads };
}

type Maker = 'accepts' | 'waits';

const quoteOn = (id: string, rfqId: string) =>
  ({
    id,
    rfqId,
    status: 'open',
    proposedBy: 'maker',
    takerAccepted: false,
    swapId: null,
    quoteExpiresAt: null,
    makerStanding: null,
  }) as unknown as Thread;

type Market = ReturnType<typeof market>;
type More = Partial<Pick<Asking, 'accept' | 'mayAsk' | 'client' | 'signal'>>;

/** A process on this market, with a folder of its own. */
function processOn(of: Market, name: string, more: More = {}) {
  const session = { places: placesOf({ HOME: home }, name), now: () => of.state.clock };
  const events: OrderEvent[] = [];
  const asking: Asking = {
    session,
    client: of.client as unknown as Asking['client'],
    signal: new AbortController().signal,
    pause: async () => {
      of.state.clock += 1;
    },
    tell: (event) => events.push(event),
    bodyOf: async () => ({}) as never,
    accept: async (_, offer, binding) => {
      await binding();
      of.accept(offer);
    },
    mayAsk: true,
    tradeOf: async (threadId) => {
      const trade = {
        rfqId: threadId.replace('thread-', ''),
        quoteAmount: 640n,
        acceptedAt: began,
      };
      return trade as unknown as OwnTrade;
    },
    ...more,
  };
  const run = async (wanted = order) =>
    agreedOn(asking, wanted, await readOrder(session, wanted.id));
  return { run, session, events, kept: () => readOrder(session, order.id) };
}

const steps = (events: readonly OrderEvent[]) => events.map(({ step }) => step);

test('the best quote is accepted after a moment, and the order names its swap from then on', async () => {
  const of = market();
  const { run, session, events, kept } = processOn(of, 'plain');
  const { swapId, accepted } = await run();
  assert.deepEqual([swapId, accepted.price, of.state.clock], ['swap-rfq-0', '640', began + 3]);
  assert.deepEqual(steps(events), ['asked', 'quotes', 'agreed']);
  assert.deepEqual(await openOrders(session), ['id-one']);
  await closeOrder(session, (await kept()) ?? assert.fail('it is kept'));
  assert.deepEqual([await openOrders(session), (await kept())?.swapId], [[], swapId]);
});

/** Fails the call of this number, before or after the market has heard it, and each one behind. */
function crashing(of: Market, at: number, isHeard: boolean) {
  let calls = 0;
  const crash = () => new Error('crash');
  const guarded =
    <Given extends unknown[], T>(work: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      calls += 1;
      if (calls > at || (calls === at && !isHeard)) throw crash();
      const result = work(...given);
      if (calls < at) return result;
      await result.catch(() => {});
      throw crash();
    };
  const { createRfq, rfq, threadsOfRfq, cancelRfq } = of.client;
  const client = {
    createRfq: guarded(createRfq),
    rfq: guarded(rfq),
    threadsOfRfq: guarded(threadsOfRfq),
    cancelRfq: guarded(cancelRfq),
  } as unknown as Asking['client'];
  const said = guarded(async (offer: Offer) => of.accept(offer));
  const accept: Asking['accept'] = async (_, offer, binding) => {
    await binding();
    await said(offer);
  };
  return { client, accept, isOver: () => calls < at };
}

test('a process that is killed at any call goes on, and trades once', async () => {
  for (const isHeard of [false, true]) {
    for (let at = 1; ; at += 1) {
      const of = market();
      const name = `killed-${isHeard}-${at}`;
      const { isOver, ...killed } = crashing(of, at, isHeard);
      const first = await processOn(of, name, killed).run().catch(String);
      const second = processOn(of, name);
      const { swapId } = await second.run();
      assert.deepEqual(of.swaps(), [swapId], `${name}: ${first}`);
      assert.equal(of.rfqs.size, 1, name);
      if (isOver()) break;
    }
  }
});

test('the bound of the last words holds for a "resume" after a kill', async () => {
  const of = market();
  const { isOver: _, ...killed } = crashing(of, 2, true);
  await processOn(of, 'bound-of-now', killed).run().catch(String);
  const dear = { ...order, limit: 641n };
  const again = processOn(of, 'bound-of-now', crashing(of, 2, true));
  await again.run(dear).catch(String);
  assert.equal((await again.kept())?.limit, '641');
});

test('a quote below the bound is never accepted, and the request is taken back', async () => {
  const of = market();
  of.state.price = '639';
  const { run, kept, events } = processOn(of, 'below');
  await assert.rejects(run(), { code: 'not_good_enough', class: 'no_quote' });
  assert.deepEqual([of.rfqs.get('rfq-0')?.status, await kept()], ['cancelled', null]);
  assert.deepEqual(steps(events), ['asked', 'quotes', 'withdrawn']);
  assert.equal(of.state.clock, began + 60);
  of.state.price = '0';
  await assert.rejects(run(), { code: 'no_quotes' });
  of.state.mostRfqs = 2;
  await assert.rejects(run(), { code: 'too_many_open' });
  assert.equal(await kept(), null);
  // A refusal of before is the market's reply for a day, under its key alone.
  of.state.mostRfqs = 9;
  of.state.price = '641';
  assert.equal((await run()).swapId, 'swap-rfq-2');
  of.state.mostRfqs = 3;
  await processOn(of, 'replayed', crashing(of, 1, true))
    .run()
    .catch(String);
  of.state.mostRfqs = 9;
  assert.equal((await processOn(of, 'replayed').run()).swapId, 'swap-rfq-3');
});

test('an offer that is refused is passed over; what this side lacks ends the order', async () => {
  const of = market();
  let price = '';
  const refusing: Asking['accept'] = async (_, offer, binding) => {
    price = String(offer.price);
    if (offer.price === 700n) throw new VerificationError('legs', 'x', 'y');
    await binding();
    of.accept(offer);
  };
  of.state.price = '700';
  const { run, events } = processOn(of, 'passed', { accept: refusing });
  const once = run();
  await assert.rejects(once, { class: 'not_verified' });
  assert.deepEqual([price, steps(events).filter((each) => each === 'trouble').length], ['700', 1]);
  const lacking: Asking['accept'] = async () => {
    throw needsYou('lacking', 'no coins');
  };
  const lacks = processOn(of, 'lacks', { accept: lacking });
  await assert.rejects(lacks.run(), { code: 'lacking' });
  assert.equal(await lacks.kept(), null);
});

test('an interruption takes the request back, unless an acceptance stands', async () => {
  const of = market();
  of.state.maker = 'waits';
  const stop = new AbortController();
  const { signal } = stop;
  const bound = processOn(of, 'bound', {
    signal,
    accept: async (_, offer, binding) => {
      await binding();
      of.accept(offer);
      stop.abort(new Error('interrupted'));
    },
  });
  await assert.rejects(bound.run(), /interrupted/);
  assert.deepEqual(steps(bound.events).at(-1), 'stands');
  assert.equal((await bound.kept())?.accepted?.price, '640');
  // The maker comes later, and only what stands goes on.
  of.state.maker = 'accepts';
  const again = processOn(of, 'bound', { mayAsk: false });
  assert.deepEqual([(await again.run()).swapId, of.swaps().length], ['swap-rfq-0', 1]);
});

test('no second request follows an acceptance that may still become a swap', async () => {
  const of = market();
  of.state.maker = 'waits';
  const { run, kept, session } = processOn(of, 'lapsing');
  await assert.rejects(run(), { code: 'lapsed' });
  assert.ok(of.state.clock >= began + 720);
  of.put('rfq-0', { status: 'expired' });
  of.state.clock = began + 600;
  await assert.rejects(run(), { code: 'acceptance_stands' });
  assert.equal(of.rfqs.size, 1);
  of.state.clock = began + 4_000;
  of.state.maker = 'accepts';
  assert.equal((await run()).swapId, 'swap-rfq-1');
  assert.equal((await kept())?.rfqId, 'rfq-1');
  await dropOrder(session, order.id);
});

test('a request that has ended is not asked again by "resume", and a damaged file is named', async () => {
  const of = market();
  const { isOver: _, ...killed } = crashing(of, 2, true);
  await processOn(of, 'ended', killed).run().catch(String);
  of.put('rfq-0', { status: 'expired' });
  const { run, kept, session } = processOn(of, 'ended', { mayAsk: false });
  await assert.rejects(run(), { code: 'request_over' });
  assert.equal(await kept(), null);
  await writeFile(join(session.places.data, 'orders', 'id-one.json'), '{"id":"id-one"}');
  await assert.rejects(kept(), { code: 'bad_order' });
});
