// One process at a time appends to the feed's log, what is for the feed and nothing else, and the
// log is pruned from its beginning.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import { lockFeedLog, pruneFeedLog, readFeedLog } from '../db/feed-log.ts';
import { insertOutbox } from '../db/outbox.ts';
import { sequenceFeed } from './feed-log.ts';

let database: TestDatabase;
let deps: TestDeps;

before(async () => {
  database = await testDatabase();
  deps = testDeps({ db: database.db });
});
after(() => database.drop());

const id = '0193f0a0-0000-7000-8000-000000000c01';
const payload = { rfqId: id, creatorId: id, targetAddress: null, body: '{}' };
const event = (topic: string, at = new Date()) => ({ topic, accountId: null, payload, at });

async function waiting(): Promise<string[]> {
  const text = 'select topic from outbox order by id';
  const rows = await database.db.rows<{ topic: string }>({
    name: 'test_waiting',
    text,
    values: [],
  });
  return rows.map(({ topic }) => topic);
}

test('while one appends nobody else does, and what waits is not lost', async () => {
  await insertOutbox(database.db, [event('feed.created')]);
  await database.db.transaction(async (tx) => {
    assert.ok(await lockFeedLog(tx));
    const { busy, appended } = await sequenceFeed(deps);
    assert.deepEqual([busy, appended], [true, 0]);
    assert.deepEqual(await waiting(), ['feed.created']);
  });
  const { busy, appended, more } = await sequenceFeed(deps);
  assert.deepEqual([busy, appended, more], [false, 1, false]);
  assert.deepEqual(await waiting(), []);
});

test('a row that is not for the feed stays where it is', async () => {
  const topics = ['feed.cancelled', 'other.notice', 'feed.gone'];
  await insertOutbox(
    database.db,
    topics.map((topic) => event(topic)),
  );
  assert.equal((await sequenceFeed(deps)).appended, 2);
  assert.deepEqual(await waiting(), ['other.notice']);
});

test('only entries for everybody have a number of their own, in the order of the log', async () => {
  const { db } = database;
  const start = (await readFeedLog(db, 0, 1_000, null)).at(-1)?.number ?? 0;
  const isPrivate = (index: number) => index % 3 !== 1;
  const mixed = Array.from({ length: 300 }, (_, index) => {
    const targetAddress = isPrivate(index) ? 'somebody' : null;
    return { ...event('feed.created'), payload: { ...payload, targetAddress } };
  });
  await insertOutbox(db, mixed);
  await sequenceFeed(deps);
  let number = start;
  const rows = (await readFeedLog(db, 0, 1_000, null)).slice(-mixed.length);
  for (const [index, row] of rows.entries()) {
    if (!isPrivate(index)) number += 1;
    assert.deepEqual([row.targetAddress === null, row.number], [!isPrivate(index), number]);
  }
});

test('the log is pruned from its beginning, whatever the clocks said, and never its end', async () => {
  const { db } = database;
  const old = new Date(0);
  const now = new Date();
  await db.rows({ name: 'test_empty', text: 'delete from feed_log', values: [] });
  await insertOutbox(
    db,
    [old, old, now, old, now].map((at) => event('feed.created', at)),
  );
  await sequenceFeed(deps);
  const first = (await readFeedLog(db, 0, 1, null))[0]?.seq ?? 0;
  const left = async () => (await readFeedLog(db, 0, 100, null)).map(({ seq }) => seq - first);
  const before = new Date(now.getTime() - 1_000);
  assert.equal(await pruneFeedLog(db, before, 1_000, 1), 1);
  assert.equal(await pruneFeedLog(db, before, 1_000, 100), 1);
  assert.deepEqual(await left(), [2, 3, 4]);
  assert.equal(await pruneFeedLog(db, before, 2, 100), 1);
  assert.deepEqual(await left(), [3, 4]);
  assert.equal(await pruneFeedLog(db, new Date(now.getTime() + 60_000), 1_000, 100), 1);
  assert.deepEqual(await left(), [4]);
});
