// Work that one process commits wakes another, over one connection; when it hears again, it looks
// for the work that it missed meanwhile.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { testDeps } from '@parley/verify/test/support/deps.ts';
import { connect, type Database } from '../db/database.ts';
import { insertOutbox } from '../db/outbox.ts';
import { notifyWork, type Work } from '../db/work.ts';
import { openRevocations } from '../edge/revocations.ts';
import { workOf } from './work.ts';

let database: TestDatabase;
let other: Database;
before(async () => {
  database = await testDatabase();
  other = connect(database.url);
});
after(async () => {
  await other.close();
  await database.drop();
});

/** Rings that were heard, by work. */
function waitFor(...work: Work[]) {
  let rings = 0;
  const leave = workOf(other).on(work, () => {
    rings += 1;
  });
  const until = async (wanted: () => boolean) => {
    for (let tries = 0; tries < 500 && !wanted(); tries += 1) await sleep(10);
    assert.ok(wanted());
  };
  return {
    leave,
    rings: () => rings,
    heard: () => until(() => workOf(other).isHeard()),
    more: async (than: number) => until(() => rings > than),
  };
}

const listeners = async () => {
  const rows = await database.db.rows<{ pid: number }>({
    name: 'test_listeners',
    text: `select pid from pg_stat_activity where datname = current_database()
      and (query like 'listen%' or query = 'select 1')`,
    values: [],
  });
  return rows.map(({ pid }) => pid);
};

test('events of each kind wake those who wait for them, after the commit and not before', async () => {
  const of: readonly [Work, string][] = [
    ['feed', 'feed.created'],
    ['webhooks', 'swap.agreed'],
    ['messages', 'key.created'],
  ];
  for (const [work, topic] of of) {
    const { leave, rings, heard, more } = waitFor(work);
    await heard();
    const before = rings();
    for (const [, each] of of.filter(([name]) => name !== work)) {
      const event = { topic: each, accountId: null, payload: {}, at: new Date() };
      await insertOutbox(database.db, [event]);
    }
    await database.db.transaction(async (tx) => {
      await insertOutbox(tx, [{ topic, accountId: null, payload: {}, at: new Date() }]);
      await sleep(100);
      assert.equal(rings(), before);
    });
    await more(before);
    leave();
  }
});

test('a process has one connection for all that it hears, and looks again when it was lost', async () => {
  const { leave, rings, heard, more } = waitFor('halts');
  const log = testDeps({ db: other }).log;
  const revocations = await openRevocations({ db: other, log, forget: () => {} });
  await heard();
  const [pid, ...others] = await listeners();
  assert.deepEqual(others, []);
  const before = rings();
  const text = 'select pg_terminate_backend($1, 5000)';
  await database.db.rows({ name: 'test_cut', text, values: [pid] });
  await more(before);
  await heard();
  for (let tries = 0; tries < 100 && !revocations.isListening(); tries += 1) await sleep(10);
  const again = rings();
  await notifyWork(database.db, 'halts');
  await more(again);
  leave();
  assert.ok(revocations.isListening(), 'others still hear on it');
  revocations.close();
  for (let tries = 0; tries < 100 && (await listeners()).length > 0; tries += 1) await sleep(10);
  assert.deepEqual(await listeners(), []);
});
