// Which of several processes looks at nodes.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testDatabase } from '@parley/verify/test/support/database.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { connect, databaseLimits } from '../db/database.ts';
import { noticesOf } from '../ports/notices.ts';
import { createTurn } from './node-watch.ts';

const { url, db, drop } = await testDatabase();
after(drop);

/** A process, as far as it hears notices. */
async function heard(of: typeof db) {
  const link = await noticesOf(of).join({ begin: async () => {}, hear: () => {} });
  return { isOurs: createTurn(of), leave: link.leave };
}

test('one process looks at nodes until it ends, and then another one does', async (t) => {
  const other = connect(url, { ...databaseLimits, connections: 1 });
  t.after(() => other.close());
  const first = await heard(db);
  const second = await heard(other);
  t.after(() => second.leave());
  for (const times of [1, 2, 3]) {
    assert.deepEqual([await first.isOurs(), await second.isOurs()], [true, false], `${times}`);
  }
  first.leave();
  await waitUntil(() => second.isOurs());
  assert.equal(await second.isOurs(), true);
});

test('a process that lost the connection polls on while nobody can be asked', async () => {
  const process = await heard(db);
  await waitUntil(() => process.isOurs());
  process.leave();
  assert.equal(noticesOf(db).current(), null);
  assert.equal(await process.isOurs(), true);
});
