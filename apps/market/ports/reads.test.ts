// A replica that is as far as it must be is read from; any other, and one that fails, is not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '@parley/verify/test/support/database.ts';
import { testDeps } from '@parley/verify/test/support/deps.ts';
import type { Database, Statement } from '../db/database.ts';
import { type LogPosition, replayedLog, writtenLog } from '../db/replica.ts';
import { createReads, mostBehindMs } from './reads.ts';

const list: Statement = { name: 'a list', text: '', values: [] };

/** A primary and a replica of which the test says how far they are. */
function pair() {
  const state = {
    at: 0,
    bytes: 100,
    failure: null as Error | null,
    isSilent: false,
    replayed: { lineage: 'one/1', bytes: 100, isReplica: true },
  };
  const answers = (name: string, log: () => LogPosition) => async (statement: Statement) => {
    if (name === 'replica' && state.failure !== null) throw state.failure;
    if (name === 'replica' && state.isSilent) return new Promise<never>(() => {});
    return statement === list ? [name] : [log()];
  };
  const listen: Database['listen'] = () => Promise.reject(new Error('nobody listens'));
  const rows = answers('primary', () => ({ lineage: 'one/1', bytes: state.bytes }));
  const db = { rows, listen } as unknown as Database;
  const replica = { rows: answers('replica', () => state.replayed) } as unknown as Database;
  const deps = testDeps({ db });
  const reads = createReads(deps, replica, () => state.at);
  const from = async () => (await reads.rows<string>(list))[0];
  return { state, look: reads.look, from };
}

test('a replica is read from while it has all that was written a few seconds ago', async () => {
  const { state, look, from } = pair();
  assert.equal(await from(), 'primary', 'nothing is known of it');
  await look();
  assert.equal(await from(), 'replica');
  // It stands still, and the primary writes on.
  state.bytes = 200;
  state.at = mostBehindMs;
  await look();
  assert.equal(await from(), 'replica');
  state.at = mostBehindMs + 1;
  assert.equal(await from(), 'primary');
  // It has what was written at the last look, and not what was since.
  Object.assign(state, { bytes: 300, replayed: { ...state.replayed, bytes: 200 } });
  await look();
  assert.equal(await from(), 'replica');
  state.at = 2 * mostBehindMs + 1;
  await look();
  assert.equal(await from(), 'primary');
});

test('a replica that went silent keeps a reader for a second, and nobody after it', async () => {
  const { state, look, from } = pair();
  await look();
  state.isSilent = true;
  assert.equal(await from(), 'primary');
  state.isSilent = false;
  assert.equal(await from(), 'primary', 'until the next look');
  await look();
  assert.equal(await from(), 'replica');
});

test('a replica that fails, of another history, or that takes writes is not read from', async () => {
  const { state, look, from } = pair();
  await look();
  state.failure = new Error('canceling statement due to conflict with recovery');
  assert.equal(await from(), 'primary');
  state.failure = null;
  assert.equal(await from(), 'primary', 'until the next look');
  await look();
  assert.equal(await from(), 'replica');
  for (const other of [{ lineage: 'one/2' }, { lineage: 'two/1' }, { isReplica: false }]) {
    const before = state.replayed;
    state.replayed = { ...before, ...other };
    await look();
    assert.equal(await from(), 'primary', JSON.stringify(other));
    state.replayed = before;
    await look();
    assert.equal(await from(), 'replica');
  }
});

test('a database says how far it has written, of which history, and that it is no replica', async (t) => {
  const { db, drop } = await testDatabase();
  t.after(drop);
  const before = await writtenLog(db);
  await db.rows({ name: 'test_write', text: 'create table written ()', values: [] });
  const after = await writtenLog(db);
  assert.ok(after.bytes > before.bytes);
  const { isReplica, lineage, bytes } = await replayedLog(db);
  assert.deepEqual([isReplica, lineage, bytes], [false, after.lineage, 0]);
});
