// The rules for every operation of the published description: the permitted callers, the form of
// its path, query and body, and the surroundings of the answer. Specification parts 5, 7 and 8.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { insertTrader, type Scope } from '@parley/verify/test/support/trading.ts';
import { type Answer, codeOf, refused, testEdge } from './testing/edge.ts';
import { account } from './testing/hands.ts';
import { evmWallet } from './testing/signers.ts';

const edge = await testEdge();
const { body: described } = await edge.call('GET', '/v1/openapi.json');
const { key } = await account(edge, evmWallet());

// biome-ignore lint/suspicious/noExplicitAny: JSON schemas as they were published
type Schema = any;
type Operation = {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body: Schema | null;
  readonly queries: readonly string[];
  /** Some of its query must be there. */
  readonly wants: boolean;
};

const absent = '0193b5a0-0000-7000-8000-000000000000';
const resolved = (schema: Schema): Schema =>
  schema?.$ref === undefined ? schema : described.components.schemas[schema.$ref.split('/').at(-1)];
const operations: Operation[] = Object.entries<Record<string, Schema>>(described.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([verb, each]) => {
      const method = verb.toUpperCase();
      const schema = resolved(each.requestBody?.content['application/json'].schema);
      const queries = (each.parameters ?? []).map(({ name }: Schema) => name);
      const wants = (each.parameters ?? []).some(
        (one: Schema) => one.in === 'query' && one.required === true,
      );
      return { name: `${method} ${path}`, method, path, body: schema ?? null, queries, wants };
    }),
);
const withoutKey = [
  'GET /market/assets',
  'GET /market/fiat',
  'GET /market/levels',
  'GET /market/pairs',
  'GET /market/pairs/history',
  'GET /market/pairs/list',
  'GET /market/pairs/price',
  'GET /market/status',
  'GET /v1/keys/nonce',
  'POST /v1/keys',
];
const keyed = operations.filter(({ name }) => !withoutKey.includes(name));
const writes = operations.filter(({ method }) => method !== 'GET');
const urlOf = ({ path }: Operation, id = absent, leg = 'a') =>
  path.replace('{leg}', leg).replaceAll(/\{\w+\}/g, id);
const send = (each: Operation, body?: unknown, url = urlOf(each)) =>
  edge.call(each.method, url, { key, ...(body === undefined ? {} : { body }) });

/** A value that a schema allows, required fields alone. */
function sample(given: Schema): unknown {
  const schema = resolved(given);
  const { type, required = [], properties, minItems = 1 } = schema;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return sample(schema.anyOf[0]);
  if (type === 'object') {
    return Object.fromEntries(required.map((name: string) => [name, sample(properties[name])]));
  }
  if (type === 'array') return Array.from({ length: minItems }, () => sample(schema.items));
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  if (type === 'boolean') return true;
  return schema.format === 'uuid' ? absent : '1'.repeat(Math.min(64, schema.maxLength ?? 64));
}

test('a body has the fields of its schema, each of its type, and no others', async () => {
  let tried = 0;
  for (const each of writes) {
    if (each.body?.properties === undefined) continue;
    const good = sample(each.body) as Record<string, unknown>;
    for (const [name, field] of Object.entries<Schema>(each.body.properties)) {
      const { type } = resolved(field);
      const wrong = type === 'string' ? 7 : type === 'array' ? 'x' : [[7]];
      refused(await send(each, { ...good, [name]: wrong }), '400 bad_field', new RegExp(name));
      tried += 1;
    }
    for (const name of each.body.required ?? []) {
      const { [name]: _, ...without } = good;
      refused(await send(each, without), '400 bad_field', new RegExp(`"${name}" is missing`));
    }
    refused(await send(each, { ...good, surprise: 1 }), '400 bad_field', /"surprise" is not known/);
    for (const odd of [[], [good], '"x"', 7]) refused(await send(each, odd), '400 bad_field');
  }
  assert.ok(tried >= 30, `${tried} fields`);
});

test('null is an optional field left out, of bodies inside too, and of a required one refused', async () => {
  const said = ({ status, headers, body }: Answer) => [status, headers['x-parley-error'], body];
  let tried = 0;
  const without = async (each: Operation, given: Schema, wrap: (part: object) => unknown) => {
    const schema = resolved(given);
    const good = sample(schema) as object;
    for (const name of Object.keys(schema.properties)) {
      const answer = await send(each, wrap({ ...good, [name]: null }));
      if (schema.required?.includes(name)) {
        refused(answer, '400 bad_field', new RegExp(name));
        continue;
      }
      tried += 1;
      assert.deepEqual(said(answer), said(await send(each, wrap(good))), `${each.name} ${name}`);
    }
  };
  for (const each of writes) {
    if (each.body?.properties === undefined) continue;
    await without(each, each.body, (part) => part);
    const { quotes } = each.body.properties;
    if (quotes !== undefined)
      await without(each, resolved(quotes.items), (part) => ({ quotes: [part] }));
  }
  assert.ok(tried >= 15, `${tried} fields`);
});

test('where no body is taken none but nothing, {} or null is', async () => {
  for (const each of writes.filter(
    ({ name, body }) => body === null && name !== 'POST /v1/assets',
  )) {
    for (const odd of [{ a: 1 }, [], '"x"', 7]) refused(await send(each, odd), '400 bad_field');
    if (!each.path.includes('{')) continue;
    for (const nothing of [undefined, {}, null])
      assert.equal((await send(each, nothing)).status, 404);
  }
});

test('a body that is not JSON, too large or too deep is refused before its shape', async () => {
  const type = { 'content-type': 'text/plain' };
  const deep = '['.repeat(65) + ']'.repeat(65);
  for (const each of writes) {
    refused(await send(each, '{"rail":'), '400 malformed_json');
    refused(await send(each, deep), '400 malformed_json');
    refused(await send(each, '\ufeff{}'), '400 malformed_json', /byte order mark/);
    refused(await send(each, { a: 'x'.repeat(66_000) }), '413 body_too_large');
    const text = await edge.call(each.method, urlOf(each), { key, body: 'x', headers: type });
    refused(text, '415 not_json');
    const headers = { 'content-encoding': 'gzip' };
    const packed = await edge.call(each.method, urlOf(each), { key, body: '{}', headers });
    refused(packed, '415 not_json', /content-encoding: gzip/);
    for (const coding of ['br', 'identity']) {
      const coded = { key, body: '{', headers: { 'content-encoding': coding } };
      const code = coding === 'br' ? '415 not_json' : '400 malformed_json';
      refused(await edge.call(each.method, urlOf(each), coded), code);
    }
  }
});

test('an unknown or malformed id is 404', async () => {
  for (const each of keyed.filter(({ path }) => path.includes('{'))) {
    const body = each.body === null ? undefined : sample(each.body);
    for (const id of [absent, 'nonsense', '%20', encodeURIComponent("';drop"), 'w'.repeat(201)]) {
      const answer = await send(each, body, urlOf(each, id));
      assert.match(codeOf(answer), /^(404 \w+|400 (bad_hex|bad_amount|bad_fee_rate))$/, each.name);
    }
    if (!each.path.includes('{leg}')) continue;
    for (const leg of ['A', 'c']) {
      const answer = await send(each, body, urlOf(each, absent, leg));
      assert.match(codeOf(answer), /^(400|404) /, each.name);
    }
  }
});

test('a list takes 1 to 100 of a page, and no cursor that was not given for it', async () => {
  const lists = keyed.filter(
    ({ queries, path, wants }) => queries.includes('limit') && !path.includes('{') && !wants,
  );
  assert.ok(lists.length >= 4);
  for (const each of lists) {
    const ask = (query: string) => send(each, undefined, `${each.path}?${query}`);
    for (const bad of ['limit=0', 'limit=101', 'limit=x', 'limit=1e9', 'limit=1.5']) {
      refused(await ask(bad), '400 bad_field', /limit/);
    }
    refused(await ask('cursor=abc'), '400 bad_cursor');
    assert.equal((await ask('limit=100&unknown=1')).status, 200);
  }
});

test('a request without a query that must be there is refused each time', async () => {
  const wanting = keyed.filter(({ wants }) => wants);
  assert.ok(wanting.length >= 4);
  for (const each of [...wanting, ...wanting]) {
    refused(await send(each), '400 bad_field', /is missing/);
  }
});

/** The specification's table, and what takes back what these offer. */
const scopeOf: Readonly<Record<string, Scope>> = {
  'POST /v1/rfqs': 'taker',
  'POST /v1/rfqs/{id}/cancel': 'taker',
  'POST /v1/assets': 'taker',
  'POST /v1/rfqs/{id}/quotes': 'maker',
  'POST /v1/quotes': 'maker',
  'POST /v1/levels': 'maker',
  'POST /v1/levels/withdraw': 'maker',
  'POST /v1/quotes/withdraw': 'maker',
  'POST /v1/threads/{id}/withdraw': 'maker',
};
const sets = Array.from({ length: 8 }, (_, bits) =>
  (['read', 'taker', 'maker'] as const).filter((_scope, at) => (bits >> at) % 2 === 1),
);

test('a key gets 403 where the table asks for a scope that it has not, and nowhere else', async () => {
  for (const name of Object.keys(scopeOf)) assert.ok(keyed.some((each) => each.name === name));
  for (const scopes of sets) {
    const trader = await insertTrader(edge.deps, scopes, []);
    for (const each of keyed) {
      // Scope before body.
      const body = each.method === 'GET' ? {} : { body: '{' };
      const answer = await edge.call(each.method, urlOf(each), { key: trader.key, ...body });
      const needed = scopeOf[each.name];
      const lacks = needed !== undefined && !scopes.includes(needed);
      if (lacks) refused(answer, '403 scope_missing', new RegExp(`"${needed}"`));
      else assert.doesNotMatch(codeOf(answer), /^401|scope_missing/, each.name);
    }
  }
});

const forms: ((shown: string) => Record<string, string>)[] = [
  (shown) => ({ authorization: `Bearer ${shown}` }),
  (shown) => ({ 'x-api-key': shown }),
];

test('without a valid key every operation but those of withoutKey is 401 before anything is read', async () => {
  const wallet = evmWallet();
  const revoked = await account(edge, wallet);
  await edge.mint(wallet);
  const wrong = [`parley_test_${'a'.repeat(43)}`, revoked.key];
  const shown = wrong.flatMap((each) => forms.map((form) => form(each)));
  for (const each of operations) {
    for (const headers of [{}, ...shown]) {
      const body = each.method === 'GET' ? {} : { body: 'x'.repeat(70_000) };
      const answer = await edge.call(each.method, urlOf(each), { headers, ...body });
      const code = Object.keys(headers).length === 0 ? '401 key_missing' : '401 key_invalid';
      // A key that is not needed is not read.
      if (withoutKey.includes(each.name)) assert.notEqual(answer.status, 401);
      else refused(answer, code);
    }
  }
});

describe('a key is read', () => {
  const me = (headers: Record<string, string>): Promise<Answer> =>
    edge.call('GET', '/v1/me', { headers });

  test('in no other form, and exactly: 401 that asks for a Bearer', async () => {
    const swap = (c: string) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase());
    const others = [
      key.slice(0, -1),
      `${key}0`,
      `x${key}`,
      [...key].map(swap).join(''),
      key.replace('_test_', '_live_'),
      key.slice('parley_test_'.length),
      key.replace('_test_', '_test_\u00e9'),
    ];
    const odd: Record<string, string>[] = [
      ...others.flatMap((each) => forms.map((form) => form(each))),
      ...[key, `Token ${key}`, `Bearer${key}`, `Bearer "${key}"`, 'Bearer ', `Bearer ${key} x`].map(
        (authorization) => ({ authorization }),
      ),
      ...[`${key}, ${key}`, `Bearer ${key}`, ''].map((each) => ({ 'x-api-key': each })),
      { 'x-apikey': key },
      { cookie: `key=${key}` },
    ];
    for (const headers of odd) {
      const answer = await me(headers);
      assert.equal(answer.status, 401, JSON.stringify(headers));
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
    }
    assert.equal((await edge.call('GET', `/v1/me?key=${key}&apiKey=${key}`)).status, 401);
  });
});

test('404 and 405 need no key and come before the body; 405 says what is allowed', async () => {
  const body = 'x'.repeat(70_000);
  for (const path of ['/v1/nothing', '/v1/rfqs/', '/V1/rfqs', '/v1//rfqs']) {
    refused(await edge.call('POST', path, { body }), '404 not_found');
    refused(await edge.call('GET', path), '404 not_found');
  }
  const wrong = await edge.call('DELETE', '/v1/rfqs');
  refused(wrong, '405 method_not_allowed');
  assert.equal(wrong.headers.allow, 'GET, HEAD, POST');
  const beside = await edge.call('POST', '/v1/wallets/doge');
  refused(beside, '405 method_not_allowed', /takes DELETE, not POST/);
  // Not what a parameter in its place takes.
  const named = await edge.call('PUT', '/v1/wallets/nonce');
  refused(named, '405 method_not_allowed');
  assert.equal(named.headers.allow, 'GET, HEAD');
});
