// The feed's log of a database in use gets the numbers that sockets are told, and goes on beside a
// server of the version before, which knows nothing of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beforeMigration } from '../../test/support/before-migration.ts';

const numbers = '033_feed_numbers.sql';

test('entries keep the number under which they were told, and none is given out twice', async (t) => {
  const { client, upgrade } = await beforeMigration(t, numbers);
  await client.query('set session_replication_role = origin');
  const append = async (...targets: (string | null)[]) => {
    await client.query(
      `insert into feed_log (kind, rfq_id, creator_id, target_address, body, at)
      select 'created', gen_random_uuid(), gen_random_uuid(), target, '', now()
      from unnest($1::text[]) with ordinality as t (target, place) order by place`,
      [targets],
    );
  };
  const log = async () =>
    (await client.query('select seq::int, number::int from feed_log order by seq')).rows;
  await append(null, 'a', null, 'a');
  await upgrade();
  // By the version before, which leaves the number out.
  await append('b', null, 'b');
  await append(null);
  const rows = await log();
  assert.deepEqual(
    rows.map(({ number }) => number),
    [1, 2, 3, 4, 4, 5, 5, 6],
  );
  assert.deepEqual(
    rows.slice(0, 4).map(({ seq }) => seq),
    [1, 2, 3, 4],
  );
  // What that version tells as a number is far from all that this one does.
  assert.ok(rows.slice(4).every(({ seq }) => seq > 1_000_000_000));
  // As after a restore: behind all there was.
  await client.query('delete from feed_log');
  await append(null, 'c');
  const [first, second] = await log();
  assert.ok(first.number > 1_000_000_000);
  assert.equal(second.number, first.number);
});

test('a log that was never written to begins with an entry to go on from', async (t) => {
  const { client, upgrade } = await beforeMigration(t, numbers);
  await client.query('set session_replication_role = origin');
  await upgrade();
  const { rows } = await client.query('select kind, seq::int, number::int from feed_log');
  assert.deepEqual(rows, [{ kind: 'reset', seq: 1, number: 1 }]);
});
