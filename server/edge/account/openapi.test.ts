// The published description of `/account`: golden, valid by its references, and true of the routes.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { Ajv } from 'ajv';
import { goldenDescriptions } from '../describe.ts';
import { startEdge, type TestEdge } from '../testing/edge.ts';
import { bodyCheck, paramsCheck, queryCheck } from '../validate.ts';

let edge: TestEdge;
// biome-ignore lint/suspicious/noExplicitAny: JSON
let described: any;
before(async () => {
  edge = await startEdge();
  described = (await edge.call('GET', '/account/openapi.json')).body;
});
after(() => edge.close());

type Described = {
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly $ref?: string }[];
  readonly responses: Readonly<Record<string, { headers?: object; content?: object }>>;
};

const operations = (): [string, string, Described][] =>
  Object.entries<Record<string, Described>>(described.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]): [string, string, Described] => [
      path,
      method,
      each,
    ]),
  );

test('docs/openapi-account.json is what the routes declare (scripts/openapi.ts rewrites it)', async () => {
  const golden = await readFile(
    new URL('../../../docs/openapi-account.json', import.meta.url),
    'utf8',
  );
  assert.equal((await goldenDescriptions()).account, golden);
});

test('the server publishes it to anybody, without a cookie', async () => {
  const { status, headers } = await edge.call('GET', '/account/openapi.json');
  assert.equal(status, 200);
  assert.equal(headers['set-cookie'], undefined);
  assert.deepEqual(described, JSON.parse((await goldenDescriptions()).account));
});

test('every reference in it resolves, every operation has an id that /v1 has not', async () => {
  const text = JSON.stringify(described);
  assert.ok(!text.includes('x-name'));
  for (const [, path] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = (path as string).split('/').reduce((at, part) => at?.[part], described);
    assert.ok(found !== undefined, path);
  }
  const all = text + JSON.stringify((await edge.call('GET', '/v1/openapi.json')).body);
  const ids = [...all.matchAll(/"operationId":"([^"]+)","summary"/g)].map(([, id]) => id);
  assert.equal(new Set(ids).size, ids.length);
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const schema of Object.values(described.components.schemas)) {
    ajv.compile({ ...(schema as object), components: described.components });
  }
});

test('whatever an operation takes is checked by a schema that compiles', () => {
  for (const { operationId, params, query, body } of edge.app.edge.accountOperations) {
    const all = [
      params && paramsCheck(params),
      query && queryCheck(query),
      body && bodyCheck(body),
    ].filter((each) => each !== undefined);
    for (const check of all) assert.doesNotThrow(() => check({}), operationId);
  }
});

test('it says that a session is a cookie, that every write wants our headers, and no key', () => {
  const { session } = described.components.securitySchemes;
  assert.deepEqual(
    [session.type, session.in, session.name],
    ['apiKey', 'cookie', '__Host-parley_session'],
  );
  assert.deepEqual(described.security, [{ session: [] }]);
  assert.deepEqual(Object.keys(described.components.securitySchemes), ['session']);
  assert.equal(described.components.parameters.FromOurPage.name, 'x-parley-request');
  const { OfAccount: whose } = described.components.parameters;
  assert.deepEqual([whose.name, whose.required], ['x-parley-account', true]);
  const refOf = '#/components/parameters/FromOurPage';
  const refOfAccount = '#/components/parameters/OfAccount';
  for (const [path, method, { parameters = [], security }] of operations()) {
    const wants = parameters.filter(({ $ref }) => $ref === refOf).length;
    assert.equal(wants, method === 'get' ? 0 : 1, `${method} ${path}`);
    const names = parameters.filter(({ $ref }) => $ref === refOfAccount).length;
    assert.equal(names, method === 'get' || security !== undefined ? 0 : 1, `${method} ${path}`);
    if (security !== undefined) assert.deepEqual(security, [{}, { session: [] }]);
  }
});

test('every reply is a named component, every header and status that can be met is described', () => {
  for (const [path, method, { responses, security }] of operations()) {
    const at = `${method} ${path}`;
    // Leads on, whatever it came to.
    if (303 in responses) continue;
    const done = responses[200] ?? responses[201];
    assert.match(JSON.stringify(done?.content), /\$ref":"#\/components\/schemas\/\w+"/, at);
    assert.ok('Set-Cookie' in (done?.headers ?? {}), at);
    const wanted = ['400', '403', '429', '500', '503', 'default'];
    if (method !== 'get') wanted.push('404', '408', '409', '413', '415', '504');
    for (const status of wanted) assert.ok(status in responses, `${at} ${status}`);
    assert.equal('401' in responses, security === undefined, at);
  }
});

test('/v1 describes no cookie and no operation of accounts', async () => {
  const { body } = await edge.call('GET', '/v1/openapi.json');
  assert.ok(!/cookie/i.test(JSON.stringify(body)));
  for (const path of Object.keys(body.paths)) assert.match(path, /^\/v1\//);
  for (const path of Object.keys(described.paths)) assert.match(path, /^\/account/);
});
