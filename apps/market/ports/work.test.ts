// Work that one process commits wakes another, over one connection; when it hears again, it looks
// for the work that it missed meanwhile.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { connect, type Database } from '../db/database.ts';
import { insertOutbox } from '../db/outbox.ts';
import type { Work } from '../db/work.ts';
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
  return {
    leave,
    rings: () => rings,
    heard: () => waitUntil(() => workOf(other).isHeard()),
    more: (than: number) => waitUntil(() => rings > than),
  };
}

test('events of each kind wake those who wait for them, after the commit and not before', async () => {
  const of: readonly [Work, string][] = [
    ['feed outbox', 'feed.created'],
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
