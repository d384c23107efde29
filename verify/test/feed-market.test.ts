// A random market, watched by books that resume through cut connections, a process that restarts, a
// database that is slow to answer and drops its connections, and assets that close and reopen:
// whenever it rests, the book of each is the server's.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@parley/market/db/database.ts';
import { buildApp } from '@parley/market/edge/app.ts';
import { type FeedMarket, feedMarket } from '@parley/market/edge/testing/feed-market.ts';
import { parseAddress } from '@parley/market/market/addresses.ts';
import { closeAsset, reopenAsset } from '@parley/market/market/listing.ts';
import { type Book, openBook } from '@parley/sdk/book.ts';
import type { FastifyInstance } from 'fastify';
import { chanceOf } from './sim/chance.ts';
import { type FaultProxy, faultProxy } from './support/fault-proxy.ts';
import { runs } from './support/runs.ts';
import { someAddress, type Trader } from './support/trading.ts';

/** In the soak two minutes. */
const seconds = runs(6);
/** After which a machine that is slow has had its time for a few of everything. */
const mostSeconds = seconds + 120;
const restEverySeconds = 4;
/** The delay of reads for a snapshot or the stream: RFQs come meanwhile. */
const mostDelayMs = 30;
const patienceMs = 20_000;
const seed = Number(process.env.PARLEY_FUZZ_SEED ?? randomInt(2 ** 31));

const { hits: chance, int, pick } = chanceOf(seed);
const upTo = (most: number) => int(0, most);

type Watcher = {
  readonly trader: Trader;
  readonly proxy: FaultProxy;
  readonly book: Book;
  readonly told: Map<string, number>;
};

let market: FeedMarket;
let second: FastifyInstance;
let ports: number[];
let takers: Trader[];
const watchers: Watcher[] = [];
const address = parseAddress(someAddress('evm'), 'dev').address;
const counts = {
  posted: 0,
  private: 0,
  cancelled: 0,
  agreed: 0,
  closed: 0,
  cuts: 0,
  restarts: 0,
  rests: 0,
};

/** A few of each, or the market was none. */
function hadAll(): boolean {
  const { posted, cancelled, agreed, cuts, private: hidden, rests, closed } = counts;
  const busy = posted > 20 && cancelled > 5 && agreed > 0 && hidden > 2;
  return busy && cuts > 5 && rests >= 3 && closed >= 3;
}

const portOf = (url: string) => Number(new URL(url).port);

function slow(db: Database): Database {
  return {
    ...db,
    rows: async (statement) => {
      const rows = await db.rows<never>(statement);
      const isRead = statement.name === 'rfqs_book' || statement.name === 'feed_read';
      if (isRead) await sleep(upTo(mostDelayMs));
      return rows;
    },
  };
}

async function startSecond(): Promise<void> {
  second = await buildApp({ ...market.deps, db: slow(market.db) });
  ports[1] = portOf(await second.listen({ host: '127.0.0.1', port: 0 }));
}

before(async () => {
  market = await feedMarket();
  ports = [portOf(market.at), 0];
  await startSecond();
  takers = await Promise.all(Array.from({ length: 5 }, () => market.trader()));
  const holder = await market.trader({ wallets: [{ family: 'evm', address }] });
  // One who watches asks too: its own never show.
  for (const trader of [holder, await market.trader(), takers[0] as Trader]) {
    const proxy = await faultProxy(ports[watchers.length % 2] as number);
    const told = new Map<string, number>();
    const book = openBook({
      baseUrl: `http://127.0.0.1:${proxy.port}`,
      key: trader.key,
      random: () => upTo(50) / 1_000,
      onChange: ({ kind, rfq: { id } }) => {
        told.set(id, (told.get(id) ?? 0) + (kind === 'created' ? 1 : -1));
      },
    });
    await book.ready;
    watchers.push({ trader, proxy, book, told });
  }
});
after(async () => {
  for (const { book, proxy } of watchers) {
    book.close();
    await proxy.close();
  }
  await second?.close();
  await market.close();
});

const live = new Map<string, Trader>();

async function agree(id: string, by: Trader): Promise<void> {
  const maker = pick(takers.filter((each) => each !== by));
  const quoted = await maker.post(`/v1/rfqs/${id}/quotes`, { quoteAmount: '65000000' });
  if (quoted.status > 201) return;
  const { id: threadId, initiator } = quoted.body.thread;
  const hashlock = Buffer.from(market.deps.randomBytes(32)).toString('hex');
  for (const [who, side] of [
    [by, 'taker'],
    [maker, 'maker'],
  ] as const) {
    const words = { quoteAmount: '65000000', ...(initiator === side ? { hashlock } : {}) };
    const { status } = await who.post(`/v1/threads/${threadId}/accept`, words);
    if (status !== 200) return;
  }
  live.delete(id);
  counts.agreed += 1;
}

async function act(): Promise<void> {
  const by = pick(takers);
  const some = live.size === 0 ? undefined : pick([...live]);
  if (live.size < 150 && chance(0.6)) {
    const isPrivate = chance(0.15);
    const target = chance(0.7) ? { targetAddress: address } : {};
    const fields = isPrivate ? { visibility: 'private', ...target } : {};
    const ttlSeconds = 30 + upTo(200);
    const { id } = await market.rfq(by, { ttlSeconds, ...fields });
    live.set(id, by);
    counts.posted += 1;
    if (isPrivate) counts.private += 1;
  } else if (some !== undefined && chance(0.6)) {
    const [id, owner] = some;
    const { status } = await owner.post(`/v1/rfqs/${id}/cancel`);
    live.delete(id);
    if (status === 200) counts.cancelled += 1;
  } else if (some !== undefined) await agree(...some);
}

/** Closes the dollar or the coin, or reopens what is closed. */
async function toggle(): Promise<void> {
  const { id: assetId } = pick([market.assets.usd, market.assets.btc]);
  const change = { assetId, by: 'checks' as const, at: new Date(market.deps.now()) };
  await market.db.transaction(async (tx) => {
    if ((await reopenAsset(tx, change)).changed) return;
    await closeAsset(tx, { ...change, reasons: ['chance'] });
    counts.closed += 1;
  });
}

async function disturb(): Promise<void> {
  const { proxy } = pick(watchers);
  const dice = upTo(1_000) / 1_000;
  if (dice < 0.2) {
    // A connection may be cut at that moment.
    await toggle().catch(() => {});
  } else if (dice < 0.6) {
    counts.cuts += 1;
    if (chance(0.3)) proxy.pointTo(pick(ports));
    proxy.cut();
  } else if (dice < 0.8) {
    market.deps.advance(upTo(20_000));
  } else if (dice < 0.9) {
    await market.db
      .rows({
        name: '',
        text: `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and random() < 0.3`,
        values: [],
      })
      .catch(() => {});
  } else {
    counts.restarts += 1;
    await second.close();
    await startSecond();
    // On another port: those who were there find nobody until they are pointed to it.
    for (const each of watchers) {
      each.proxy.pointTo(pick(ports));
    }
  }
}

/** The server's book for this account, by id. */
async function serverBook({ trader }: Watcher): Promise<string[]> {
  const ids: string[] = [];
  for (const filter of ['', '&addressed=true']) {
    let cursor: string | null = '';
    while (cursor !== null) {
      const from: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { status, body } = await trader.get(`/v1/rfqs?limit=100${filter}${from}`);
      if (status !== 200) throw new Error(JSON.stringify(body));
      for (const { id, creatorId } of body.rfqs) if (creatorId !== trader.accountId) ids.push(id);
      cursor = body.nextCursor;
    }
  }
  return ids.sort();
}

async function rest(): Promise<void> {
  counts.rests += 1;
  for (const watcher of watchers) {
    const end = performance.now() + patienceMs;
    for (;;) {
      const { book } = watcher;
      const expected = await serverBook(watcher).catch(() => null);
      const shown = [...book.rfqs.keys()].sort();
      const same = expected !== null && JSON.stringify(expected) === JSON.stringify(shown);
      if (same && book.state() === 'live') break;
      if (performance.now() > end) {
        assert.equal(book.state(), 'live');
        assert.deepEqual(shown, expected, `seed ${seed}`);
      }
      await sleep(50);
    }
    const told = [...watcher.told].filter(([, count]) => count > 0).map(([id]) => id);
    assert.deepEqual(told.sort(), [...watcher.book.rfqs.keys()].sort());
    assert.ok([...watcher.told.values()].every((count) => count === 0 || count === 1));
  }
}

test(`a resumed maker's book is the server's whenever a random market rests (seed ${seed})`, {
  timeout: (mostSeconds + 60) * 1_000,
}, async (t) => {
  const began = performance.now();
  const isBefore = (after: number) => performance.now() - began < after * 1_000;
  while (isBefore(seconds) || (isBefore(mostSeconds) && !hadAll())) {
    const pauseAt = performance.now() + restEverySeconds * 1_000;
    const lanes = Array.from({ length: 3 }, async () => {
      while (performance.now() < pauseAt) {
        // A lost connection to the database is 503 to whoever asked, a closed asset 409.
        await act().catch((error: Error) =>
          assert.match(error.message, /^503 |unavailable|^409 .*clos/),
        );
        await sleep(upTo(30));
      }
    });
    const trouble = (async () => {
      while (performance.now() < pauseAt) {
        await sleep(200 + upTo(800));
        await disturb();
      }
    })();
    await Promise.all([...lanes, trouble]);
    await rest();
  }
  t.diagnostic(JSON.stringify(counts));
  assert.ok(hadAll(), JSON.stringify(counts));
});
