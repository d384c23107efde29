// The published description and the reference page: specification part 9.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import { goldenDescriptions } from './describe.ts';
import { startEdge, type TestEdge } from './testing/edge.ts';
import { bodyCheck, paramsCheck, queryCheck } from './validate.ts';

let edge: TestEdge;
before(async () => {
  edge = await startEdge();
});
after(() => edge.close());

test('docs/openapi.json is what the routes declare (node scripts/openapi.ts rewrites it)', async () => {
  const golden = await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
  assert.equal((await goldenDescriptions()).api, golden);
});

test('the server publishes it without a key', async () => {
  const { status, body } = await edge.call('GET', '/v1/openapi.json');
  assert.equal(status, 200);
  assert.equal(body.openapi, '3.1.0');
  assert.equal(body.info.version, '1.0.0');
  assert.deepEqual(body, JSON.parse((await goldenDescriptions()).api));
});

test('every reference in it resolves, every operation has an id of its own', async () => {
  const { body } = await edge.call('GET', '/v1/openapi.json');
  const text = JSON.stringify(body);
  assert.ok(!text.includes('x-name'));
  for (const [, path] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = (path as string).split('/').reduce((at, part) => at?.[part], body);
    assert.ok(found !== undefined, path);
  }
  const ids = [...text.matchAll(/"operationId":"([^"]+)","summary"/g)].map(([, id]) => id);
  assert.equal(new Set(ids).size, ids.length);
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const schema of Object.values(body.components.schemas)) {
    ajv.compile({ ...(schema as object), components: body.components });
  }
});

test('whatever an operation takes is checked by a schema that compiles', () => {
  let checks = 0;
  for (const { operationId, params, query, body } of edge.app.edge.operations) {
    const all = [
      params && paramsCheck(params),
      query && queryCheck(query),
      body && bodyCheck(body),
    ].filter((each) => each !== undefined);
    // Which is done when the first value comes.
    for (const check of all) assert.doesNotThrow(() => check({}), operationId);
    checks += all.length;
  }
  assert.ok(checks >= 40, `${checks} checks`);
});

test('every operation that is not GET takes an Idempotency-Key, minting a key without effect', async () => {
  const { body } = await edge.call('GET', '/v1/openapi.json');
  type Parameter = {
    readonly $ref?: string;
    readonly name?: string;
    readonly description?: string;
  };
  for (const [path, operations] of Object.entries<object>(body.paths)) {
    for (const [method, operation] of Object.entries<{ parameters?: Parameter[] }>(
      operations as never,
    )) {
      const taken = (operation.parameters ?? []).filter(
        ({ $ref = '', name }) => $ref.endsWith('/IdempotencyKey') || name === 'Idempotency-Key',
      );
      assert.equal(taken.length, method === 'get' ? 0 : 1, `${method} ${path}`);
      const isMint = path === '/v1/keys' && method === 'post';
      assert.equal(taken[0]?.description?.includes('without effect') ?? false, isMint);
    }
  }
});

test('it says which operations need no key, which need a scope, and every webhook event', async () => {
  const { body } = await edge.call('GET', '/v1/openapi.json');
  assert.deepEqual(body.security, [{ bearer: [] }, { apiKey: [] }]);
  assert.deepEqual(body.paths['/v1/keys'].post.security, []);
  assert.equal(body.paths['/v1/me'].get.security, undefined);
  assert.match(body.paths['/v1/rfqs'].post.description, /taker/);
  assert.deepEqual(Object.keys(body.webhooks), [
    'quote.created',
    'swap.agreed',
    'swap.funded',
    'secret.revealed',
    'swap.settled',
    'swap.refunded',
    'swap.half_settled',
    'swap.reorged',
    'ping',
  ]);
  assert.equal(body.components.schemas.MintKey.additionalProperties, false);
});

test('every reply is a named component, every header and status that can be met is described', async () => {
  const { body } = await edge.call('GET', '/v1/openapi.json');
  const operations: [string, string, { responses: Record<string, unknown> }][] = [];
  for (const [path, methods] of Object.entries<object>(body.paths)) {
    for (const [method, each] of Object.entries(methods)) operations.push([path, method, each]);
  }
  for (const [path, method, { responses }] of operations) {
    const at = `${method} ${path}`;
    const done = responses[200] ?? responses[201];
    // biome-ignore lint/suspicious/noExplicitAny: JSON
    const { content, headers } = done as any;
    assert.match(content['application/json'].schema.$ref ?? '', /schemas/, at);
    const wanted = ['429', '500', '503', 'default', ...(method === 'get' ? [] : ['408', '413'])];
    for (const status of wanted) assert.ok(status in responses, `${at} ${status}`);
    const replays = 'Idempotency-Replayed' in headers;
    assert.equal(replays, method !== 'get' && path !== '/v1/keys', at);
  }
  const { responses } = body.components;
  assert.ok('x-parley-txid' in responses.Error504.headers);
  assert.ok('Allow' in responses.ErrorAny.headers);
  assert.ok('Idempotency-Replayed' in responses.Error409.headers);
  assert.match(responses.ErrorAny.description, /405.*417.*431/);
});

test('the reference page loads from this origin only', async () => {
  const page = await edge.app.inject('/v1/docs');
  assert.equal(page.statusCode, 200);
  const policy = String(page.headers['content-security-policy']);
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /connect-src 'self'/);
  assert.ok(!/https?:|\*/.test(policy));
  assert.ok(!/(src|href)="(https?:)?\/\//.test(page.body));
  const [, source] = /<script src="([^"]+)"/.exec(page.body) ?? [];
  const script = await edge.app.inject({
    url: source as string,
    headers: { 'accept-encoding': 'identity' },
  });
  assert.equal(script.headers['content-encoding'], 'gzip', 'plain it is 3 MB for 300 a minute');
  const licence = await readFile(
    new URL('./vendor/scalar-1.72.1.LICENSE.txt', import.meta.url),
    'utf8',
  );
  const plain = gunzipSync(script.rawPayload);
  const digest = createHash('sha256').update(plain).digest('hex');
  assert.ok(licence.includes(digest));
});

test('a browser that opens the bare address is led to the reference, by a relative path', async () => {
  for (const url of ['/', '/v1', '/v1/']) {
    const answer = await edge.app.inject(url);
    assert.deepEqual([answer.statusCode, answer.headers.location], [302, '/v1/docs'], url);
  }
  assert.equal((await edge.app.inject({ method: 'POST', url: '/' })).statusCode, 405);
});

test('the form of a key is shown as it is, not as emphasis', async () => {
  const { body } = await edge.call('GET', '/v1/openapi.json');
  const { description } = body.components.securitySchemes.bearer;
  assert.equal(description, '`parley_test_…` or `parley_live_…`');
});
