// Jobs as processes side by side have them, on a real PostgreSQL.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import type { Tx } from './database.ts';
import {
  addJobs,
  claimInTurns,
  claimJobs,
  finishJob,
  giveUpJob,
  type Job,
  nextJobs,
  retryJob,
} from './jobs.ts';

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

function take(seconds: number, limit = 20, tx: Tx = database.db, claim = claimJobs) {
  const until = at(seconds + leaseSeconds);
  return claim(tx, { kind: 'any', now: at(seconds), until, limit });
}

const idsOf = (jobs: readonly Job[]) => jobs.map(({ id }) => id).toSorted();

for (const claim of [claimJobs, claimInTurns]) {
  const way = claim === claimJobs ? 'those due for longest' : 'in turns';
  test(`a job that one process takes no other does, nor waits for it: ${way}`, async () => {
    for (const [nth, id] of ['a', 'b', 'c', 'd'].entries()) await add(id, nth);
    await database.db.transaction(async (tx) => {
      assert.deepEqual(idsOf(await take(9, 2, tx, claim)), ['a', 'b']);
      const others = idsOf(await take(9, 4, database.db, claim));
      assert.deepEqual(others, ['c', 'd']);
      assert.deepEqual(await take(9, 4, database.db, claim), []);
    });
    assert.deepEqual(await take(9 + leaseSeconds - 1, 4, database.db, claim), []);
    const again = await take(9 + leaseSeconds, 4, database.db, claim);
    assert.deepEqual(idsOf(again), ['a', 'b', 'c', 'd'], 'a lease that a crash left runs out');
    assert.ok(again.every(({ attempts }) => attempts === 2));
  });
}

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

/** Pages of tables and indexes that a statement has touched. */
type Plan = { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };

test('a claim reads what is due, however many wait', async () => {
  // The rows belong to so many accounts that none could be gone through, by index too.
  await sql(`insert into jobs (id, kind, about, due_at, made_at, account_id)
    select 'waits ' || n, 'any', '{}', now() + n * interval '1 minute', now(),
      ('00000000-0000-4000-9000-' || lpad((n % 5000)::text, 12, '0'))::uuid
    from generate_series(1000, 50999) n`);
  await sql('analyze jobs');
  for (let each = 0; each < 30; each += 1) await add(`due ${each}`);
  let pages = 0;
  const explained: Tx = {
    rows: async (statement) => {
      const text = `explain (analyze, buffers, format json) ${statement.text}`;
      type Explained = { 'QUERY PLAN': readonly { readonly Plan: Plan }[] };
      const [row] = await database.db.rows<Explained>({ ...statement, name: '', text });
      const plan = row?.['QUERY PLAN'][0]?.Plan;
      assert.ok(plan);
      pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      return [];
    },
  };
  await take(5, 20, explained, claimInTurns);
  assert.ok(pages >= 20 && pages <= 500, `${pages} pages`);
});
