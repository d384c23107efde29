// Jobs as processes side by side have them, on a real PostgreSQL.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import type { Tx } from './database.ts';
import { addJobs, claimJobs, finishJob, giveUpJob, type Job, nextJobs, retryJob } from './jobs.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
  // This file tests the queue alone.
  await sql('alter table jobs drop constraint jobs_account_id_fkey');
});
after(() => database?.drop());
beforeEach(() => sql('truncate jobs'));

const sql = (text: string) => database.db.rows<object>({ name: '', text, values: [] });
const start = Date.now();
const at = (seconds: number) => new Date(start + seconds * 1_000);
const leaseSeconds = 60;

function add(id: string, seconds = 0): Promise<void> {
  const rest = { accountId: null, about: { id }, sealed: null, keyVersion: null };
  return addJobs(database.db, [{ id, kind: 'any', dueAt: at(seconds), ...rest }], at(0));
}

function take(seconds: number, limit = 20, tx: Tx = database.db) {
  const until = at(seconds + leaseSeconds);
  return claimJobs(tx, { kind: 'any', now: at(seconds), until, limit });
}

const idsOf = (jobs: readonly Job[]) => jobs.map(({ id }) => id).toSorted();

test('a job that one process takes no other does, nor waits for it', async () => {
  for (const [nth, id] of ['a', 'b', 'c', 'd'].entries()) await add(id, nth);
  await database.db.transaction(async (tx) => {
    assert.deepEqual(idsOf(await take(9, 2, tx)), ['a', 'b']);
    assert.deepEqual(idsOf(await take(9, 4)), ['c', 'd']);
    assert.deepEqual(await take(9, 4), []);
  });
  assert.deepEqual(await take(9 + leaseSeconds - 1, 4), []);
  const again = await take(9 + leaseSeconds, 4);
  assert.deepEqual(idsOf(again), ['a', 'b', 'c', 'd'], 'a lease that a crash left runs out');
  assert.ok(again.every(({ attempts }) => attempts === 2));
});

test('a job that was given up is neither the next nor taken', async () => {
  await add('a', 5);
  assert.deepEqual(await nextJobs(database.db, ['any', 'other']), [{ kind: 'any', at: at(5) }]);
  const [job = assert.fail()] = await take(5);
  await giveUpJob(database.db, job, { at: at(11), failure: 'never' });
  assert.deepEqual(await nextJobs(database.db, ['any']), []);
  assert.deepEqual(await take(1_000), []);
});

test('the outcome of a lease that is over counts for nothing', async () => {
  await add('a');
  const [late = assert.fail()] = await take(0);
  const [own = assert.fail()] = await take(leaseSeconds);
  await finishJob(database.db, late);
  await retryJob(database.db, late, { dueAt: at(0), failure: 'late' });
  await giveUpJob(database.db, late, { at: at(0), failure: 'late' });
  assert.deepEqual(await take(leaseSeconds), []);
  await retryJob(database.db, own, { dueAt: at(100), failure: null });
  assert.deepEqual(await take(99), []);
  assert.deepEqual(idsOf(await take(100)), ['a']);
});
