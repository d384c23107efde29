// The market's figures at a scrape, on a real PostgreSQL; and that a database which does not answer
// leaves none behind.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testDatabase } from '@parley/verify/test/support/database.ts';
import type { Desk } from '@parley/watchtower/port.ts';
import type { Database } from '../db/database.ts';
import { agreedSwaps } from '../doctor/testing/agreed.ts';
import { nodelessDeps } from '../settle/testing/rows.ts';
import { createFigures } from './gauges.ts';

const { db, drop } = await testDatabase();
after(drop);
const sql = (text: string) => db.rows({ name: `gauges ${text.slice(0, 50)}`, text, values: [] });
const always = { keptMs: 0, figuresMs: 20_000 };

/** The figures of a scrape, by name and labels, without `parley_market_`. */
async function figuresOf(on: Database, limits = always) {
  const deps = nodelessDeps(on);
  const refresh = createFigures(deps, limits);
  return async () => {
    await refresh();
    const text = await deps.metrics.registry.metrics();
    const lines = text.matchAll(/^parley_(?:market_)?([^ #]+) (\S+)$/gm);
    return new Map([...lines].map(([, name = '', value]) => [name, Number(value)]));
  };
}
const near = (value: number | undefined, wanted: number, what: string) =>
  assert.ok(value !== undefined && Math.abs(value - wanted) < 30, `${what}: ${value}`);

test('a scrape asks no watchtower, which would take another connection', async () => {
  const ask = () => Promise.reject(new Error('asked'));
  const watchtower = { claimsOn: ask, fundsBySignature: ask } as unknown as Desk;
  const deps = { ...nodelessDeps(db), watchtower };
  await createFigures(deps, always)();
  assert.match(await deps.metrics.registry.metrics(), /^parley_database_up 1$/m);
});

test('swaps, deadlines, what is overdue and what waits are read at a scrape', async () => {
  const read = await figuresOf(db);
  const [first, second] = await agreedSwaps(db, 3);
  const quiet = await read();
  assert.equal(quiet.get('swaps{status="agreed",value="normal"}'), 3);
  assert.equal(quiet.get('overdue_steps{step="reconcile"}'), 0);
  assert.equal(quiet.get('waiting_oldest_seconds{audience="feed"}'), 0);
  assert.equal(quiet.get('agrees'), 1);
  assert.equal(quiet.get('database_up'), 1);
  assert.ok(quiet.get('next_deadline_seconds{step="fund_first"}')! > 0);
  assert.equal(quiet.get('next_deadline_seconds{step="reveal"}'), undefined);

  await sql(`update swaps set status = 'counterparty_funded', high_value = true,
    reveal_by = extract(epoch from now()) + 600 where id = '${first}'`);
  await sql(`update swaps set due_at = extract(epoch from now()) - 100 where id = '${second}'`);
  await sql(`insert into outbox (topic, account_id, payload, created_at)
    values ('feed.created', null, '{}', now() - interval '90 s')`);
  await sql(`insert into webhooks (id, account_id, url, events, secret, secret_version, created_at,
      failing_since)
    select gen_random_uuid(), maker_id, 'https://a.example', '{}', '', 1, now(),
      now() - interval '2 h' from swaps, generate_series(1, 3) where id = '${first}'`);
  await sql(`update webhooks set account_id = (select id from accounts
      where id <> webhooks.account_id limit 1)
    where id = (select min(id::text)::uuid from webhooks)`);
  await sql(`insert into deliveries (id, webhook_id, event, position, body, next_at, created_at)
    select gen_random_uuid(), id, 'swap.agreed', 1, '{}', now() - interval '3 min', now()
    from webhooks`);
  const found = await read();
  assert.equal(found.get('swaps{status="agreed",value="normal"}'), 2);
  assert.equal(found.get('swaps{status="counterparty_funded",value="high"}'), 1);
  near(found.get('next_deadline_seconds{step="reveal"}'), 600, 'until the secret is due');
  assert.equal(found.get('overdue_steps{step="reconcile"}'), 1);
  near(found.get('overdue_oldest_seconds{step="reconcile"}'), 100, 'overdue');
  near(found.get('waiting_oldest_seconds{audience="feed"}'), 90, 'the outbox');
  near(found.get('deliveries_due_oldest_seconds'), 180, 'a delivery');
  assert.equal(found.get('webhooks_failing'), 3);
  assert.equal(found.get('webhook_accounts_failing'), 2);
  near(found.get('webhooks_failing_oldest_seconds'), 7_200, 'a receiver');
});

test('a database that hangs or fails is told, and no old figure with it', async () => {
  let mode: 'works' | 'hangs' | 'fails' = 'works';
  const faulty: Database = {
    ...db,
    transaction: (work) => {
      if (mode === 'hangs') return new Promise(() => {});
      return mode === 'fails' ? Promise.reject(new Error('gone')) : db.transaction(work);
    },
  };
  const limits = { ...always };
  const read = await figuresOf(faulty, limits);
  assert.equal((await read()).get('agrees'), 1);
  mode = 'fails';
  const failed = await read();
  assert.equal(failed.get('database_up'), 0);
  assert.equal(failed.get('agrees'), undefined);
  mode = 'works';
  assert.equal((await read()).get('database_up'), 1, 'it is back');
  mode = 'hangs';
  limits.figuresMs = 50;
  const hung = await read();
  assert.equal(hung.get('database_up'), 0);
  assert.equal([...hung.keys()].filter((name) => name.startsWith('swaps{')).length, 0);
});
