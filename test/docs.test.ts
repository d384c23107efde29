// The documents against the code: every refusal code and every setting is explained, and nothing
// that no longer exists is.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { refusalKinds } from '../core/errors.ts';
import { httpCodes } from '../server/edge/errors.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

test('docs/errors.md explains every code, with its status, and no other', () => {
  const statuses: Record<string, number> = {
    invalid: 400,
    forbidden: 403,
    absent: 404,
    conflict: 409,
    timeout: 504,
    unavailable: 503,
  };
  const wanted = new Map<string, number>(Object.entries(httpCodes));
  for (const [code, kind] of Object.entries(refusalKinds)) wanted.set(code, statuses[kind] ?? 0);
  const told = new Map<string, number>();
  for (const [, codes = '', status] of read('docs/errors.md').matchAll(
    /^\| (`.+`) \| (\d+) \|/gm,
  )) {
    for (const [, code = ''] of codes.matchAll(/`(\w+)`/g)) told.set(code, Number(status));
  }
  assert.deepEqual(Object.fromEntries([...told].sort()), Object.fromEntries([...wanted].sort()));
});

test('docs/operations.md names every setting that the server reads, and no other', () => {
  const names = (text: string) =>
    new Set(text.match(/\b(PARLEY_[A-Z_]+|DATABASE_URL|VALKEY_URL)\b/g));
  const sources = ['server/config.ts', 'server/keyring.ts', 'devnet/devnet.ts']
    .map(read)
    .join('\n');
  const settings = names(sources);
  const told = names(read('docs/operations.md'));
  for (const name of settings) assert.ok(told.has(name), `${name} is not in docs/operations.md`);
  told.delete('PARLEY_DEPLOYER_KEY'); // read by contracts/evm/deploy.ts
  for (const name of told) assert.ok(settings.has(name), `${name} is not read any more`);
});
