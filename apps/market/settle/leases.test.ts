// Which of several processes follows, on a real PostgreSQL: each has connections of its own, and
// makes its passes when the test says so.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { testDeps } from '@parley/verify/test/support/deps.ts';
import { connect } from '../db/database.ts';
import { leaseMs } from '../db/leases.ts';
import { workOf } from '../ports/work.ts';
import { createLeases, type Work } from './leases.ts';

const chains = ['bitcoin', 'evm'];
let database: TestDatabase;
const open: (() => Promise<void>)[] = [];

before(async () => {
  database = await testDatabase();
});
after(() => database.drop());
afterEach(async () => {
  for (const close of open.splice(0)) await close();
  await sql('delete from leases');
  await sql(endConnections('true'));
});

/** Waits for the end of those that show that their process lives. */
const endConnections = (whose: string) => `select pg_terminate_backend(pid, 5000) from pg_locks
  where locktype = 'advisory' and objsubid = 2 and ${whose}`;

async function sql<Row>(text: string): Promise<Row[]> {
  return database.db.rows<Row>({ name: '', text, values: [] });
}

/** `deaf`: its listening connection cannot be opened. */
function started(deaf = false) {
  const own = connect(database.url);
  const db = deaf ? { ...own, listen: () => Promise.reject(new Error('too many clients')) } : own;
  const follower = randomBytes(4).readUInt32LE() >>> 1;
  const state = { ms: 0, failingMs: 0, behindSeconds: 0, stoodAt: null as string | null };
  const behind = new Map<string, number>();
  const works = chains.map(
    (name): Work => ({
      name,
      taken: (seconds) => behind.set(name, Math.round(seconds)),
      lost: () => behind.delete(name),
      failingMs: () => (name === 'evm' ? state.failingMs : 0),
      behindSeconds: () => state.behindSeconds,
      stoodAt: () => (name === 'evm' ? state.stoodAt : null),
    }),
  );
  const leases = createLeases({ ...testDeps({ db }), follower }, works, () => state.ms);
  open.push(async () => {
    await leases.stop();
    await own.close();
  });
  return { ...leases, db, state, behind, follower, holds: () => chains.filter(leases.holds) };
}

async function pair() {
  const first = started();
  const second = started();
  await first.pass();
  await second.pass();
  return { first, second };
}

const shown = () =>
  sql<{ follower: number }>(`select objid::integer as follower from pg_locks
    where locktype = 'advisory' and classid = 7269553 and granted`);

/** As if time had gone by for the database. */
const age = (seconds: number) =>
  sql(`update leases set ends_at = ends_at - interval '${seconds} seconds'`);

test('the first process takes all at once, and another one nothing while it renews', async () => {
  const { first, second } = await pair();
  assert.deepEqual([first.holds(), second.holds()], [chains, []]);
  await age(4.5);
  await first.pass();
  await age(4.5);
  await second.pass();
  assert.deepEqual(second.holds(), []);
});

test('a lease moves as soon as its holder’s connection is gone, as by kill -9', async (t) => {
  const { first, second } = await pair();
  // A killed process does not connect again; this one would, in a tenth of a second.
  t.mock.method(first.db, 'listen', () => Promise.reject(new Error('killed')));
  await sql(endConnections(`objid = ${first.follower}`));
  await second.pass();
  assert.deepEqual(second.holds(), chains);
});

test('a connection of before that PostgreSQL takes for alive keeps its process from nothing', async () => {
  const first = started();
  const cut = await database.db.session();
  // The constant of db/leases.ts.
  await cut.rows({
    name: '',
    text: `select pg_advisory_lock(7269553, $1)`,
    values: [first.follower],
  });
  const leave = workOf(first.db).on(['feed'], () => {});
  await first.pass();
  assert.deepEqual([first.holds(), workOf(first.db).isHeard()], [chains, true]);
  await sql(endConnections(`objid = ${first.follower}`));
  cut.end();
  await first.pass();
  assert.deepEqual(await shown(), [{ follower: first.follower }]);
  leave();
});

test('a holder that stands still loses its lease when it is over, and hears so when it wakes', async () => {
  const { first, second } = await pair();
  await age(leaseMs / 1_000 + 1);
  await second.pass();
  assert.deepEqual(second.holds(), chains);
  assert.deepEqual(first.holds(), chains, 'it does not know yet');
  first.state.ms += leaseMs;
  assert.deepEqual(first.holds(), [], 'its own clock tells it before the database does');
  await first.pass();
  first.state.ms -= leaseMs;
  assert.deepEqual([first.holds(), second.holds()], [[], chains]);
});

test('a clock of the database that was set back keeps nobody from a lease', async () => {
  const { second } = await pair();
  await age(-3_600);
  await second.pass();
  assert.deepEqual(second.holds(), chains);
});

test('a process that stops gives its leases back at once', async () => {
  const { first, second } = await pair();
  await first.stop();
  await second.pass();
  assert.deepEqual(second.holds(), chains);
});

test('a process that hears no notices leads, and keeps its lease from those that do', async () => {
  const deaf = started(true);
  const other = started();
  await deaf.pass();
  await other.pass();
  assert.deepEqual([deaf.holds(), other.holds()], [chains, []]);
});

test('passes that fail hand the lease of their chain to another process, if there is one', async () => {
  const first = started();
  await first.pass();
  first.state.failingMs = 15_000;
  await first.pass();
  assert.deepEqual(first.holds(), chains, 'it is alone');
  const second = started();
  await second.pass();
  first.state.failingMs = 14_999;
  await first.pass();
  assert.deepEqual(first.holds(), chains, 'not yet');
  first.state.failingMs = 15_000;
  await first.pass();
  await second.pass();
  assert.deepEqual([first.holds(), second.holds()], [['bitcoin'], ['evm']]);
  assert.deepEqual([...first.behind.keys()], ['bitcoin'], 'it was told of its loss');
});

test('a chain that failed here for long is taken again after a while', async () => {
  const { first } = await pair();
  first.state.failingMs = 15_000;
  await first.pass();
  first.state.failingMs = 0;
  assert.deepEqual(first.holds(), ['bitcoin']);
  first.state.ms += 20_000;
  await first.pass();
  assert.deepEqual(first.holds(), chains);
});

test('a holder whose stored head still is the one at which it stood loses the lease', async () => {
  const { first, second } = await pair();
  await sql(`insert into chain_heads values ('evm', 100, 'h100', 100, now())`);
  second.state.stoodAt = 'h99';
  await second.pass();
  assert.deepEqual(second.holds(), []);
  second.state.stoodAt = 'h100';
  await second.pass();
  assert.deepEqual(second.holds(), ['evm']);
  await first.pass();
  assert.deepEqual(first.holds(), ['bitcoin']);
  await sql('delete from chain_heads');
});

test('how far a chain is behind goes with its lease', async () => {
  const { first, second } = await pair();
  assert.equal(first.behind.get('evm'), 0);
  first.state.behindSeconds = 90;
  await first.pass();
  await first.stop();
  await second.pass();
  const behind = second.behind.get('evm') ?? 0;
  assert.ok(behind >= 90 && behind < 120, `${behind} s`);
});
