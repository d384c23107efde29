// The queue of ladders of signed refunds: the order in which they are read, whatever else is posted
// meanwhile.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { claimInTurns, finishJob, type Job, retryJob } from './jobs.ts';
import {
  findScheduled,
  noteSentRefund,
  putScheduled,
  refundsOn,
  type Scheduled,
} from './scheduled-refunds.ts';

const timelock = 1_800_000_000;
const swapId = '00000000-0000-4000-8000-000000000001';
let database: TestDatabase;
before(async () => {
  database = await testDatabase();
  // This file tests the queue alone.
  await sql('alter table scheduled_refunds drop constraint scheduled_refunds_swap_id_fkey');
  await sql('alter table jobs drop constraint jobs_account_id_fkey');
});
after(() => database?.drop());
beforeEach(() => sql('truncate jobs, scheduled_refunds'));

const at = (seconds: number) => new Date(seconds * 1_000);
const leaseSeconds = 60;
const sql = (text: string) => database.db.rows<object>({ name: '', text, values: [] });
const bumpsOf = (fees: readonly bigint[]) =>
  fees.map((feeSats) => {
    return { txid: `tx ${feeSats}`, raw: '00', feeSats, feeRateSatPerVbyte: Number(feeSats) / 7 };
  });

type Posted = { escrow: string; now: number; fees?: readonly bigint[]; accountId?: string };

const accountOf = (last: number) => `00000000-0000-4000-8000-${`${last}`.padStart(12, '0')}`;

function post({ escrow, now, fees = [200n, 400n], accountId = accountOf(1) }: Posted) {
  const dueAt = at(timelock - 1_000);
  const ladder = {
    chain: 'bitcoin',
    accountId,
    escrow,
    swapId,
    leg: 'b',
    bumps: bumpsOf(fees),
    dueAt,
  } as const;
  return putScheduled(database.db, { ...ladder, at: at(now) });
}

function take(wall: number, limit = 20): Promise<Job[]> {
  const lease = { now: at(wall), until: at(wall + leaseSeconds) };
  return claimInTurns(database.db, { kind: refundsOn('bitcoin'), ...lease, limit });
}

const escrowOf = ({ about }: Job) => about.escrow as string;
const giveBack = (job: Job, wall: number) =>
  retryJob(database.db, job, { dueAt: at(wall), failure: null });

async function kept(escrow: string): Promise<Scheduled> {
  const found = await findScheduled(database.db, { chain: 'bitcoin', escrow });
  assert.ok(found);
  return found;
}

test('a ladder is looked at as often while strangers post theirs again and again', async () => {
  const passes = 60;
  const looks: number[] = [];
  for (const fees of [null, [200n], [200n, 401n]]) {
    await sql('truncate jobs, scheduled_refunds');
    for (let at = 0; at < 24; at += 1) await post({ escrow: `other${at}`, now: timelock });
    await post({ escrow: 'honest', now: timelock + 1 });
    let looked = 0;
    let next = 0;
    for (let pass = 0; pass < passes; pass += 1) {
      const wall = timelock + 5 + pass * 5;
      for (let left = fees === null ? 0 : 20; left > 0; left -= 1) {
        await post({ escrow: `other${next % 24}`, now: wall, fees: fees ?? [] });
        next += 1;
      }
      for (const each of await take(wall)) {
        if (escrowOf(each) === 'honest') looked += 1;
        await giveBack(each, wall + 15);
      }
    }
    looks.push(looked);
  }
  const [alone = 0, ...amongPosts] = looks;
  assert.ok(alone >= 15, `${alone} looks`);
  for (const each of amongPosts) assert.ok(each >= alone / 2, `${each} of ${alone} looks`);
});

test('the same ladder posted again changes neither its place nor its version, nor what is noted', async () => {
  await post({ escrow: 'first', now: timelock });
  await post({ escrow: 'second', now: timelock + 1 });
  const [taken = assert.fail()] = await take(timelock + 5, 1);
  assert.equal(escrowOf(taken), 'first');
  const ladder = await kept('first');
  await post({ escrow: 'first', now: timelock - 1_000 });
  const note = { sentTxid: 'tx 400', tried: { txid: 'tx 400', at: timelock, height: 1 } };
  assert.equal(await noteSentRefund(database.db, ladder, note), true);
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
  assert.equal(await noteSentRefund(database.db, former, note), false);
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

test('one account with ever so many that are due holds up no other', async () => {
  for (let at = 0; at < 60; at += 1) await post({ escrow: `many${at}`, now: timelock });
  const due = { accountId: accountOf(2), now: timelock + 1_000 };
  await post({ escrow: 'other', ...due });
  await post({ escrow: 'other too', ...due });
  await post({ escrow: 'another', ...due, accountId: accountOf(3) });
  const first = await take(timelock + 1_000, 4);
  assert.deepEqual(first.map(escrowOf).toSorted(), ['another', 'many0', 'many1', 'many10']);
  for (const each of first) await giveBack(each, timelock + 1_001);
  const wall = timelock + 1_001;
  const next = await take(wall, 20);
  assert.equal(next.length, 20, 'and it has all the places that the others leave');
  for (const escrow of ['other', 'other too', 'another']) {
    assert.ok(
      next.some((each) => escrowOf(each) === escrow),
      escrow,
    );
  }
});

test('many accounts with one each that never ends starve none that has many', async () => {
  for (let at = 0; at < 100; at += 1) await post({ escrow: `many${at}`, now: timelock });
  for (let at = 0; at < 60; at += 1) {
    await post({ escrow: `never${at}`, now: timelock, accountId: accountOf(10 + at) });
  }
  const seen = new Set<string>();
  for (let pass = 0; pass < 20; pass += 1) {
    const wall = timelock + 5 + pass * 5;
    for (const each of await take(wall)) {
      const escrow = escrowOf(each);
      if (!escrow.startsWith('many')) {
        await giveBack(each, wall + 15);
        continue;
      }
      seen.add(escrow);
      await finishJob(database.db, each);
    }
  }
  assert.equal(seen.size, 100);
});
