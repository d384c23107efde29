// A stored reply given again: when the body is the same, and to the last byte.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { ParleyError } from '../../../core/errors.ts';
import { bodyHash } from '../body.ts';
import { startEdge, type TestEdge } from '../testing/edge.ts';
import { evmWallet } from '../testing/signers.ts';
import { addTestCommand, type Steps } from '../testing/test-command.ts';
import { findReply, storeReply } from './replies.ts';

let edge: TestEdge;
let key: string;
const steps: Steps = { plan: {}, runs: 0 };

before(async () => {
  edge = await startEdge({}, (app, deps) => addTestCommand(app, deps, steps, '/v1/test/:id'));
  key = (await edge.mint(evmWallet())).body.key;
});
after(() => edge.close());

let slots = 0;
/** Calls the test command under a key of its own, again and again. */
function slot(name = `key-${slots++}`) {
  return (body: unknown) =>
    edge.call('POST', '/v1/test/1', { key, body, headers: { 'idempotency-key': name } });
}

test('a replay is the first reply byte for byte, headers of the moment aside', async () => {
  const ofTheMoment = /^(date|idempotency-replayed|(x-)?ratelimit-.*)$/;
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
  for (const [run, status] of [
    [undefined, 201],
    [refusal, 409],
  ] as const) {
    steps.plan = run === undefined ? {} : { run };
    const name = `key-${slots++}`;
    const first = await send(name, '{}');
    steps.plan = {};
    assert.equal(first.status, status);
    assert.deepEqual(await send(name, ' {}'), first);
  }
});

test('what is stored of any reply gives its very bytes again', async () => {
  const slotOf = (name: string) => ({
    accountId: '0193b5a0-0000-7000-8000-000000000000',
    method: 'POST',
    path: '/v1/any',
    key: name,
    bodyHash: bodyHash({}),
  });
  const { db } = edge.deps;
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.boolean(), fc.boolean(), async (body, secret, long) => {
      const own = slotOf(`any-${slots++}`);
      const filled = long ? [body, 'long'.repeat(200)] : body;
      const clean = JSON.parse(JSON.stringify(filled).replaceAll('\\u0000', '')) as unknown;
      const reply = { status: 200, body: clean, code: null };
      assert.ok(await storeReply(edge.deps, db, own, reply, { secret, always: false }));
      const found = await findReply(edge.deps, db, own);
      assert.ok(found !== null && found !== 'differs' && !('sealed' in found));
      assert.equal(JSON.stringify(found.body), JSON.stringify(clean));
    }),
    { numRuns: 60 },
  );
});

describe('the same body is the same JSON value', () => {
  const body = '{"m":"caf\u00e9/","n":1}';
  for (const [what, same] of [
    ['fields in another order', '{"n":1,"m":"caf\u00e9/"}'],
    ['other white space', '\r\n{ "m"\t: "caf\u00e9/" ,\n "n": 1 }\n'],
    ['escapes of characters', '{"\\u006d":"c\\u0061f\\u00e9\\/","n":1}'],
    ['1.0, 1e0 and 10E-1 for 1', '{"m":"caf\u00e9/","n":1.0}'],
    ['an exponent', '{"m":"caf\u00e9/","n":1e0}'],
    ['a field given twice, the last of which counts', '{"n":7,"m":"caf\u00e9/","n":1}'],
  ] as const) {
    test(`with ${what}`, async () => {
      steps.plan = {};
      const post = slot();
      const first = await post(body);
      assert.equal(first.status, 201, JSON.stringify(first.body));
      const again = await post(same);
      assert.deepEqual([again.status, again.body], [201, first.body]);
      assert.equal(again.headers['idempotency-replayed'], 'true');
    });
  }

  for (const [what, other] of [
    ['a number as a string', '{"m":"caf\u00e9/","n":"1"}'],
    ['another number', '{"m":"caf\u00e9/","n":1.0000001}'],
    ['one field less', '{"n":1}'],
    ['one more field', '{"m":"caf\u00e9/","n":1,"x":null}'],
    ['the same letters composed otherwise', '{"m":"cafe\u0301/","n":1}'],
    ['a list of it', '[{"m":"caf\u00e9/","n":1}]'],
    ['no JSON', '{"m":"caf\u00e9/","n":1'],
  ] as const) {
    test(`and not with ${what}`, async () => {
      steps.plan = {};
      const post = slot();
      await post(body);
      assert.equal((await post(other)).headers['x-parley-error'], 'key_reused');
    });
  }

  test('numbers too large to be one are not null, and zero has one sign', () => {
    const hashOf = (text: string) => bodyHash(JSON.parse(text)).toString('hex');
    assert.notEqual(hashOf('{"n":1e999}'), hashOf('{"n":null}'));
    assert.equal(hashOf('{"n":-0}'), hashOf('{"n":0}'));
    assert.notEqual(hashOf('["a"]'), hashOf('"[\\"a\\"]"'));
    assert.notEqual(hashOf('{"a":"b"}'), hashOf('{"a\\":\\"b":""}'));
  });
});
