// Stored replies: given again to the last byte for the same JSON value, kept for a day, and in the
// room that an account has for them. That no room stops no claim: routes/swaps.test.ts.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import { mostKeptRefusals, mostReplyBytes } from '../../market/bounds.ts';
import { bodyHash, parseBody } from '../body.ts';
import { refused, testEdge } from '../testing/edge.ts';
import { account } from '../testing/hands.ts';
import { evmWallet } from '../testing/signers.ts';
import { addTestCommand, type Steps } from '../testing/test-command.ts';
import { findReply, mostKeptBytes, type Slot, storeReply } from './replies.ts';

const steps: Steps = { plan: {}, runs: 0 };
const edge = await testEdge({ settings: { rateLimit: 300 } }, (app, deps) => {
  addTestCommand(app, deps, steps, '/v1/test/:id');
  addTestCommand(app, deps, steps, '/v1/anew/:id', { anew: true });
});
const { deps } = edge;
const { db } = deps;
deps.freeze(Date.UTC(2030, 0, 1, 23));
const { key, userId: accountId } = await account(edge, evmWallet());

const slotAt = (path: string, key = 'k'): Slot => ({
  accountId,
  method: 'POST',
  path,
  key,
  bodyHash: Buffer.alloc(32),
});
const store = (slot: Slot, status: number, body: unknown = { run: 1 }) =>
  db.transaction((tx) => storeReply(deps, tx, slot, { status, body, code: null }));
const found = (slot: Slot) => findReply(deps, db, slot);
/** The replies kept for the account that day. */
const fill = (day: string, refusals: number, bytes: number) =>
  edge.sql(
    `insert into kept_replies (account_id, day, refusals, bytes) values ($1, $2, $3, $4)
      on conflict (account_id, day) do update set refusals = $3, bytes = $4`,
    accountId,
    day,
    refusals,
    bytes,
  );

let slots = 0;
const post = (name: string | null, body: unknown = {}, path = '/v1/test/1') =>
  edge.call('POST', path, { key, body, headers: name === null ? {} : { 'idempotency-key': name } });

test('a replay is the first reply byte for byte, headers of the moment aside', async () => {
  const ofTheMoment = /^(date|x-request-id|idempotency-replayed|(x-)?ratelimit-.*)$/;
  const send = async (name: string, payload: string) => {
    const reply = await edge.app.inject({
      method: 'POST',
      url: '/v1/test/1',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': name,
      },
      payload,
    });
    const headers = Object.entries(reply.headers).filter(([header]) => !ofTheMoment.test(header));
    return { status: reply.statusCode, bytes: reply.rawPayload, headers };
  };
  const refusal = () => Promise.reject(new ParleyError('terms_moved', 'costs 5 \u00e9\u2028"'));
  for (const plan of [{}, { run: refusal }]) {
    steps.plan = plan;
    const name = `key-${slots++}`;
    const first = await send(name, '{}');
    steps.plan = {};
    assert.deepEqual(await send(name, ' {}'), first);
  }
});

test('the same body is the same JSON value, and no other', () => {
  const hashOf = (text: string) => bodyHash(parseBody(text)).toString('hex');
  const first = hashOf('{"m":"caf\u00e9/","n":1}');
  for (const same of [
    '\r\n{ "n":\t1.0, "m" : "caf\u00e9/" }\n',
    '{"\\u006d":"c\\u0061f\\u00e9\\/","n":1e0}',
    // The last value counts of a field given twice.
    '{"n":7,"m":"caf\u00e9/","n":1}',
  ]) {
    assert.equal(hashOf(same), first, same);
  }
  for (const other of [
    '{"m":"caf\u00e9/","n":"1"}',
    '{"n":1}',
    '{"m":"caf\u00e9/","n":1,"x":null}',
    // The same letters composed otherwise.
    '{"m":"cafe\u0301/","n":1}',
    '[{"m":"caf\u00e9/","n":1}]',
    '{"m":"caf\u00e9/","n":1',
  ]) {
    assert.notEqual(hashOf(other), first, other);
  }
  assert.notEqual(hashOf('{"n":1e999}'), hashOf('{"n":null}'));
  assert.equal(hashOf('{"n":-0}'), hashOf('{"n":0}'));
  assert.notEqual(hashOf('["a"]'), hashOf('"[\\"a\\"]"'));
  assert.notEqual(hashOf('{"a":"b"}'), hashOf('{"a\\":\\"b":""}'));
});

test('a reply above 32 KiB is not kept: it is a build, which is made anew', async () => {
  const empty = JSON.stringify({ code: null, body: '' }).length;
  for (const [path, bytes] of [
    ['/v1/largest', mostReplyBytes],
    ['/v1/larger', mostReplyBytes + 1],
  ] as const) {
    await store(slotAt(path), 200, 'x'.repeat(bytes - empty));
    assert.equal((await found(slotAt(path))) !== null, bytes === mostReplyBytes);
  }
});

test('refusals of an account are kept up to a number a day, whatever succeeds meanwhile', async () => {
  deps.freeze(Date.UTC(2030, 0, 1, 23));
  await fill('2030-01-01', mostKeptRefusals - 1, 0);
  for (const [path, status, kept] of [
    ['/v1/last', 400, true],
    ['/v1/beyond', 400, false],
    ['/v1/fault', 500, false],
    ['/v1/success', 201, true],
  ] as const) {
    await store(slotAt(path), status);
    assert.equal((await found(slotAt(path))) !== null, kept, path);
  }
  deps.advance(3_600_000);
  await store(slotAt('/v1/beyond'), 400);
  assert.notEqual(await found(slotAt('/v1/beyond')), null);
});

test('without room what must be kept is refused whole, and only under a key and on that day', async () => {
  const ofRoom = async () =>
    (await edge.sql(`select 1 as one from assets where symbol = 'room'`)).length;
  deps.freeze(Date.UTC(2030, 0, 9, 22));
  const text = `insert into assets
      (id, chain, symbol, address, decimals, verified, source, created_at)
    values (gen_random_uuid(), 'test', 'room', gen_random_uuid(), 0, true, 'api', now())`;
  const first = await post('before');
  await fill('2030-01-09', 0, mostKeptBytes(deps.settings));
  steps.plan = { run: async (tx) => void (await tx.rows({ name: '', text, values: [] })) };
  const full = await post('late');
  refused(full, '429 kept_replies_full', /518 MB of this day \(UTC\); the market did nothing/);
  assert.equal(full.headers['retry-after'], '7200');
  assert.equal(await ofRoom(), 0);
  const again = await post('before');
  assert.deepEqual([again.body, again.headers['idempotency-replayed']], [first.body, 'true']);
  assert.equal((await post(null)).status, 201);
  assert.equal(await ofRoom(), 1);
  // The reply of a command that a retry may run anew is not kept.
  steps.plan = {};
  const one = await post('full', {}, '/v1/anew/1');
  const two = await post('full', {}, '/v1/anew/1');
  assert.deepEqual([one.status, two.status], [201, 201]);
  assert.equal(two.headers['idempotency-replayed'], undefined);
  assert.notEqual(two.body.run, one.body.run);
  steps.plan = { run: async (tx) => void (await tx.rows({ name: '', text, values: [] })) };
  deps.advance(7_200_000);
  assert.equal((await post('late')).status, 201);
  assert.equal(await ofRoom(), 2);
});

test('a reply under a key that the server no longer holds is refused, and nothing runs again', async () => {
  steps.plan = {};
  const sealed = { ...slotAt('/v1/test/1', 'sealed'), bodyHash: bodyHash({}) };
  const settings = { ...deps.settings, encryptionKey: randomBytes(32).toString('hex') };
  const reply = { status: 200, body: { run: 1 }, code: null };
  await db.transaction((tx) => storeReply({ ...deps, settings }, tx, sealed, reply, true));
  const { runs } = steps;
  for (const _ of [1, 2]) {
    refused(await post('sealed'), '409 reply_sealed', /status 200.*nothing was run again/);
  }
  assert.equal(steps.runs, runs);
});
