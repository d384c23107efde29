// Upgrades of a database in use: what was kept before each goes on as it was, and servers of the
// version before go on beside those of this one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeScheduled } from '../../server/db/scheduled-refunds.ts';
import { beforeMigration } from '../../test/support/before-migration.ts';
import { liveAttempts } from './attempts.ts';
import { takeDueJobs } from './jobs.ts';
import { keySums } from './sums.ts';

const turns = '017_turns.sql';
const watchtower = '045_watchtower.sql';

const idOf = (last: number) => `00000000-0000-4000-8000-00000000000${last}`;
const swapId = idOf(1);
const makerId = idOf(2);
const takerId = idOf(3);

/** As the version before had them. */
const former = {
  post: `insert into scheduled_refunds
        (chain, escrow, swap_id, leg, rungs, count, lowest_fee_rate, highest_fee_rate, due_at,
         posted_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      on conflict (chain, escrow) do update
        set rungs = excluded.rungs, count = excluded.count,
          due_at = least(scheduled_refunds.due_at, excluded.due_at),
          lowest_fee_rate = excluded.lowest_fee_rate,
          highest_fee_rate = excluded.highest_fee_rate, posted_at = excluded.posted_at,
          version = scheduled_refunds.version + 1,
          sent_txid = case
            when excluded.rungs @> jsonb_build_array(
              jsonb_build_object('txid', scheduled_refunds.sent_txid))
            then scheduled_refunds.sent_txid end
        where scheduled_refunds.due_at is null or scheduled_refunds.rungs <> excluded.rungs
      returning sent_txid`,
  takeDue: `update scheduled_refunds set leased_until = $3
      where (chain, escrow) in (
          select chain, escrow from scheduled_refunds
          where chain = $1 and due_at <= $2 order by due_at, escrow limit $4)
        and not exists (
          select 1 from scheduled_refunds where chain = $1 and leased_until > $2)
      returning chain, escrow, swap_id, leg, rungs, version, sent_txid, tried`,
};

test('signed refunds of before the upgrade are their funder’s, and servers of before still post', async (t) => {
  const { client, upgrade, tx } = await beforeMigration(t, turns);
  await client.query(
    `insert into swaps (id, thread_id, rfq_id, hashlock, maker_id, taker_id, long_leg, status,
      agreed_at, initiator_fund_by, expires_at, counterparty_fund_by, reveal_by, created_at,
      updated_at)
    values ($1, $1, $1, 'h', $2, $3, 'a', 'agreed', 0, 0, 0, 0, 0, now(), now())`,
    [swapId, makerId, takerId],
  );
  const post = (leg: string) => {
    const values = ['bitcoin', `of ${leg}`, swapId, leg, '[]', 0, 0, 0, 100, new Date()];
    return client.query(former.post, values);
  };
  await post('a');
  await post('b');
  await upgrade();
  const owners = async () => {
    const text = 'select escrow, account_id as owner from scheduled_refunds order by escrow';
    return (await client.query(text)).rows.map(({ escrow, owner }) => [escrow, owner]);
  };
  assert.deepEqual(await owners(), [
    ['of a', makerId],
    ['of b', takerId],
  ]);
  await client.query('delete from scheduled_refunds');
  await post('b');
  const { rows } = await client.query(former.takeDue, ['bitcoin', 100, 160, 20]);
  assert.equal(rows.length, 1);
  const about = { chain: 'bitcoin', wall: 101, leasedUntil: 161, limit: 20 };
  assert.deepEqual(await takeScheduled(tx, about), [], 'one of before has them in hand');
  const [taken] = await takeScheduled(tx, { ...about, wall: 161, leasedUntil: 221 });
  assert.equal(taken?.escrow, 'of b');
  assert.equal((await client.query(former.takeDue, ['bitcoin', 200, 260, 20])).rows.length, 0);
});

test('what a gas key has in flight before the upgrade is its job’s afterwards', async (t) => {
  const { client, upgrade, tx } = await beforeMigration(t, watchtower);
  await client.query(
    `with job as (insert into keeper_jobs (chain, escrow, verb, swap_id, leg, account_id, purpose,
        state, reserve, due_at, created_at, relayed_at)
      select 'evm', 'escrow ' || n, 'claim', $1, 'a', $2, 'relay', 'open', 7, now(), now(), now()
      from generate_series(1, 3) n returning id)
    insert into keeper_attempts (chain, address, job_id, verb, purpose, txid, nonce, offer,
      most_cost, charged, signed_at, sent_at, shown_at, fate)
    select 'evm', 'key', id, 'claim', 'relay', 'of ' || id, id, 1, 5, 5, now(), now(), now(),
      'pending' from job`,
    [swapId, makerId],
  );
  await upgrade();
  const live = await liveAttempts(tx, 'evm', 'key');
  assert.deepEqual(
    live.map(({ outcome, nonce, jobId }) => [outcome, nonce === jobId]),
    Array(3).fill(['pending', true]),
  );
  const due = {
    chain: 'evm',
    what: 'relays',
    isBusy: false,
    now: new Date('2100-01-01'),
    again: new Date(),
  } as const;
  assert.equal((await takeDueJobs(tx, due, 10)).length, 3);
  const of = { chain: 'evm', since: new Date(0), except: null };
  assert.equal(`${(await keySums(tx, of)).reserved}`, '21');
});
