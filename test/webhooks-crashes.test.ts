// kill -9 of a server between the commit of events and their delivery, at each point where it can
// matter, and a restart: every event arrives at a real HTTPS receiver, in order, a repeat with the
// same deliveryId and bytes, and none that the database has no record of.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DeliveringProcess,
  encryptionKey,
  startDelivering,
} from '../server/webhooks/testing/process.ts';
import { type Receiver, startReceiver } from '../server/webhooks/testing/receiver.ts';
import { type Point, type PostgresProxy, postgresProxy } from './support/postgres-proxy.ts';
import { type TestMarket, type Trader, testMarket } from './support/trading.ts';

/** Longer than a dead process's deliveries stay in its hand. */
const aheadMs = 30_000;
let market: TestMarket;
let receiver: Receiver;
let proxy: PostgresProxy;
/** The process that is killed next. */
let victim: DeliveringProcess;
let restarts = 0;

before(async () => {
  market = await testMarket({ settings: { encryptionKey, webhookNetworks: ['127.0.0.1'] } });
  receiver = await startReceiver();
  proxy = await postgresProxy(market.url);
  victim = await startDelivering(proxy.url, receiver.ca);
});
after(async () => {
  await victim?.stop();
  await proxy?.close();
  await receiver?.close();
  await market?.close();
});

const points: readonly (Point & { readonly what: string })[] = [
  { what: 'before it takes the events', statement: 'deliveries_take', when: 'before' },
  { what: 'with the events taken', statement: 'deliveries_take', when: 'after' },
  {
    what: 'with the deliveries written, uncommitted',
    statement: 'deliveries_insert',
    when: 'after',
  },
  {
    what: 'after hand-out, before a delivery is taken',
    statement: 'deliveries_claim',
    when: 'before',
  },
  { what: 'with deliveries in hand and none sent', statement: 'deliveries_claim', when: 'after' },
  { what: 'answered, before the outcome is stored', statement: 'deliveries_hold', when: 'before' },
  { what: 'with the outcome written, uncommitted', statement: 'deliveries_outcome', when: 'after' },
];

async function register(trader: Trader, path: string): Promise<void> {
  const made = await trader.post('/v1/webhooks', { url: new URL(path, receiver.url).href });
  assert.equal(made.status, 201, JSON.stringify(made.body));
}

/** A negotiation: three quotes and an agreement, each committed by another process. */
async function negotiate(taker: Trader, maker: Trader): Promise<void> {
  const { btc, usd } = market.assets;
  const must = async (answer: ReturnType<Trader['post']>) => {
    const { status, body } = await answer;
    assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
    return body;
  };
  const { rfq } = await must(
    taker.post('/v1/rfqs', {
      direction: 'sell_base',
      baseAssetId: btc.id,
      baseAmount: '100000',
      quoteAssetId: usd.id,
      ttlSeconds: 3_600,
    }),
  );
  const quotes = `/v1/rfqs/${rfq.id}/quotes`;
  const { thread } = await must(maker.post(quotes, { quoteAmount: '65000000' }));
  const at = `/v1/threads/${thread.id}`;
  await must(maker.post(`${at}/propose`, { quoteAmount: '66000000' }));
  await must(maker.post(quotes, { quoteAmount: '67000000' }));
  const lockOf = (side: string) =>
    thread.initiator === side ? { hashlock: randomBytes(32).toString('hex') } : {};
  await must(taker.post(`${at}/accept`, { quoteAmount: '67000000', ...lockOf('taker') }));
  await must(maker.post(`${at}/accept`, { quoteAmount: '67000000', ...lockOf('maker') }));
}

/** What the database says happened, in order, as an account is told it. */
async function recordOf({ accountId }: Trader): Promise<string[]> {
  const rows = await market.db.rows<{ amounts: string[]; id: string; swap: string; mine: boolean }>(
    {
      name: 'test_record',
      text: `select t.id, s.id as swap, t.taker_id = $1 as mine,
        array(select m->>'quoteAmount' from jsonb_array_elements(t.messages) m
          where m->>'by' = 'maker') as amounts
      from threads t join swaps s on s.thread_id = t.id where $1 in (t.taker_id, t.maker_id)`,
      values: [accountId],
    },
  );
  return rows.flatMap(({ id, swap, mine, amounts }) => [
    ...(mine ? amounts.map((amount) => `quote.created ${id} ${amount}`) : []),
    `swap.agreed ${id} ${swap}`,
  ]);
}

/** What arrived at a path, in order of first arrival; a repeat must be the same. */
function heardAt(path: string): string[] {
  const bodies = new Map<string, string>();
  for (const { headers, body, path: at } of receiver.received) {
    if (at !== path) continue;
    const id = String(headers['x-parley-delivery']);
    assert.equal(bodies.get(id) ?? body, body, 'the same bytes again');
    bodies.set(id, body);
  }
  return [...bodies].map(([id, body]) => {
    const { type, threadId, deliveryId, quoteAmount, swapId } = JSON.parse(body);
    assert.equal(deliveryId, id);
    return `${type} ${threadId} ${quoteAmount ?? swapId}`;
  });
}

async function restart(): Promise<void> {
  restarts += 1;
  victim = await startDelivering(proxy.url, receiver.ca, restarts * aheadMs);
}

/** Until nothing waits anywhere. */
async function settled(): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const [row] = await market.db.rows<{ left: number }>({
      name: 'test_left',
      text: `select (select count(*) from outbox where account_id is not null)::int
        + (select count(*) from deliveries where state = 'waiting')::int as left`,
      values: [],
    });
    if (row?.left === 0) return;
    await sleep(100);
  }
  throw new Error('something still waits');
}

/** Kills when `reached`; everything that happened must be heard, and nothing else. */
async function killed(name: string, reached: Promise<unknown>, repeats: boolean): Promise<void> {
  const [taker, maker] = [await market.trader(), await market.trader()];
  const paths = [`/${name}/taker`, `/${name}/also`, `/${name}/maker`] as const;
  await register(taker, paths[0]);
  await register(taker, paths[1]);
  await register(maker, paths[2]);
  await Promise.all([negotiate(taker, maker), reached]);
  await victim.kill();
  receiver.answer(200);
  await restart();
  await settled();
  const record = await recordOf(taker);
  assert.equal(record.length, 4);
  assert.deepEqual(heardAt(paths[0]), record);
  assert.deepEqual(heardAt(paths[1]), record);
  assert.deepEqual(heardAt(paths[2]), await recordOf(maker));
  const ids = receiver.received
    .filter(({ path }) => path.startsWith(`/${name}/`))
    .map(({ headers }) => headers['x-parley-delivery']);
  assert.equal(new Set(ids).size, 9, 'four, four and one: none invented');
  if (repeats) assert.ok(ids.length > 9, 'what was sent and not stored came again');
}

points.forEach((point, index) => {
  test(`killed ${point.what}, a restarted server delivers every event, in order, and no other`, () =>
    killed(`point-${index}`, proxy.stopAt(point), /answered|outcome/.test(point.what)));
});

test('killed after sending, before the answer, a restarted server sends it again with the same id', () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  receiver.answer(() => resolve());
  return killed('unanswered', promise, true);
});
