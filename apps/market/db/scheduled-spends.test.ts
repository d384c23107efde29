// The queue of ladders of signed claims and refunds: when one is read, whatever is posted meanwhile.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { claimJobs, finishJob, type Job, retryJob } from './jobs.ts';
import {
  findScheduled,
  noteSent,
  putScheduled,
  type Scheduled,
  spendsOn,
} from './scheduled-spends.ts';

const timelock = 1_800_000_000;
const swapId = '00000000-0000-4000-8000-000000000001';
let database: TestDatabase;
before(async () => {
  database = await testDatabase();
  // This file tests the queue alone.
  await sql('alter table scheduled_spends drop constraint scheduled_spends_swap_id_fkey');
  await sql('alter table jobs drop constraint jobs_account_id_fkey');
});
after(() => database?.drop());
beforeEach(() => sql('truncate jobs, scheduled_spends'));

const at = (seconds: number) => new Date(seconds * 1_000);
const leaseSeconds = 60;
const sql = (text: string) => database.db.rows<object>({ name: '', text, values: [] });
const bumpsOf = (fees: readonly bigint[]) =>
  fees.map((feeSats) => {
    return { txid: `tx ${feeSats}`, raw: '00', feeSats, feeRateSatPerVbyte: Number(feeSats) / 7 };
  });

type Posted = { escrow: string; now: number; fees?: readonly bigint[] };

function post({ escrow, now, fees = [200n, 400n] }: Posted) {
  const dueAt = at(timelock - 1_000);
  const ladder = {
    chain: 'bitcoin',
    accountId: swapId,
    escrow,
    swapId,
    verb: 'refund',
    leg: 'b',
    bumps: bumpsOf(fees),
    dueAt,
  } as const;
  return putScheduled(database.db, { ...ladder, at: at(now) });
}

function take(wall: number, limit = 20): Promise<Job[]> {
  const lease = { now: at(wall), until: at(wall + leaseSeconds) };
  return claimJobs(database.db, { kind: spendsOn('bitcoin', 'refund'), ...lease, limit });
}

const escrowOf = ({ about }: Job) => about.escrow as string;
const giveBack = (job: Job, wall: number) =>
  retryJob(database.db, job, { dueAt: at(wall), failure: null });

async function kept(escrow: string): Promise<Scheduled> {
  const found = await findScheduled(database.db, {
    chain: 'bitcoin',
    escrow,
    verb: 'refund',
  });
  assert.ok(found);
  return found;
}

test('the same ladder posted again changes neither its place nor its version, nor what is noted', async () => {
  await post({ escrow: 'first', now: timelock });
  await post({ escrow: 'second', now: timelock + 1 });
  const [taken = assert.fail()] = await take(timelock + 5, 1);
  assert.equal(escrowOf(taken), 'first');
  const ladder = await kept('first');
  await post({ escrow: 'first', now: timelock - 1_000 });
  const note = { sentTxid: 'tx 400', tried: { txid: 'tx 400', at: timelock, height: 1 } };
  assert.equal(await noteSent(database.db, ladder, note), true);
  await giveBack(taken, timelock + 20);
  assert.equal((await post({ escrow: 'first', now: timelock })).sentTxid, 'tx 400');
  assert.deepEqual((await take(timelock + 30, 1)).map(escrowOf), ['second']);
});

test('another ladder is looked at when the lease ends, and nothing is noted of the former one', async () => {
  await post({ escrow: 'first', now: timelock });
  const [taken = assert.fail()] = await take(timelock + 5, 1);
  const former = await kept('first');
  await post({ escrow: 'first', now: timelock + 5, fees: [300n] });
  const note = { sentTxid: 'tx 400', tried: null };
  assert.equal(await noteSent(database.db, former, note), false);
  await giveBack(taken, timelock + 1_000);
  assert.deepEqual(await take(timelock + 4 + leaseSeconds), []);
  assert.deepEqual((await take(timelock + 5 + leaseSeconds)).map(escrowOf), ['first']);
  assert.deepEqual((await kept('first')).bumps, bumpsOf([300n]));
});

test('a ladder that had ended is looked at again once it is posted again', async () => {
  await post({ escrow: 'first', now: timelock });
  const [taken = assert.fail()] = await take(timelock + 5);
  await finishJob(database.db, taken);
  assert.deepEqual(await take(timelock + 100), []);
  await post({ escrow: 'first', now: timelock + 100 });
  assert.equal((await take(timelock + 100)).length, 1);
});
