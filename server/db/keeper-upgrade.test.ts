// Upgrades of a database in use: what was kept before each goes on as it was, and servers of the
// version before go on beside those of this one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beforeMigration } from '../../test/support/before-migration.ts';
import { endTurn, type TurnKind, takeTurn } from './keeper-turns.ts';
import { takeScheduled } from './scheduled-refunds.ts';

const bounds = '016_keeper_bounds.sql';
const turns = '017_turns.sql';

test('a relay that was promised before the upgrade may make its token account', async (t) => {
  const { client, upgrade } = await beforeMigration(t, bounds);
  for (const [purpose, state] of [
    ['relay', 'open'],
    ['relay', 'done'],
    ['secret', 'open'],
  ]) {
    await client.query(
      `insert into keeper_jobs
        (chain, escrow, verb, swap_id, leg, account_id, purpose, state, due_at, created_at)
      values ('solana', gen_random_uuid(), 'claim', gen_random_uuid(), 'a',
        gen_random_uuid(), $1, $2, now(), now())`,
      [purpose, state],
    );
  }
  await upgrade();
  const { rows } = await client.query(
    `select purpose, state, makes_account as makes, relayed_at is not null as counted
    from keeper_jobs order by id`,
  );
  assert.deepEqual(rows, [
    { purpose: 'relay', state: 'open', makes: true, counted: true },
    { purpose: 'relay', state: 'done', makes: false, counted: true },
    { purpose: 'secret', state: 'open', makes: false, counted: false },
  ]);
});

const idOf = (last: number) => `00000000-0000-4000-8000-00000000000${last}`;
const [swapId, makerId, takerId] = [idOf(1), idOf(2), idOf(3)];

/** As the version before had them. */
const former = {
  take: `insert into keeper_turns as t (chain, holder, relays, until)
      values ($1, $2, $3, coalesce($5, clock_timestamp()) + $4 * interval '1 millisecond')
      on conflict (chain) do update
        set holder = excluded.holder, relays = excluded.relays, until = excluded.until,
          relays_wait = case when $3 then null else t.relays_wait end,
          others_wait = case when $3 then t.others_wait end
        where (t.holder is null or t.until < coalesce($5, clock_timestamp()))
          and (t.relays <> $3
            or coalesce(case when $3 then t.others_wait else t.relays_wait end, 'epoch')
              < coalesce($5, clock_timestamp()))
      returning chain`,
  wait: (column: string) => `update keeper_turns
      set ${column} = coalesce($3, clock_timestamp()) + $2 * interval '1 millisecond'
      where chain = $1 and coalesce(${column}, 'epoch')
        < coalesce($3, clock_timestamp()) + $2 / 2 * interval '1 millisecond'`,
  end: `update keeper_turns set holder = null
      where chain = $1 and holder = $2 and until >= coalesce($3, clock_timestamp())
      returning chain`,
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

test('servers of before the upgrade and of after it sign on a chain one at a time', async (t) => {
  const { client, upgrade, tx } = await beforeMigration(t, turns);
  const [old, other, own] = [idOf(1), idOf(2), idOf(3)];
  let nowMs = 1_000_000;
  const oldTakes = async (holder: string, relays: boolean) => {
    const values = ['evm', holder, relays, 10_000, new Date(nowMs)];
    return (await client.query(former.take, values)).rows.length === 1;
  };
  const oldEnds = async (holder: string) =>
    (await client.query(former.end, ['evm', holder, new Date(nowMs)])).rows.length === 1;
  const takes = (kind: TurnKind) =>
    takeTurn(tx, 'evm', own, {
      kind,
      milliseconds: 10_000,
      lapseMs: 1_000,
      clock: new Date(nowMs),
    });
  assert.equal(await oldTakes(old, true), true);
  await upgrade();
  assert.equal(await takes('new'), false, 'nobody is interrupted');
  assert.equal(await oldEnds(old), true);
  for (const kind of ['promised', 'own', 'new'] as const) {
    assert.equal(await takes(kind), true);
    for (const relays of [true, false]) assert.equal(await oldTakes(other, relays), false);
    for (const column of ['relays_wait', 'others_wait']) {
      await client.query(former.wait(column), ['evm', 1_000, new Date(nowMs)]);
    }
    assert.equal(await endTurn(tx, 'evm', own, new Date(nowMs)), true);
    nowMs += 1_001;
    assert.equal(await oldTakes(other, false), true);
    assert.equal(await takes(kind), false);
    assert.equal(await oldEnds(other), true);
  }
  // Of one that died the turn ends for both, and what it signed late is not kept.
  assert.equal(await oldTakes(old, false), true);
  nowMs += 10_001;
  assert.equal(await takes('own'), true);
  assert.equal(await oldEnds(old), false);
  nowMs += 10_001;
  assert.equal(await oldTakes(old, true), true);
  assert.equal(await endTurn(tx, 'evm', own, new Date(nowMs)), false);
});
