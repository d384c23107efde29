// The published descriptions of `/v1` and `/account`, and the reference page: golden, valid by
// their references, and true of the routes. Specification part 9.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import { goldenDescriptions } from './describe.ts';
import { testEdge } from './testing/edge.ts';
import { bodyCheck, paramsCheck, queryCheck } from './validate.ts';

const edge = await testEdge();
const golden = await goldenDescriptions();
const { body: api } = await edge.call('GET', '/v1/openapi.json');
const { body: people } = await edge.call('GET', '/account/openapi.json');
const { operations, accountOperations } = edge.app.edge;

type Described = {
  readonly description?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly {
    readonly $ref?: string;
    readonly name?: string;
    readonly description?: string;
  }[];
  readonly responses: Readonly<Record<string, { headers?: object; content?: object }>>;
};

const operationsOf = (described: typeof api): [path: string, method: string, Described][] =>
  Object.entries<Record<string, Described>>(described.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]): [string, string, Described] => [
      path,
      method,
      each,
    ]),
  );

for (const [file, text, published, declared] of [
  ['openapi', golden.api, api, operations],
  ['openapi-account', golden.account, people, accountOperations],
] as const) {
  test(`docs/${file}.json is what the routes declare (scripts/openapi.ts rewrites it)`, async () => {
    const written = await readFile(new URL(`../../docs/${file}.json`, import.meta.url), 'utf8');
    assert.equal(text, written);
    // Published to anybody.
    assert.deepEqual(published, JSON.parse(text));
  });

  test(`every reference in ${file} resolves, and every schema of it compiles`, () => {
    assert.ok(!text.includes('x-name'));
    for (const [, path] of text.matchAll(/"\$ref": ?"#\/([^"]+)"/g)) {
      const found = (path as string).split('/').reduce((at, part) => at?.[part], published);
      assert.ok(found !== undefined, path);
    }
    const ajv = new Ajv({ strict: false, validateFormats: false });
    for (const schema of Object.values(published.components.schemas)) {
      ajv.compile({ ...(schema as object), components: published.components });
    }
    let checks = 0;
    for (const { operationId, params, query, body } of declared) {
      const all = [
        params && paramsCheck(params),
        query && queryCheck(query),
        body && bodyCheck(body),
      ].filter((each) => each !== undefined);
      // Which is compiled when the first value comes.
      for (const check of all) assert.doesNotThrow(() => check({}), operationId);
      checks += all.length;
    }
    assert.ok(checks >= 10, `${checks} checks`);
  });
}

test('every operation of both has an id of its own, and each describes its own paths', () => {
  const ids = [
    ...(golden.api + golden.account).matchAll(/"operationId": ?"([^"]+)",\s*"summary"/g),
  ];
  assert.ok(ids.length >= 50);
  assert.equal(new Set(ids.map(([, id]) => id)).size, ids.length);
  for (const path of Object.keys(api.paths)) assert.match(path, /^\/v1\//);
  for (const path of Object.keys(people.paths)) assert.match(path, /^\/account/);
  assert.doesNotMatch(golden.api, /cookie/i);
});

test('every write takes an Idempotency-Key, minting a key without effect', () => {
  for (const [path, method, { parameters = [] }] of operationsOf(api)) {
    const taken = parameters.filter(
      ({ $ref = '', name }) => $ref.endsWith('/IdempotencyKey') || name === 'Idempotency-Key',
    );
    assert.equal(taken.length, method === 'get' ? 0 : 1, `${method} ${path}`);
    const isMint = path === '/v1/keys' && method === 'post';
    assert.equal(taken[0]?.description?.includes('without effect') ?? false, isMint);
  }
});

test('the reference page loads from this origin only', async () => {
  const page = await edge.app.inject('/v1/docs');
  assert.equal(page.statusCode, 200);
  const policy = String(page.headers['content-security-policy']);
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /connect-src 'self'/);
  assert.ok(!/https?:|\*/.test(policy));
  assert.ok(!/(src|href)="(https?:)?\/\//.test(page.body));
  const [, url = ''] = /<script src="([^"]+)"/.exec(page.body) ?? [];
  const script = await edge.app.inject({ url, headers: { 'accept-encoding': 'identity' } });
  assert.equal(script.headers['content-encoding'], 'gzip', 'plain it is 3 MB for 300 a minute');
  const file = new URL('./vendor/scalar-1.72.1.LICENSE.txt', import.meta.url);
  const digest = createHash('sha256').update(gunzipSync(script.rawPayload)).digest('hex');
  assert.ok((await readFile(file, 'utf8')).includes(digest));
});

test('a browser that opens the bare address is led to the reference, by a relative path', async () => {
  for (const url of ['/', '/v1', '/v1/']) {
    const answer = await edge.app.inject(url);
    assert.deepEqual([answer.statusCode, answer.headers.location], [302, '/v1/docs'], url);
  }
  assert.equal((await edge.app.inject({ method: 'POST', url: '/' })).statusCode, 405);
});
