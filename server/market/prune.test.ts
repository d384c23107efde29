// What age does to stored rows, on both sides of each boundary.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { type TestDeps, testDeps } from '../../test/support/deps.ts';
import { insertOutbox } from '../db/outbox.ts';
import { prune, startPruning } from './prune.ts';

let database: TestDatabase;
let deps: TestDeps;

before(async () => {
  database = await testDatabase();
  deps = testDeps({ db: database.db });
  deps.freeze();
});
after(() => database.drop());

const day = 86_400_000;

async function outboxTopics(): Promise<string[]> {
  const rows = await database.db.rows<{ topic: string }>({
    name: 'test_topics',
    text: 'select distinct topic from outbox order by topic',
    values: [],
  });
  return rows.map((each) => each.topic);
}

test('events are kept for seven days and dropped after, however many there are', async () => {
  const at = new Date(deps.now());
  const event = { accountId: null, payload: { some: 'thing' }, at };
  const old = Array.from({ length: 1_201 }, () => ({ ...event, topic: 'old' }));
  await insertOutbox(database.db, old);
  await insertOutbox(database.db, [{ ...event, topic: 'new', at: new Date(at.getTime() + 1) }]);
  deps.advance(7 * day);
  assert.equal((await prune(deps)).outbox, 0);
  deps.advance(1);
  assert.equal((await prune(deps)).outbox, 1_201);
  assert.deepEqual(await outboxTopics(), ['new']);
});

test('no events are no statement, and what was written is what is read', async () => {
  await insertOutbox(database.db, []);
  const payload = { text: 'quotes " and \\ and {braces}', deep: { list: [1, null] } };
  await insertOutbox(database.db, [
    { topic: 'exact', accountId: null, payload, at: new Date(deps.now()) },
  ]);
  const rows = await database.db.rows<{ payload: unknown; created_at: Date }>({
    name: 'test_exact',
    text: `select payload, created_at from outbox where topic = 'exact'`,
    values: [],
  });
  assert.deepEqual(rows, [{ payload, created_at: new Date(deps.now()) }]);
});

test('pruning starts at once and stops when told to', async () => {
  deps.advance(8 * day);
  const pruning = startPruning(deps);
  for (let tries = 0; tries < 200 && (await outboxTopics()).length > 0; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(await outboxTopics(), []);
  await pruning.stop();
});
