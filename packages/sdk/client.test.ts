// The client against docs/openapi.json: a typed function for every operation, and none for others.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parleyClient } from './client.ts';

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
  const { keyless, ...others } = parleyClient({ baseUrl: 'http://market', fetch: noted });
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
