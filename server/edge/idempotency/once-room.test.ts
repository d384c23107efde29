// What is done with a success for whose reply the account's day has no room left. That it stops no
// claim: swaps.test.ts.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Tx } from '../../db/database.ts';
import { startEdge, type TestEdge } from '../testing/edge.ts';
import { evmWallet } from '../testing/signers.ts';
import { addTestCommand, type Steps } from '../testing/test-command.ts';
import { mostKeptBytes } from './replies.ts';

let edge: TestEdge;
let key: string;
const steps: Steps = { plan: {}, runs: 0 };

before(async () => {
  edge = await startEdge({ settings: { rateLimit: 300 } }, (app, deps) => {
    addTestCommand(app, deps, steps, '/v1/refuse/:id');
    addTestCommand(app, deps, steps, '/v1/anew/:id', { withoutRoom: 'anew' });
    addTestCommand(app, deps, steps, '/v1/keep/:id', { withoutRoom: 'keep' });
  });
  edge.deps.freeze(Date.UTC(2030, 0, 1, 22));
  key = (await edge.mint(evmWallet())).body.key;
});
after(() => edge.close());

const post = (path: string, name: string | null) => {
  const headers: Record<string, string> = name === null ? {} : { 'idempotency-key': name };
  return edge.call('POST', path, { key, body: {}, headers });
};

async function fillTheDay(): Promise<void> {
  await edge.deps.db.rows({
    name: 'test_full',
    text: `insert into kept_replies (account_id, day, refusals, bytes)
      select id, '2030-01-01', 0, $1 from accounts
      on conflict (account_id, day) do update set bytes = excluded.bytes`,
    values: [mostKeptBytes(edge.deps.settings)],
  });
}

test('what must be kept is refused whole, and only under a key and on that day', async () => {
  const first = await post('/v1/refuse/1', 'before');
  await fillTheDay();
  const addRow = (tx: Tx) =>
    tx.rows({
      name: 'test_room_row',
      text: `insert into assets (id, chain, symbol, address, decimals, verified, source, created_at)
        values (gen_random_uuid(), 'test', 'room', gen_random_uuid(), 0, true, 'api', now())`,
      values: [],
    });
  const rows = async () => {
    const text = `select 1 as one from assets where symbol = 'room'`;
    return (await edge.deps.db.rows({ name: 'test_room', text, values: [] })).length;
  };
  steps.plan = { run: async (tx) => void (await addRow(tx)) };
  const refused = await post('/v1/refuse/1', 'late');
  assert.deepEqual(
    [refused.status, refused.headers['x-parley-error'], refused.headers['retry-after']],
    [429, 'kept_replies_full', '7200'],
  );
  assert.match(refused.body.error, /518 MB of this day \(UTC\); nothing was done/);
  assert.equal(await rows(), 0);
  const again = await post('/v1/refuse/1', 'before');
  assert.deepEqual([again.status, again.body], [201, first.body]);
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.equal((await post('/v1/refuse/1', null)).status, 201);
  assert.equal(await rows(), 1);
  edge.deps.advance(7_200_000);
  assert.equal((await post('/v1/refuse/1', 'late')).status, 201);
  assert.equal(await rows(), 2);
  edge.deps.freeze(Date.UTC(2030, 0, 1, 22));
});

test('what a retry may do anew is done and not kept; what there is little of is kept', async () => {
  await fillTheDay();
  steps.plan = {};
  for (const [path, replayed] of [
    ['/v1/anew/1', undefined],
    ['/v1/keep/1', 'true'],
  ] as const) {
    const first = await post(path, 'full');
    const again = await post(path, 'full');
    assert.deepEqual([first.status, again.status], [201, 201]);
    assert.equal(again.headers['idempotency-replayed'], replayed, path);
    assert.equal(again.body.run === first.body.run, replayed === 'true');
  }
});
