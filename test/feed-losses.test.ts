// No frame is lost between a snapshot and the stream: RFQs are posted while hundreds of makers (in
// a soak thousands) are in their handshakes, at two processes on one database whose answers take
// their time, and every maker has every one.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Database } from '../server/db/database.ts';
import { buildApp } from '../server/edge/app.ts';
import { type FeedClient, type Frame, openFeed } from '../server/edge/testing/feed-client.ts';
import { type FeedMarket, feedMarket } from '../server/edge/testing/feed-market.ts';
import { runs } from './support/runs.ts';
import type { Trader } from './support/trading.ts';

// One with the book at once, one that goes on from a position.
const waves = runs(2);
const makersOfEach = 100;
/** Fewer than a snapshot holds, so that each is in the snapshot or in the stream. */
const rfqsOfEach = 80;

/** What is read is held back so long: RFQs come meanwhile. */
const mostDelayMs = 30;

let market: FeedMarket;
let apps: FastifyInstance[];
let addresses: string[];
let traders: Trader[];

function slow(db: Database): Database {
  return {
    ...db,
    rows: async (statement) => {
      const rows = await db.rows<never>(statement);
      const isRead = statement.name === 'rfqs_book' || statement.name === 'feed_read';
      if (isRead) await sleep(Math.random() * mostDelayMs);
      return rows;
    },
  };
}

before(async () => {
  market = await feedMarket();
  const deps = () => ({ ...market.deps, db: slow(market.db) });
  apps = [await buildApp(deps()), await buildApp(deps())];
  const listening = apps.map((app) => app.listen({ host: '127.0.0.1', port: 0 }));
  addresses = await Promise.all(listening);
  traders = await Promise.all(Array.from({ length: 20 }, () => market.trader()));
});
after(async () => {
  for (const app of apps) await app.close();
  await market.close();
});

/** Ids of RFQs that a frame tells of. */
const told = (frame: Frame): readonly string[] =>
  frame.type === 'snapshot'
    ? frame.rfqs.map(({ id }: Frame) => id)
    : frame.kind === 'created'
      ? [frame.rfq.id]
      : [];

/** Asked at each frame that comes: whether all frames until then told of all of these. */
function hasHeard({ frames }: FeedClient, posted: readonly string[]): () => boolean {
  const missing = new Set(posted);
  let read = 0;
  return () => {
    for (; read < frames.length; read += 1) {
      for (const id of told(frames[read] as Frame)) missing.delete(id);
    }
    return missing.size === 0;
  };
}

/** Handshakes one after another, some at once, while `posting` goes on. */
async function joinAll(key: (index: number) => string, first: object): Promise<FeedClient[]> {
  const clients: FeedClient[] = [];
  const lanes = Array.from({ length: 10 }, async (_, lane) => {
    for (let index = lane; index < makersOfEach; index += 10) {
      const client = await openFeed(addresses[index % 2] as string);
      client.send({ apiKey: key(index), ...first });
      clients.push(client);
      await client.of('ready');
    }
  });
  await Promise.all(lanes);
  return clients;
}

test('RFQs posted during hundreds of handshakes are heard of by every maker', {
  timeout: runs(200_000),
}, async () => {
  let handshakes = 0;
  let streamed = 0;
  for (let wave = 0; wave < waves; wave += 1) {
    const asks = await market.trader();
    const first = wave % 2 === 0 ? {} : { resume: true };
    const joining = joinAll((index) => (traders[index % 20] as Trader).key, first);
    let joined = false;
    void joining.finally(() => {
      joined = true;
    });
    const posted: string[] = [];
    while (posted.length < rfqsOfEach) {
      const { id } = await market.rfq(asks);
      posted.push(id);
      // Some are left for after the last handshake.
      if (posted.length > rfqsOfEach - 5 && !joined) await joining;
    }
    const clients = await joining;
    handshakes += clients.length;
    for (const client of clients) {
      await client.frame(hasHeard(client, posted));
      const [snapshot] = client.frames;
      streamed += posted.filter((id) => !JSON.stringify(snapshot).includes(id)).length;
      client.close();
    }
    for (const id of posted) {
      assert.equal((await asks.post(`/v1/rfqs/${id}/cancel`)).status, 200);
    }
  }
  assert.equal(handshakes, waves * makersOfEach);
  // Otherwise nothing was posted between a snapshot and its stream.
  assert.ok(streamed > handshakes * 10, `${streamed} of them came by the stream`);
});
