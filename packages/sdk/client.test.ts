// The client against docs/openapi.json: a typed function for every operation, and none for others.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { parleyClient } from './client.ts';
import type { ParleyApiError } from './errors.ts';

type Call = (...args: unknown[]) => Promise<unknown>;
type Paths = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const description = new URL('../../docs/openapi.json', import.meta.url);
const { paths } = JSON.parse(readFileSync(description, 'utf8')) as { readonly paths: Paths };
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);

/** Whether this request is of that operation; `any` was given for every part of a path. */
function isOf(asked: string, operation: string): boolean {
  const one = asked.split('/');
  const other = operation.split('/');
  if (one.length !== other.length) return false;
  return one.every(
    (part, at) => part === other[at] || part === 'any' || /^\{/.test(other[at] ?? ''),
  );
}

test('every operation of the market has a function, and every function an operation', async () => {
  const asked: string[] = [];
  const noted: typeof fetch = async (input, how) => {
    asked.push(`${how?.method} ${new URL(String(input)).pathname}`);
    return new Response('{}', { headers: { 'content-type': 'application/json' } });
  };
  const { keyless, ...others } = parleyClient({ baseUrl: 'http://market', key: 'k', fetch: noted });
  for (const [name, call] of [others, keyless].flatMap((each) => Object.entries(each))) {
    if (typeof call !== 'function') continue;
    const before = asked.length;
    await (call as Call)('any', 'any', {}, {});
    assert.equal(asked.length, before + 1, name);
    const [last = ''] = asked.slice(-1);
    assert.ok(
      operations.some((each) => isOf(last, each)),
      `${name} asks ${last}`,
    );
  }
  const missing = operations.filter((each) => !asked.some((one) => isOf(one, each)));
  assert.deepEqual(missing, []);
});

test('without a key the public calls are asked openly, and others are refused unasked', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${new URL(request.url ?? '', 'http://market').pathname}`);
    response.end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const { keyless, ...all } = parleyClient({ baseUrl: `http://127.0.0.1:${port}` });
  const calls = Object.values(all).filter((each) => typeof each === 'function') as Call[];
  let refused = 0;
  for (const call of calls) {
    await call('any', 'any', {}, {}).catch((error: ParleyApiError) => {
      assert.deepEqual([error.status, error.code], [401, 'key_missing']);
      assert.match(error.message, / \/v1\/\S+ needs an API key: give parleyClient a `key`/);
      refused += 1;
    });
  }
  server.close();
  assert.equal(asked.length + refused, calls.length);
  const isTwin = (each: string) => operations.includes(each.replace(' /market/', ' /v1/'));
  const open = operations.filter((each) => / \/market\//.test(each) && isTwin(each));
  const others = ['GET /market/status', 'GET /v1/keys/nonce', 'POST /v1/keys'];
  assert.deepEqual(asked.sort(), [...open, ...others].sort());
});
