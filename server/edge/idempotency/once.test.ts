// Commands under an Idempotency-Key: specification part 8, decisions 7. The interleavings are
// forced: a test command waits where the test tells it to.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ParleyError } from '../../../core/errors.ts';
import type { Tx } from '../../db/database.ts';
import { prune } from '../../market/prune.ts';
import { buildApp } from '../app.ts';
import { bodyHash } from '../body.ts';
import { caller, startEdge, type TestEdge } from '../testing/edge.ts';
import { evmWallet } from '../testing/signers.ts';
import { addTestCommand, type Steps } from '../testing/test-command.ts';
import { lockSlot } from './replies.ts';
import { createUnderway } from './underway.ts';

let edge: TestEdge;
let key: string;
const steps: Steps = { plan: {}, runs: 0 };

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
    addTestCommand(app, deps, steps, '/v1/test/:id');
    addTestCommand(app, deps, steps, '/v1/sealed/:id', { secret: true });
    addTestCommand(app, deps, steps, '/v1/scoped/:id', { scope: 'maker' });
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
  steps.plan = { run: async (tx) => void (await addRow(tx, 'retry')) };
  const post = slot();
  const first = await post({ n: 1, m: 'x' });
  const second = await post('{ "m": "x",\n "n": 1.0 }');
  assert.equal(first.status, 201);
  assert.equal(first.headers['idempotency-replayed'], undefined);
  assert.deepEqual([second.status, second.body], [201, first.body]);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  assert.equal(await rowsNamed('retry'), 1);
});

test('another body is 422; another path, query, method or account is another', async () => {
  steps.plan = {};
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
    await edge.call('DELETE', '/v1/test/1', {
      key,
      body: { n: 1 },
      headers: { 'idempotency-key': 'shared' },
    }),
  ]) {
    assert.equal(answer.status, 201);
    assert.notEqual(answer.body.run, first.body.run);
  }
});

test('without the header every request runs', async () => {
  steps.plan = {};
  const first = await edge.call('POST', '/v1/test/1', { key, body: {} });
  const second = await edge.call('POST', '/v1/test/1', { key, body: {} });
  assert.notEqual(first.body.run, second.body.run);
});

describe('while the first request runs, a retry is 409', () => {
  for (const step of ['before', 'run'] as const) {
    test(`in its ${step}, and is answered from the store after it`, async () => {
      const held = gate();
      steps.plan = { [step]: held.pass };
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

  test('in its run in another process, and not after that process died', async () => {
    steps.plan = {};
    const held = gate();
    const elsewhere = edge.deps.db.transaction(async (tx) => {
      assert.equal(await lockSlot(tx, await ownSlot('far')), true);
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

  test('in its before in another process, which then answers both', async () => {
    const other = await buildApp(edge.deps, {
      register: (app, deps) => addTestCommand(app, deps, steps, '/v1/test/:id'),
    });
    try {
      const held = gate();
      let holding = true;
      steps.plan = {
        before: async () => {
          const holds = holding;
          holding = false;
          if (holds) await held.pass();
        },
      };
      const post = slot('elsewhere');
      const first = caller(other)('POST', '/v1/test/1', {
        key,
        body: {},
        headers: { 'idempotency-key': 'elsewhere' },
      });
      await held.entered;
      const before = steps.runs;
      const early = await post();
      assert.deepEqual([early.status, early.headers['x-parley-error']], [409, 'still_running']);
      held.open();
      assert.equal((await first).status, 201);
      assert.deepEqual((await post()).body, (await first).body);
      assert.equal(steps.runs, before + 1);
    } finally {
      await other.close();
    }
  });

  test('and not after another process had no answer to store', async () => {
    const other = await buildApp(edge.deps, {
      register: (app, deps) => addTestCommand(app, deps, steps, '/v1/test/:id'),
    });
    try {
      steps.plan = { before: () => Promise.reject(new ParleyError('chain_timeout', 'no answer')) };
      const headers = { 'idempotency-key': 'unanswered' };
      const first = await caller(other)('POST', '/v1/test/1', { key, body: {}, headers });
      assert.equal(first.status, 504);
      steps.plan = {};
      const post = slot('unanswered');
      let answer = await post();
      for (let tries = 0; tries < 50 && answer.status === 409; tries += 1) answer = await post();
      assert.equal(answer.status, 201);
    } finally {
      await other.close();
    }
  });

  test('in its before in another process, and not after that process died', async () => {
    steps.plan = {};
    const far = createUnderway(edge.deps.db);
    const own = await ownSlot('gone');
    assert.equal(await far.announce(own), true);
    const post = slot('gone');
    assert.equal((await post()).status, 409);
    far.close();
    let answer = await post();
    for (let tries = 0; tries < 200 && answer.status === 409; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      answer = await post();
    }
    assert.equal(answer.status, 201);
  });
});

test('the session that tells other processes is taken anew when it was lost', async () => {
  steps.plan = {};
  assert.equal((await slot()()).status, 201);
  const text = `select pg_terminate_backend(pid) as ended from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
  await edge.deps.db.rows({ name: 'test_terminate', text, values: [] });
  let answer = await slot()();
  for (let tries = 0; tries < 50 && answer.status >= 500; tries += 1) answer = await slot()();
  assert.equal(answer.status, 201);
});

/** The slot that `slot(name)` calls. */
async function ownSlot(name: string) {
  const { userId } = (await edge.call('GET', '/v1/me', { key })).body;
  const bodyOf = bodyHash({});
  return { accountId: userId, method: 'POST', path: '/v1/test/1', key: name, bodyHash: bodyOf };
}

type Answered = Awaited<ReturnType<TestEdge['call']>>;

/** The stored answer again, without a run. */
function isReplayed(first: Answered, again: Answered): void {
  assert.deepEqual([again.status, again.body], [first.status, first.body]);
  assert.equal(again.headers['x-parley-error'], first.headers['x-parley-error']);
  assert.equal(first.headers['idempotency-replayed'], undefined);
  assert.equal(again.headers['idempotency-replayed'], 'true');
}

describe('a refusal', () => {
  test('of the effect is stored, and nothing of the effect stays', async () => {
    steps.plan = {
      run: async (tx) => {
        await addRow(tx, 'undone');
        throw new ParleyError('terms_moved', 'the price is 5 now');
      },
    };
    const post = slot();
    const first = await post();
    steps.plan = {};
    const second = await post();
    assert.equal(first.status, 409);
    assert.deepEqual([second.status, second.body], [409, { error: 'the price is 5 now' }]);
    assert.equal(second.headers['x-parley-error'], 'terms_moved');
    assert.equal(second.headers['idempotency-replayed'], 'true');
    assert.equal(await rowsNamed('undone'), 0);
  });

  test('of the shape is stored too: the corrected body needs a new key', async () => {
    steps.plan = {};
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
        steps.plan = { [step]: () => Promise.reject(new ParleyError(code, 'no answer')) };
        const post = slot();
        assert.equal((await post()).status, status);
        steps.plan = {};
        assert.equal((await post()).status, 201);
      });
    }
  }

  test('by a time limit in before is 504', async () => {
    steps.plan = {
      before: () => Promise.reject(AbortSignal.abort(new DOMException('', 'TimeoutError')).reason),
    };
    const answer = await slot()();
    assert.equal(answer.status, 504);
    assert.equal(answer.headers['x-parley-error'], 'chain_timeout');
  });

  for (const step of ['before', 'run'] as const) {
    test(`that is a fault of ours in ${step} is 500, says nothing of it, and is stored`, async () => {
      const fail = () => Promise.reject(new Error('password=hunter2'));
      steps.plan = { [step]: fail };
      const post = slot();
      const failed = await post();
      assert.deepEqual([failed.status, failed.headers['x-parley-error']], [500, 'internal']);
      assert.ok(!JSON.stringify(failed.body).includes('hunter2'));
      steps.plan = {};
      isReplayed(failed, await post());
      assert.equal((await slot()()).status, 201);
    });
  }

  test('that is a fault of ours at the commit is stored, and nothing of the effect stays', async () => {
    const twice = `
      create temp table twice (n int unique deferrable initially deferred) on commit drop;
      insert into twice values (1), (1)`;
    steps.plan = {
      run: async (tx) => {
        await addRow(tx, 'uncommitted');
        for (const text of twice.split(';')) await tx.rows({ name: '', text, values: [] });
      },
    };
    const post = slot();
    const failed = await post();
    assert.equal(failed.status, 500);
    steps.plan = {};
    isReplayed(failed, await post());
    assert.equal(await rowsNamed('uncommitted'), 0);
  });

  test('of a body that was too large to read (413) is stored: a smaller one is another', async () => {
    steps.plan = {};
    const post = slot();
    const refused = await post({ m: 'x'.repeat(66_000) });
    assert.deepEqual([refused.status, refused.headers['x-parley-error']], [413, 'body_too_large']);
    isReplayed(refused, await post({ m: 'y'.repeat(70_000) }));
    assert.equal((await post()).status, 422);
  });

  test('of a body that is not JSON (415) is stored: the same text as JSON is another', async () => {
    steps.plan = {};
    const name = `key-${slots++}`;
    const post = (type: string, body = '{"n":1}') =>
      edge.call('POST', '/v1/test/1', {
        key,
        body,
        headers: { 'idempotency-key': name, 'content-type': type },
      });
    const refused = await post('text/plain');
    assert.deepEqual([refused.status, refused.headers['x-parley-error']], [415, 'not_json']);
    isReplayed(refused, await post('text/plain'));
    assert.equal((await post('text/plain', '{"n":2}')).status, 422);
    assert.equal((await post('application/json')).status, 422);
  });

  test('of a body that was not read is the same without an Idempotency-Key', async () => {
    const post = (type: string, body: string) =>
      edge.call('POST', '/v1/test/1', { key, body, headers: { 'content-type': type } });
    const stored = await storedReplies();
    assert.equal((await post('application/json', `"${'x'.repeat(66_000)}"`)).status, 413);
    assert.equal((await post('text/plain', 'x')).status, 415);
    assert.equal(await storedReplies(), stored);
  });

  test('without a key (401) or a scope (403) is not stored: the right key runs', async () => {
    steps.plan = {};
    const post = slot();
    assert.equal((await post({}, '/v1/test/1', 'nonsense')).status, 401);
    assert.equal((await post()).status, 201);
    const wallet = evmWallet();
    const reader = (await edge.mint(wallet, ['Scopes: read'])).body.key;
    const scoped = slot();
    const refused = await scoped({}, '/v1/scoped/1', reader);
    assert.deepEqual([refused.status, refused.headers['x-parley-error']], [403, 'scope_missing']);
    const maker = (await edge.mint(wallet, ['Scopes: maker'])).body.key;
    const done = await scoped({}, '/v1/scoped/1', maker);
    assert.deepEqual([done.status, done.headers['idempotency-replayed']], [201, undefined]);
  });

  test('of the rules that is 403 is stored', async () => {
    steps.plan = {
      run: () => Promise.reject(new ParleyError('no_wallet', 'no wallet on this chain')),
    };
    const post = slot();
    assert.equal((await post()).status, 403);
    steps.plan = {};
    const again = await post();
    assert.deepEqual([again.status, again.headers['idempotency-replayed']], [403, 'true']);
  });

  test('over the budget (429) is not stored: it runs when the budget is back', async () => {
    steps.plan = {};
    const settings = { rateLimit: 4 };
    const own = await startEdge({ settings }, (app, deps) =>
      addTestCommand(app, deps, steps, '/v1/test/:id'),
    );
    try {
      const mine = (await own.mint(evmWallet())).body.key;
      const post = (name: string) => {
        const headers = { 'idempotency-key': name };
        return own.call('POST', '/v1/test/1', { key: mine, body: {}, headers });
      };
      for (const name of ['a', 'b', 'c', 'd']) assert.equal((await post(name)).status, 201);
      assert.equal((await post('e')).status, 429);
      own.deps.advance(61_000);
      const done = await post('e');
      assert.deepEqual([done.status, done.headers['idempotency-replayed']], [201, undefined]);
    } finally {
      await own.close();
    }
  });
});

test('minting a key takes the header, and it has no effect', async () => {
  const wallet = evmWallet();
  const headers = { 'idempotency-key': 'mint' };
  const before = await storedReplies();
  const { nonce } = (await edge.call('GET', '/v1/keys/nonce')).body;
  const message = `Parley create an API key\nAddress: ${wallet.address}\nNonce: ${nonce}`;
  const { family: rail, address } = wallet;
  const body = { rail, address, message, signature: await wallet.sign(message) };
  const first = await edge.call('POST', '/v1/keys', { body, headers });
  assert.equal(first.status, 200, JSON.stringify(first.body));
  const again = await edge.call('POST', '/v1/keys', { body, headers });
  assert.deepEqual([again.status, again.headers['x-parley-error']], [400, 'bad_nonce']);
  assert.equal(again.headers['idempotency-replayed'], undefined);
  assert.equal(await storedReplies(), before);
});

async function storedReplies(): Promise<number> {
  const text = 'select 1 as one from idempotency';
  return (await edge.deps.db.rows({ name: 'test_stored', text, values: [] })).length;
}

describe('of a command that carries a secret', () => {
  /** The last one. */
  const storedText = async () => {
    const [row] = await edge.deps.db.rows<{ reply: Buffer; version: number | null }>({
      name: 'test_reply',
      text: `select reply, key_version as version from idempotency
        order by created_at desc limit 1`,
      values: [],
    });
    assert.ok(row !== undefined);
    return row;
  };

  test('the reply is encrypted at rest and replayed in clear', async () => {
    steps.plan = {};
    const post = slot('sealed');
    const first = await post({}, '/v1/sealed/1');
    assert.deepEqual((await post({}, '/v1/sealed/1')).body, first.body);
    const { reply, version } = await storedText();
    assert.ok(!reply.includes('run') && version !== null && version > 0);
  });

  test('a refusal is encrypted too: it may quote what was sent', async () => {
    for (const step of ['before', 'run'] as const) {
      const refusal = new ParleyError('terms_moved', 'you sent hunter2');
      steps.plan = { [step]: () => Promise.reject(refusal) };
      const name = `sealed-refusal-${step}`;
      const post = slot(name);
      assert.equal((await post({}, '/v1/sealed/1')).status, 409);
      steps.plan = {};
      assert.equal((await post({}, '/v1/sealed/1')).body.error, 'you sent hunter2');
      assert.ok(!(await storedText()).reply.includes('hunter2'));
    }
  });
});

test('a reply is kept 24 hours, and swept after them', async () => {
  steps.plan = {};
  const post = slot();
  const first = await post();
  edge.deps.advance(24 * 3_600_000 - 5_000);
  assert.deepEqual((await post()).body, first.body);
  edge.deps.advance(6_000);
  const anew = await post();
  assert.notEqual(anew.body.run, first.body.run);
  assert.equal(anew.headers['idempotency-replayed'], undefined);
  assert.deepEqual((await post()).body, anew.body);
  // The sweep leaves a minute for clocks that differ.
  edge.deps.advance(61_000);
  await prune(edge.deps);
  assert.equal(await storedReplies(), 1);
});

test('a header that is empty or longer than 255 characters is 400', async () => {
  for (const name of ['', 'k'.repeat(256)]) {
    const answer = await slot(name)();
    assert.equal(answer.status, 400);
    assert.equal(answer.headers['x-parley-error'], 'bad_header');
  }
  assert.equal((await slot('k'.repeat(255))()).status, 201);
});
