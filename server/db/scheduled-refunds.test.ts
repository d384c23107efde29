// The queue of ladders of signed refunds: the order in which they are read, whatever else is posted
// meanwhile.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import type { Statement, Tx } from './database.ts';
import {
  chainsDue,
  giveBackScheduled,
  noteSentRefund,
  putScheduled,
  type Scheduled,
  takeScheduled,
} from './scheduled-refunds.ts';

const timelock = 1_800_000_000;
const swapId = '00000000-0000-4000-8000-000000000001';
let database: TestDatabase;
before(async () => {
  database = await testDatabase();
  // This file tests the queue alone.
  await sql('alter table scheduled_refunds drop constraint scheduled_refunds_swap_id_fkey');
});
after(() => database?.drop());
beforeEach(() => sql('truncate scheduled_refunds'));

const sql = (text: string) => database.db.rows<object>({ name: '', text, values: [] });
const bumpsOf = (fees: readonly bigint[]) =>
  fees.map((feeSats) => {
    return { txid: `tx ${feeSats}`, raw: '00', feeSats, feeRateSatPerVbyte: Number(feeSats) / 7 };
  });

type Posted = { escrow: string; now: number; fees?: readonly bigint[]; accountId?: string };

const accountOf = (last: number) => `00000000-0000-4000-8000-${`${last}`.padStart(12, '0')}`;

function post({ escrow, now, fees = [200n, 400n], accountId = accountOf(1) }: Posted) {
  const dueAt = timelock - 1_000;
  const ladder = {
    chain: 'bitcoin',
    accountId,
    escrow,
    swapId,
    leg: 'b',
    bumps: bumpsOf(fees),
    dueAt,
  } as const;
  return putScheduled(database.db, { ...ladder, at: new Date(now * 1_000) });
}

function take(wall: number, limit = 20): Promise<Scheduled[]> {
  const about = { chain: 'bitcoin', wall, leasedUntil: wall + 60, limit } as const;
  return database.db.transaction((tx) => takeScheduled(tx, about));
}

test('a ladder is looked at as often while strangers post theirs again and again', async () => {
  const passes = 60;
  const looks: number[] = [];
  for (const fees of [null, [200n], [200n, 401n]]) {
    await sql('truncate scheduled_refunds');
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
        if (each.escrow === 'honest') looked += 1;
        await giveBackScheduled(database.db, each, { dueAt: wall + 15 });
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
  const [taken] = await take(timelock + 5, 1);
  assert.equal(taken?.escrow, 'first');
  await post({ escrow: 'first', now: timelock - 1_000 });
  const note = { sentTxid: 'tx 400', tried: { txid: 'tx 400', at: timelock, height: 1 } };
  assert.equal(await noteSentRefund(database.db, taken, note), true);
  await giveBackScheduled(database.db, taken, { dueAt: timelock + 20 });
  assert.equal((await post({ escrow: 'first', now: timelock })).sentTxid, 'tx 400');
  const [next] = await take(timelock + 30, 1);
  assert.equal(next?.escrow, 'second');
});

test('another ladder keeps the place of the former one, and nothing is noted of that one', async () => {
  await post({ escrow: 'first', now: timelock });
  const [taken] = await take(timelock + 5, 1);
  assert.ok(taken);
  await post({ escrow: 'first', now: timelock + 5, fees: [300n] });
  const note = { sentTxid: 'tx 400', tried: null };
  assert.equal(await noteSentRefund(database.db, taken, note), false);
  await giveBackScheduled(database.db, taken, { dueAt: timelock + 1_000 });
  const [again] = await take(timelock + 10, 1);
  assert.deepEqual(again?.bumps, bumpsOf([300n]));
});

test('a ladder that had ended is looked at again once it is posted again', async () => {
  await post({ escrow: 'first', now: timelock });
  const [taken] = await take(timelock + 5);
  assert.ok(taken);
  await giveBackScheduled(database.db, taken, { dueAt: null });
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
  assert.deepEqual(first.map(({ escrow }) => escrow).toSorted(), [
    'another',
    'many0',
    'many1',
    'many10',
  ]);
  for (const each of first) await giveBackScheduled(database.db, each, { dueAt: timelock + 1_001 });
  const wall = timelock + 1_001;
  const next = await take(wall, 20);
  assert.equal(next.length, 20, 'and it has all the places that the others leave');
  for (const escrow of ['other', 'other too', 'another']) {
    assert.ok(
      next.some((each) => each.escrow === escrow),
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
      const isOver = each.escrow.startsWith('many');
      if (isOver) seen.add(each.escrow);
      await giveBackScheduled(database.db, each, { dueAt: isOver ? null : wall + 15 });
    }
  }
  assert.equal(seen.size, 100);
});

test('what a server of the version before has kept is its account’s once it is posted again', async () => {
  await post({ escrow: 'first', now: timelock });
  await sql(`update scheduled_refunds set account_id = '${accountOf(0)}'`);
  await post({ escrow: 'first', now: timelock + 5 });
  const owner = () => sql('select account_id::text as owner, version from scheduled_refunds');
  assert.deepEqual(await owner(), [{ owner: accountOf(1), version: 2 }]);
  await post({ escrow: 'first', now: timelock + 9 });
  assert.deepEqual(await owner(), [{ owner: accountOf(1), version: 2 }]);
});

/** Pages of tables and indexes that a statement has touched. */
type Plan = { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };

test('a pass looks at what is due, however many wait', async () => {
  // The rows belong to so many accounts that none could be gone through, by index too.
  await sql(`insert into scheduled_refunds (chain, escrow, swap_id, leg, rungs, count,
      lowest_fee_rate, highest_fee_rate, due_at, posted_at, account_id)
    select 'bitcoin', 'waits ' || n, '${swapId}', 'b', '[]', 0, 0, 0, ${timelock} + n, now(),
      ('00000000-0000-4000-9000-' || lpad((n % 5000)::text, 12, '0'))::uuid
    from generate_series(1000, 50999) n`);
  await sql('analyze scheduled_refunds');
  for (let at = 0; at < 30; at += 1) await post({ escrow: `due${at}`, now: timelock });
  const seen: Record<string, number> = {};
  await database.db.transaction(async (tx) => {
    const explained: Tx = {
      rows: async <Row>(statement: Statement) => {
        const text = `explain (analyze, buffers, format json) ${statement.text}`;
        type Explained = { 'QUERY PLAN': readonly { readonly Plan: Plan }[] };
        const [row] = await tx.rows<Explained>({ ...statement, name: '', text });
        const plan = row?.['QUERY PLAN'][0]?.Plan;
        assert.ok(plan);
        seen[statement.name] = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
        return [{ ok: true }] as Row[];
      },
    };
    await chainsDue(explained, ['bitcoin', 'signet'], timelock + 5);
    const about = { chain: 'bitcoin', wall: timelock + 5, leasedUntil: 0, limit: 20 } as const;
    await takeScheduled(explained, about).catch(() => {});
  });
  const { scheduled_chains_due: chains = 0, scheduled_take: take = 0 } = seen;
  // A descent of the index for a chain, some pages for each that is due or is taken.
  assert.ok(chains > 0 && chains <= 20, `${chains} pages for the chains`);
  assert.ok(take >= 30 && take <= 500, `${take} pages for what is taken`);
});
