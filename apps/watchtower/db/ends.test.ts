// Two servers that read one job of the keeper at once, on a real PostgreSQL.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tx } from '@parley/market/db/database.ts';
import { lockWithoutSecret } from '@parley/market/db/watched.ts';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import pg from 'pg';
import { relayedBefore } from '../relay.ts';
import { attemptsOf, giveUpUnsent, insertAttempt, markSent, storeOutcome } from './attempts.ts';
import { endJob, putOffJobs, takeDueJobs } from './jobs.ts';

const chain = 'evm';
const address = 'the key';
const at = new Date(0);
const swapId = '00000000-0000-4000-8000-000000000001';
let database: TestDatabase;
let client: pg.Client;

before(async () => {
  database = await testDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  // The rows that the swap and its jobs refer to are no part of it.
  await client.query('set session_replication_role = replica');
  await client.query(
    `insert into swaps (id, thread_id, rfq_id, hashlock, maker_id, taker_id, long_leg, status,
      agreed_at, initiator_fund_by, expires_at, counterparty_fund_by, reveal_by, created_at,
      updated_at, rules)
    values ($1, $1, $1, 'h', $1, $1, 'a', 'agreed', 0, 0, 0, 0, 0, now(), now(), '{}')`,
    [swapId],
  );
});
after(async () => {
  await client?.end();
  await database?.drop();
});

let jobs = 0;
async function openJob(): Promise<number> {
  jobs += 1;
  const { rows } = await client.query(
    `insert into keeper_jobs
      (chain, escrow, verb, swap_id, leg, purpose, state, due_at, created_at)
    values ($1, $2, 'claim', $3, 'a', 'relay', 'open', now(), now())
    returning id`,
    [chain, `escrow ${jobs}`, swapId],
  );
  return Number(rows[0].id);
}

const sign = (tx: Tx, jobId: number, nonce: number) =>
  insertAttempt(tx, {
    chain,
    address,
    jobId,
    nonce,
    at,
    verb: 'claim',
    txid: `${jobId} ${nonce}`,
    sealed: Buffer.of(1),
    sealedVersion: 1,
    offer: 1n,
    mostCost: 5n,
    diesAt: null,
  });

async function stateOf(job: number): Promise<string | undefined> {
  const { rows } = await client.query('select state from keeper_jobs where id = $1', [job]);
  return rows[0]?.state;
}

const ends = {
  endJob: (job: number) => endJob(database.db, job, 'done'),
  'endJob, unless its secret is public': (job: number) =>
    endJob(database.db, job, 'dropped', (tx) => lockWithoutSecret(tx, swapId)),
};

test('a final end stays so, whatever a slower poll saw of it', async () => {
  const job = await openJob();
  const { id } = await sign(database.db, job, 1);
  await storeOutcome(database.db, id, 'deep', { paid: 3n, at });
  for (const outcome of ['mined', 'unknown', 'gone', 'failed'] as const) {
    await storeOutcome(database.db, id, outcome, { paid: 0n, at });
  }
  const [kept] = await attemptsOf(database.db, job, address);
  assert.deepEqual([kept?.outcome, kept?.charged], ['deep', 3n]);
});

for (const [name, end] of Object.entries(ends)) {
  test(`${name}: a job is open as long as something signed for it has not left`, async () => {
    const job = await openJob();
    const { id } = await sign(database.db, job, 2);
    assert.notEqual(await end(job), true);
    assert.equal(await stateOf(job), 'open');
    assert.equal(await markSent(database.db, id, at), true, 'its next look sends it');
    await end(job);
    assert.notEqual(await stateOf(job), 'open');
    const another = await openJob();
    const unsent = await sign(database.db, another, 3);
    await giveUpUnsent(database.db, unsent.id);
    await end(another);
    assert.notEqual(await stateOf(another), 'open');
  });

  test(`${name}: what is being kept for a job at that moment is waited for`, async () => {
    const job = await openJob();
    const signed = Promise.withResolvers<void>();
    const keep = Promise.withResolvers<void>();
    const keeping = database.db.transaction(async (tx) => {
      await sign(tx, job, 4);
      signed.resolve();
      await keep.promise;
    });
    await signed.promise;
    const ending = end(job);
    const first = await Promise.race([ending, sleep(300, 'waits')]);
    keep.resolve();
    await Promise.all([keeping, ending]);
    assert.equal(first, 'waits');
    assert.equal(await stateOf(job), 'open');
  });
}

test('a job that waits for one in flight did not fail more, and is taken apart from all else', async () => {
  const tx = database.db;
  const id = await openJob();
  const failuresAfter = async (failure: string | null) => {
    await putOffJobs(tx, [id], { dueAt: at, failure });
    const { rows } = await client.query('select failures from keeper_jobs where id = $1', [id]);
    return rows[0].failures;
  };
  const taken = async (isBusy: boolean) => {
    const of = { chain, what: 'relays', isBusy, now: at, again: at } as const;
    return (await takeDueJobs(tx, of, 100)).map((job) => job.id);
  };
  assert.equal(await failuresAfter('fault'), 1);
  assert.deepEqual([await taken(true), await taken(false)], [[], [id]]);
  assert.equal(await failuresAfter('busy'), 1);
  assert.deepEqual([await taken(true), await taken(false)], [[id], []]);
  assert.equal(await failuresAfter('fault'), 2);
  assert.equal(await failuresAfter(null), 0);
});

test('a job that was given up, or was of a former key, is not answered for again', async () => {
  const id = await openJob();
  const { rows } = await client.query('select escrow from keeper_jobs where id = $1', [id]);
  const of = { chain, verb: 'claim', escrow: rows[0].escrow } as const;
  const attempt = await sign(database.db, id, 900);
  assert.deepEqual(await relayedBefore(database.db, of), { relayed: true, txid: attempt.txid });
  await storeOutcome(database.db, attempt.id, 'gone', { paid: 0n, at });
  assert.equal(await relayedBefore(database.db, of), null);
});
