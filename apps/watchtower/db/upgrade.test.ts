// An upgrade of a database in use: rows from before it go on as they were.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beforeMigration } from '@parley/verify/test/support/before-migration.ts';
import { liveAttempts } from './attempts.ts';
import { takeDueJobs } from './jobs.ts';
import { keySums } from './sums.ts';

const watchtower = '045_watchtower.sql';

const idOf = (last: number) => `00000000-0000-4000-8000-00000000000${last}`;
const swapId = idOf(1);
const makerId = idOf(2);

test("a gas key's transaction in flight before the upgrade is its job’s afterwards", async (t) => {
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
