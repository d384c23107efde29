// Customers who go on while processes come and go: RFQs, quotes, reads and the feed. In the end
// what was answered is looked for: each RFQ, each quote and its webhook, each entry of the feed.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Customer } from '../support/customers.ts';
import { amounts, type Told, until } from '../support/deals.ts';
import type { Stage } from '../support/stage.ts';
import { type Ask, type Asked, type Counts, createAsk, lostOf, noCounts } from './asking.ts';
import { type Listener, startListener } from './listener.ts';

/** Between two requests of one customer. */
const paceMs = 20;
/** Of RFQs and quotes every so manieth is sent again under its key. */
const repeatEvery = 5;
const sockets = 3;
/** Of an account 1 000 RFQs may live. */
const mostLive = 300;

type Made = Required<Asked> & { readonly id: string };

export type LoadOptions = {
  readonly url: string;
  readonly taker: Customer;
  readonly maker: Customer;
  /** Neither makes RFQs. */
  readonly listening: Customer;
  /** What is lost is sent again, as where a database goes away. */
  readonly isPatient?: boolean;
};

export type Load = {
  readonly counts: Counts;
  readonly listeners: readonly Listener[];
  /** Ends when all that is under way is answered. */
  stop(): Promise<void>;
  /**
   * Throws where something that was answered is not there; a line of counts. The feed begins anew
   * where the database is another one.
   */
  check(stage: Stage, how?: { readonly isFeedWhole: boolean }): Promise<string>;
};

export function startLoad(options: LoadOptions): Load {
  const { url, taker, maker, listening } = options;
  const counts = noCounts();
  const ask = createAsk(url, counts, options.isPatient === true);
  const rfqs: Made[] = [];
  const quotes: Made[] = [];
  const repeats = { count: 0 };
  let cancelled = 0;
  let isOver = false;
  const listeners = Array.from({ length: sockets }, () => startListener(url, listening.key));

  const make = async (who: Customer, all: Made[], asked: Required<Asked>, field: string) => {
    const body = await ask(who, asked);
    if (body === null) return;
    all.push({ ...asked, id: idIn(body, field) });
    if (all.length % repeatEvery !== 0) return;
    const before = all[Math.floor(Math.random() * all.length)] as Made;
    const again = await ask(who, before);
    if (again !== null) assert.equal(idIn(again, field), before.id, 'one key, one effect');
    repeats.count += 1;
  };
  const loops = [
    async () => {
      const body = {
        direction: 'sell_base',
        ttlSeconds: 86_400,
        baseAssetId: taker.assets.SOL.id,
        baseAmount: amounts.SOL.toString(),
        quoteAssetId: taker.assets.ETH.id,
      };
      await make(taker, rfqs, { path: '/v1/rfqs', key: randomUUID(), body }, 'rfq');
      const oldest = rfqs[cancelled];
      if (oldest === undefined || quotes.length - cancelled < mostLive) return;
      const path = `/v1/rfqs/${oldest.id}/cancel`;
      if ((await ask(taker, { path, key: randomUUID(), body: {} })) !== null) cancelled += 1;
    },
    async () => {
      const rfq = rfqs[quotes.length];
      if (rfq === undefined) return;
      const body = { quoteAmount: String(amounts.ETH + BigInt(quotes.length)) };
      const path = `/v1/rfqs/${rfq.id}/quotes`;
      await make(maker, quotes, { path, key: randomUUID(), body }, 'thread');
    },
    ...reads(ask, taker, rfqs),
  ];
  const running = loops.map(async (step) => {
    while (!isOver) {
      await step();
      await sleep(paceMs);
    }
  });
  const stop = async () => {
    isOver = true;
    await Promise.all(running);
  };
  return {
    counts,
    listeners,
    stop,
    check: async (stage, { isFeedWhole } = { isFeedWhole: true }) => {
      assert.ok(quotes.length > 0 && repeats.count > 0, 'there is something to look for');
      await mustBeThere(ask, taker, rfqs, quotes);
      await mustBeTold(stage, taker, quotes);
      if (isFeedWhole) await mustBeHeard(listeners, rfqs);
      for (const each of listeners) each.close();
      const feed = listeners.map(
        ({ entries, resumed, reset, codes }) =>
          `${entries} (closed ${[...codes].map(([code, times]) => `${times} times by ${code}`)}, ` +
          `resumed ${resumed}, begun anew ${reset} times)`,
      );
      return (
        `${counts.answered} requests answered, ${counts.toldToRetry} told to come again, ` +
        `${lostOf(counts)} lost; ${rfqs.length} RFQs and ${quotes.length} quotes are there, ` +
        `${repeats.count} were repeated; ${quotes.length} webhooks arrived; entries of the feed` +
        `${isFeedWhole ? ' without a gap' : ''}: ${feed.join(', ')}`
      );
    },
  };
}

function idIn(body: unknown, field: string): string {
  const { id } = (body as Record<string, { id?: string }>)[field] ?? {};
  assert.ok(id !== undefined, `an answer without ${field}`);
  return id;
}

/** Two customers who look around. */
function reads(ask: Ask, who: Customer, rfqs: readonly Made[]) {
  const paths = [
    '/v1/assets',
    '/v1/rfqs?own=true',
    '/v1/threads?role=taker',
    '/v1/swaps',
    '/v1/me',
    '/market/status',
    '/market/assets',
    '/status',
    '/v1/rules',
    '/v1/webhooks',
  ];
  let turn = 0;
  const one = async () => {
    turn += 1;
    const rfq = rfqs[turn % Math.max(1, rfqs.length)];
    const own = rfq === undefined ? [] : [`/v1/rfqs/${rfq.id}`, `/v1/rfqs/${rfq.id}/threads`];
    const all = [...paths, ...own];
    await ask(who, { path: all[turn % all.length] as string });
  };
  return [one, one];
}

async function mustBeThere(
  ask: Ask,
  taker: Customer,
  rfqs: readonly Made[],
  quotes: readonly Made[],
): Promise<void> {
  for (const { id } of rfqs) {
    assert.ok((await ask(taker, { path: `/v1/rfqs/${id}` })) !== null, `RFQ ${id}`);
  }
  for (const { id } of quotes) {
    assert.ok((await ask(taker, { path: `/v1/threads/${id}` })) !== null, `thread ${id}`);
  }
}

async function mustBeTold(stage: Stage, taker: Customer, quotes: readonly Made[]): Promise<void> {
  const priceOf = (each: Made) => (each.body as { quoteAmount: string }).quoteAmount;
  await until(
    'every quote is told by webhook',
    async () => {
      const told = new Set<string>();
      for (const { path, body } of stage.receiver.received) {
        const { type, threadId, quoteAmount } = JSON.parse(body) as Told & {
          threadId?: string;
          quoteAmount?: string;
        };
        if (path === taker.hook && type === 'quote.created') told.add(`${threadId} ${quoteAmount}`);
      }
      const missing = quotes.filter((each) => !told.has(`${each.id} ${priceOf(each)}`));
      if (missing.length === 0) return true;
      throw new Error(`${missing.length} of ${quotes.length} quotes were not told`);
    },
    120_000,
  );
}

async function mustBeHeard(listeners: readonly Listener[], rfqs: readonly Made[]): Promise<void> {
  await until('every RFQ is on every socket', async () => {
    for (const { created } of listeners) {
      const missing = rfqs.filter(({ id }) => !created.has(id));
      if (missing.length > 0) throw new Error(`${missing.length} of ${rfqs.length} are missing`);
    }
    return true;
  });
  for (const { gaps, reset } of listeners) {
    assert.deepEqual({ gaps, reset }, { gaps: [], reset: 0 });
  }
}
