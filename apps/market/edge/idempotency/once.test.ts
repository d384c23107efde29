// Commands under an Idempotency-Key: specification part 8, decisions 7. The interleavings are
// forced: a test command waits where the test tells it to.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import type { Tx } from '../../db/database.ts';
import { prune } from '../../market/prune.ts';
import { buildApp } from '../app.ts';
import { bodyHash } from '../body.ts';
import { type Answer, caller, codeOf, refused, testEdge } from '../testing/edge.ts';
import { mintOf } from '../testing/hands.ts';
import { evmWallet } from '../testing/signers.ts';
import { addTestCommand, type Steps } from '../testing/test-command.ts';
import { lockSlot } from './replies.ts';
import { createUnderway } from './underway.ts';

const steps: Steps = { plan: {}, runs: 0 };
const register: Parameters<typeof testEdge>[1] = (app, deps) => {
  addTestCommand(app, deps, steps, '/v1/test/:id');
  addTestCommand(app, deps, steps, '/v1/sealed/:id', { secret: true });
  addTestCommand(app, deps, steps, '/v1/scoped/:id', {}, 'quoteRfq');
};
const edge = await testEdge({}, register);
const key: string = (await edge.mint(evmWallet())).body.key;
const other = await buildApp(edge.deps, { register });
after(() => other.close());

const run = (tx: Tx, text: string, ...values: unknown[]) => tx.rows({ name: '', text, values });
const addRow = (tx: Tx, name: string) =>
  run(
    tx,
    `insert into assets (id, chain, symbol, address, decimals, verified, source, created_at)
      values (gen_random_uuid(), 'test', $1, $1, 0, true, 'api', now())`,
    name,
  );
const rowsNamed = async (name: string) =>
  (await edge.sql('select 1 as one from assets where symbol = $1', name)).length;
const storedReplies = async () => (await edge.sql('select 1 as one from idempotency')).length;

let slots = 0;

/** Calls the test command under a key of its own, again and again. */
function slot(name = `key-${slots++}`) {
  return (body: unknown = {}, path = '/v1/test/1', by = key) =>
    edge.call('POST', path, { key: by, body, headers: { 'idempotency-key': name } });
}

/** The slot that `slot(name)` calls. */
async function ownSlot(name: string) {
  const { userId } = (await edge.call('GET', '/v1/me', { key })).body;
  const hashed = bodyHash({});
  return { accountId: userId, method: 'POST', path: '/v1/test/1', key: name, bodyHash: hashed };
}

/** A step that says when it was entered, and goes on when it is let. */
function gate() {
  const opened = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const pass = async () => {
    entered.resolve();
    await opened.promise;
  };
  return { open: opened.resolve, entered: entered.promise, pass };
}

async function until(is: (answer: Answer) => boolean, ask: () => Promise<Answer>) {
  await waitUntil(async () => is(await ask()));
}

/** The stored answer again, without a run. */
function isReplayed(first: Answer, again: Answer): void {
  assert.deepEqual([codeOf(again), again.body], [codeOf(first), first.body]);
  assert.equal(first.headers['idempotency-replayed'], undefined);
  assert.equal(again.headers['idempotency-replayed'], 'true');
}

test('a retry is answered with the first reply and runs nothing', async () => {
  steps.plan = { run: async (tx) => void (await addRow(tx, 'retry')) };
  const post = slot();
  const first = await post({ n: 1, m: 'x' });
  assert.equal(first.status, 201);
  isReplayed(first, await post('{ "m": "x",\n "n": 1.0 }'));
  assert.equal(await rowsNamed('retry'), 1);
});

test('another body is 422; another path, query, method or account, or no header, is another', async () => {
  steps.plan = {};
  const post = slot('shared');
  const first = await post({ n: 1 });
  refused(await post({ n: 2 }), '422 key_reused');
  const stranger = (await edge.mint(evmWallet())).body.key;
  const headers = { 'idempotency-key': 'shared' };
  const body = { n: 1 };
  for (const answer of [
    await post(body, '/v1/test/2'),
    await post(body, '/v1/test/1?a=1'),
    await post(body, '/v1/test/1', stranger),
    await edge.call('DELETE', '/v1/test/1', { key, body, headers }),
    await edge.call('POST', '/v1/test/1', { key, body }),
  ]) {
    assert.equal(answer.status, 201);
    assert.notEqual(answer.body.run, first.body.run);
  }
});

test('a header that is empty or longer than 255 characters is 400', async () => {
  for (const name of ['', 'k'.repeat(256)]) refused(await slot(name)(), '400 bad_header');
  assert.equal((await slot('k'.repeat(255))()).status, 201);
});

describe('while the first request runs, a retry is 409', () => {
  const postThere = (name: string) =>
    caller(other)('POST', '/v1/test/1', { key, body: {}, headers: { 'idempotency-key': name } });

  for (const [where, send] of [
    ['this', (name: string) => slot(name)()],
    ['another', postThere],
  ] as const) {
    for (const step of ['before', 'run'] as const) {
      test(`in its ${step} in ${where} process, and is answered from the store after it`, async () => {
        const held = gate();
        let holding = true;
        const pass = async () => {
          const holds = holding;
          holding = false;
          if (holds) await held.pass();
        };
        steps.plan = { [step]: pass };
        const name = `${where} ${step}`;
        const first = send(name);
        await held.entered;
        const { runs } = steps;
        refused(await slot(name)(), '409 still_running');
        held.open();
        isReplayed(await first, await slot(name)());
        assert.ok(steps.runs - runs <= 1);
      });
    }
  }

  test('and not after another process died in its run or its before, or had no answer to store', async () => {
    steps.plan = {};
    const held = gate();
    const elsewhere = edge.deps.db.transaction(async (tx) => {
      assert.equal(await lockSlot(tx, await ownSlot('far')), true);
      await held.pass();
      throw new Error('crash');
    });
    await held.entered;
    refused(await slot('far')(), '409 still_running');
    held.open();
    await assert.rejects(elsewhere, /crash/);
    assert.equal((await slot('far')()).status, 201);
    const far = createUnderway(edge.deps.db);
    assert.equal(await far.announce(await ownSlot('gone')), true);
    refused(await slot('gone')(), '409 still_running');
    far.close();
    await until(({ status }) => status === 201, slot('gone'));
    steps.plan = { before: () => Promise.reject(new ParleyError('chain_timeout', 'no answer')) };
    assert.equal((await postThere('unanswered')).status, 504);
    steps.plan = {};
    await until(({ status }) => status === 201, slot('unanswered'));
  });
});

describe('a refusal', () => {
  test('a refusal of the effect is stored, and nothing of the effect stays', async () => {
    steps.plan = {
      run: async (tx) => {
        await addRow(tx, 'refused');
        throw new ParleyError('terms_moved', 'the price is 5 now');
      },
    };
    const post = slot();
    const first = await post();
    refused(first, '409 terms_moved', /the price is 5 now/);
    steps.plan = {};
    isReplayed(first, await post());
    assert.equal(await rowsNamed('refused'), 0);
  });

  test('a failure of a node that gave no answer is not stored: a retry runs again', async () => {
    for (const [code, status] of [
      ['chain_timeout', 504],
      ['chain_unavailable', 503],
    ] as const) {
      for (const step of ['before', 'run'] as const) {
        steps.plan = { [step]: () => Promise.reject(new ParleyError(code, 'no answer')) };
        const post = slot();
        assert.equal((await post()).status, status);
        steps.plan = {};
        assert.equal((await post()).status, 201);
      }
    }
    const late = AbortSignal.abort(new DOMException('', 'TimeoutError')).reason;
    steps.plan = { before: () => Promise.reject(late) };
    assert.equal(codeOf(await slot()()), '504 chain_timeout');
  });

  for (const step of ['before', 'run'] as const) {
    test(`that is a fault of ours in ${step} is 500, says nothing of it, and is stored`, async () => {
      steps.plan = { [step]: () => Promise.reject(new Error('password=hunter2')) };
      const post = slot();
      const failed = await post();
      refused(failed, '500 internal', /^(?!.*hunter2)/);
      steps.plan = {};
      isReplayed(failed, await post());
      assert.equal((await slot()()).status, 201);
    });
  }

  test('a refusal of a body that was not read (413, 415) is stored: another one needs a new key', async () => {
    steps.plan = {};
    const post = slot();
    const large = await post({ m: 'x'.repeat(66_000) });
    refused(large, '413 body_too_large');
    isReplayed(large, await post({ m: 'y'.repeat(70_000) }));
    refused(await post(), '422 key_reused');
    const typed = (type: string, body = '{"n":1}') =>
      edge.call('POST', '/v1/test/1', {
        key,
        body,
        headers: { 'idempotency-key': 'typed', 'content-type': type },
      });
    const text = await typed('text/plain');
    refused(text, '415 not_json');
    isReplayed(text, await typed('text/plain'));
    refused(await typed('text/plain', '{"n":2}'), '422 key_reused');
    refused(await typed('application/json'), '422 key_reused');
  });

  test('without a key (401), a scope (403) or budget (429) is not stored: later it runs', async () => {
    steps.plan = {};
    const post = slot();
    assert.equal((await post({}, '/v1/test/1', 'nonsense')).status, 401);
    assert.equal((await post()).status, 201);
    const wallet = evmWallet();
    const reader = (await edge.mint(wallet, ['Scopes: read'])).body.key;
    const scoped = slot();
    refused(await scoped({}, '/v1/scoped/1', reader), '403 scope_missing');
    const maker = (await edge.mint(wallet, ['Scopes: maker'])).body.key;
    const done = await scoped({}, '/v1/scoped/1', maker);
    assert.deepEqual([done.status, done.headers['idempotency-replayed']], [201, undefined]);
    const own = await testEdge({ settings: { rateLimit: 4 } }, register);
    const mine = (await own.mint(evmWallet())).body.key;
    const named = (name: string) => {
      const headers = { 'idempotency-key': name };
      return own.call('POST', '/v1/test/1', { key: mine, body: {}, headers });
    };
    for (const name of ['a', 'b', 'c', 'd']) assert.equal((await named(name)).status, 201);
    assert.equal((await named('e')).status, 429);
    own.deps.advance(61_000);
    const ran = await named('e');
    assert.deepEqual([ran.status, ran.headers['idempotency-replayed']], [201, undefined]);
  });
});

describe('a refusal by the database', () => {
  /** Fails so many times before it runs. */
  function failing(times: number, code: string) {
    steps.runs = 0;
    const text = `do $$ begin raise exception 'again' using errcode = '${code}'; end $$`;
    steps.plan = { run: async (tx) => void (steps.runs <= times && (await run(tx, text))) };
  }

  for (const code of ['40001', '40P01']) {
    test(`${code} is tried three times, and no more, under a key and without one`, async () => {
      for (const post of [slot(), () => edge.call('POST', '/v1/test/1', { key, body: {} })]) {
        failing(3, code);
        assert.equal((await post()).status, 503);
        assert.equal(steps.runs, 3);
        // The failure stored no reply.
        failing(2, code);
        assert.equal((await post()).status, 201);
        assert.equal(steps.runs, 3);
      }
    });
  }

  test('for good is tried once; what may be over later is 503, not stored, and runs then', async () => {
    failing(1, '23514');
    assert.equal((await slot()()).status, 500);
    assert.equal(steps.runs, 1);
    // A full disk, no memory, a lock not had, a statement too long, a primary that is one no more.
    for (const code of ['53100', '53200', '55P03', '57014', '25006']) {
      failing(1, code);
      const post = slot();
      assert.equal((await post()).status, 503, code);
      assert.equal((await post()).status, 201, code);
    }
  });
});

test('minting a key takes the header, and it has no effect', async () => {
  const stored = await storedReplies();
  const wallet = evmWallet();
  const headers = { 'idempotency-key': 'mint' };
  let text = '';
  const write = (n: string) => {
    text ||= `Parley create an API key\nAddress: ${wallet.address}\nNonce: ${n}`;
    return text;
  };
  const mint = () => mintOf(edge, wallet, write, {}, headers);
  assert.equal((await mint()).status, 200);
  const again = await mint();
  refused(again, '400 bad_nonce');
  assert.equal(again.headers['idempotency-replayed'], undefined);
  assert.equal(await storedReplies(), stored);
});

test('a reply and a refusal of a command that carries a secret are encrypted at rest', async () => {
  const last = async () => {
    const [row] = await edge.sql(`select reply, key_version as version from idempotency
      order by created_at desc limit 1`);
    assert.ok(row.version > 0);
    return row.reply as Buffer;
  };
  steps.plan = {};
  const post = slot();
  const first = await post({}, '/v1/sealed/1');
  isReplayed(first, await post({}, '/v1/sealed/1'));
  assert.ok(!(await last()).includes('run'));
  for (const step of ['before', 'run'] as const) {
    const refusal = new ParleyError('terms_moved', 'you sent hunter2');
    steps.plan = { [step]: () => Promise.reject(refusal) };
    const refusing = slot();
    assert.equal((await refusing({}, '/v1/sealed/1')).status, 409);
    steps.plan = {};
    refused(await refusing({}, '/v1/sealed/1'), '409 terms_moved', /you sent hunter2/);
    assert.ok(!(await last()).includes('hunter2'));
  }
});

test('a reply is kept 24 hours, and swept after them', async () => {
  steps.plan = {};
  edge.deps.freeze();
  const post = slot();
  const first = await post();
  edge.deps.advance(24 * 3_600_000 - 1);
  isReplayed(first, await post());
  edge.deps.advance(1);
  const anew = await post();
  assert.notEqual(anew.body.run, first.body.run);
  isReplayed(anew, await post());
  // The sweep leaves a minute for clocks that differ.
  edge.deps.advance(61_000);
  await prune(edge.deps);
  assert.equal(await storedReplies(), 1);
});
