// Commands under an Idempotency-Key: specification part 8, decisions 7. The interleavings are
// forced: a test command waits where the test tells it to.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Type from 'typebox';
import { ParleyError } from '../../core/errors.ts';
import type { Tx } from '../db/database.ts';
import { lockSlot } from '../market/idempotency.ts';
import { prune } from '../market/prune.ts';
import { bodyHash } from './body.ts';
import { command } from './command.ts';
import { input } from './schemas/common.ts';
import { startEdge, type TestEdge } from './testing/edge.ts';
import { evmWallet } from './testing/signers.ts';

type Plan = { before?: () => Promise<unknown>; run?: (tx: Tx) => Promise<void>; secret?: boolean };

let edge: TestEdge;
let key: string;
let plan: Plan = {};
let runs = 0;

const addRow = (tx: Tx, name: string) =>
  tx.rows({
    name: 'test_add_asset',
    text: `
      insert into assets (id, chain, symbol, address, decimals, verified, source, created_at)
      values (gen_random_uuid(), 'test', $1, $1, 0, true, 'api', now())`,
    values: [name],
  });

async function rowsNamed(name: string): Promise<number> {
  const rows = await edge.deps.db.rows({
    name: 'test_count_assets',
    text: 'select 1 as one from assets where symbol = $1',
    values: [name],
  });
  return rows.length;
}

before(async () => {
  edge = await startEdge({}, (app, deps) => {
    command(app, deps, {
      method: 'POST',
      url: '/v1/test/:id',
      operationId: 'test',
      summary: 'test',
      tags: ['test'],
      params: Type.Object({ id: Type.String() }),
      body: input({ n: Type.Optional(Type.Integer()), m: Type.Optional(Type.String()) }),
      replies: { 201: Type.Object({ run: Type.Integer() }) },
      before: async () => plan.before?.(),
      run: async (tx) => {
        runs += 1;
        await plan.run?.(tx);
        return { status: 201, body: { run: runs }, secret: plan.secret === true };
      },
    });
  });
  key = (await edge.mint(evmWallet())).body.key;
});
after(() => edge.close());

let slots = 0;
/** Calls the test command under a key of its own, again and again. */
function slot(name = `key-${slots++}`) {
  return (body: unknown = {}, path = '/v1/test/1', by = key) =>
    edge.call('POST', path, { key: by, body, headers: { 'idempotency-key': name } });
}

function gate() {
  let open = () => {};
  let enter = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const entered = new Promise<void>((resolve) => {
    enter = resolve;
  });
  const pass = async () => {
    enter();
    await opened;
  };
  return { open, entered, pass };
}

test('a retry is answered with the first reply and runs nothing', async () => {
  plan = { run: async (tx) => void (await addRow(tx, 'retry')) };
  const post = slot();
  const first = await post({ n: 1, m: 'x' });
  const second = await post('{ "m": "x",\n "n": 1.0 }');
  assert.equal(first.status, 201);
  assert.equal(first.headers['idempotency-replayed'], undefined);
  assert.deepEqual([second.status, second.body], [201, first.body]);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  assert.equal(await rowsNamed('retry'), 1);
});

test('another body is 422; another path, query or account is another request', async () => {
  plan = {};
  const post = slot('shared');
  const first = await post({ n: 1 });
  const other = await post({ n: 2 });
  assert.equal(other.status, 422);
  assert.equal(other.headers['x-parley-error'], 'key_reused');
  const stranger = (await edge.mint(evmWallet())).body.key;
  for (const answer of [
    await post({ n: 1 }, '/v1/test/2'),
    await post({ n: 1 }, '/v1/test/1?a=1'),
    await post({ n: 1 }, '/v1/test/1', stranger),
  ]) {
    assert.equal(answer.status, 201);
    assert.notEqual(answer.body.run, first.body.run);
  }
});

test('without the header every request runs', async () => {
  plan = {};
  const first = await edge.call('POST', '/v1/test/1', { key, body: {} });
  const second = await edge.call('POST', '/v1/test/1', { key, body: {} });
  assert.notEqual(first.body.run, second.body.run);
});

describe('while the first request runs, a retry is 409', () => {
  for (const step of ['before', 'run'] as const) {
    test(`in its ${step}, and is answered from the store after it`, async () => {
      const held = gate();
      plan = { [step]: held.pass };
      const post = slot();
      const first = post();
      await held.entered;
      const early = await post();
      assert.equal(early.status, 409);
      assert.equal(early.headers['x-parley-error'], 'still_running');
      held.open();
      assert.equal((await first).status, 201);
      const late = await post();
      assert.deepEqual(late.body, (await first).body);
    });
  }

  test('in another process, and not after that process died', async () => {
    plan = {};
    const { userId } = (await edge.call('GET', '/v1/me', { key })).body;
    const held = gate();
    const elsewhere = edge.deps.db.transaction(async (tx) => {
      const path = '/v1/test/1';
      const own = { accountId: userId, method: 'POST', path, key: 'far', bodyHash: bodyHash({}) };
      assert.equal(await lockSlot(tx, own), true);
      await held.pass();
      throw new Error('crash');
    });
    await held.entered;
    const post = slot('far');
    assert.equal((await post()).status, 409);
    held.open();
    await assert.rejects(elsewhere, /crash/);
    assert.equal((await post()).status, 201);
  });
});

describe('a refusal', () => {
  test('of the effect is stored, and nothing of the effect stays', async () => {
    plan = {
      run: async (tx) => {
        await addRow(tx, 'undone');
        throw new ParleyError('terms_moved', 'the price is 5 now');
      },
    };
    const post = slot();
    const first = await post();
    plan = {};
    const second = await post();
    assert.equal(first.status, 409);
    assert.deepEqual([second.status, second.body], [409, { error: 'the price is 5 now' }]);
    assert.equal(second.headers['x-parley-error'], 'terms_moved');
    assert.equal(second.headers['idempotency-replayed'], 'true');
    assert.equal(await rowsNamed('undone'), 0);
  });

  test('of the shape is stored too: the corrected body needs a new key', async () => {
    plan = {};
    for (const wrong of [{ n: 'one' }, { x: 1 }, '{"n":', '[]']) {
      const post = slot();
      assert.equal((await post(wrong)).status, 400);
      assert.equal((await post(wrong)).headers['idempotency-replayed'], 'true');
      assert.equal((await post({ n: 1 })).status, 422);
    }
  });

  for (const [code, status] of [
    ['chain_timeout', 504],
    ['chain_unavailable', 503],
  ] as const) {
    for (const step of ['before', 'run'] as const) {
      test(`${status} in ${step} is not stored: a retry runs again`, async () => {
        plan = { [step]: () => Promise.reject(new ParleyError(code, 'no answer')) };
        const post = slot();
        assert.equal((await post()).status, status);
        plan = {};
        assert.equal((await post()).status, 201);
      });
    }
  }

  test('by a time limit in before is 504', async () => {
    plan = {
      before: () => Promise.reject(AbortSignal.abort(new DOMException('', 'TimeoutError')).reason),
    };
    const answer = await slot()();
    assert.equal(answer.status, 504);
    assert.equal(answer.headers['x-parley-error'], 'chain_timeout');
  });

  test('that is a fault of ours is 500, not stored, and says nothing of it', async () => {
    plan = { run: () => Promise.reject(new Error('password=hunter2')) };
    const post = slot();
    const failed = await post();
    assert.equal(failed.status, 500);
    assert.ok(!JSON.stringify(failed.body).includes('hunter2'));
    plan = {};
    assert.equal((await post()).status, 201);
  });

  test('of a body that was not read (413, 415) is not stored: the right one runs', async () => {
    plan = {};
    const name = `key-${slots++}`;
    const post = slot(name);
    assert.equal((await post({ m: 'x'.repeat(66_000) })).status, 413);
    const headers = { 'idempotency-key': name, 'content-type': 'text/plain' };
    const url = '/v1/test/1';
    assert.equal((await edge.call('POST', url, { key, body: 'x', headers })).status, 415);
    const done = await post();
    assert.deepEqual([done.status, done.headers['idempotency-replayed']], [201, undefined]);
  });

  test('over the budget (429) or without a key (401) is not stored', async () => {
    plan = {};
    const post = slot();
    assert.equal((await post({}, '/v1/test/1', 'nonsense')).status, 401);
    assert.equal((await post()).status, 201);
  });
});

test('a reply that carries a secret is encrypted at rest and replayed in clear', async () => {
  plan = { secret: true };
  const post = slot('sealed');
  const first = await post();
  assert.deepEqual((await post()).body, first.body);
  const [row] = await edge.deps.db.rows<{ reply: Buffer; version: number }>({
    name: 'test_reply',
    text: `select reply, key_version as version from idempotency where key = 'sealed'`,
    values: [],
  });
  assert.ok(row !== undefined && !row.reply.includes('run') && row.version > 0);
});

test('a reply is kept 24 hours, and swept after them', async () => {
  plan = {};
  const post = slot();
  const first = await post();
  edge.deps.advance(24 * 3_600_000 - 5_000);
  assert.deepEqual((await post()).body, first.body);
  edge.deps.advance(6_000);
  assert.notEqual((await post()).body.run, first.body.run);
  await prune(edge.deps);
  const rows = await edge.deps.db.rows({
    name: 'test_replies',
    text: 'select key from idempotency',
    values: [],
  });
  assert.equal(rows.length, 1);
});

test('a header that is empty or longer than 255 characters is 400', async () => {
  for (const name of ['', 'k'.repeat(256)]) {
    const answer = await slot(name)();
    assert.equal(answer.status, 400);
    assert.equal(answer.headers['x-parley-error'], 'bad_header');
  }
  assert.equal((await slot('k'.repeat(255))()).status, 201);
});
