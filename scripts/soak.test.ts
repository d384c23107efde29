// What `npm run soak` covers, without running it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const soak = join(import.meta.dirname, 'soak.ts');
const listed = JSON.parse(
  execFileSync(process.execPath, [soak, '--list'], { encoding: 'utf8', timeout: 60_000 }),
) as { parts: readonly string[]; properties: readonly string[] };

test('properties of every room are run longer, the Solana program’s too', () => {
  for (const room of ['chains', 'contracts/solana', 'core', 'sdk', 'server']) {
    assert.ok(
      listed.properties.some((file) => file.startsWith(`${room}/`)),
      room,
    );
  }
  assert.ok(listed.properties.includes('contracts/solana/money.test.ts'));
  for (const file of listed.properties) {
    assert.match(readFileSync(join(import.meta.dirname, '..', file), 'utf8'), /\bruns\(/);
  }
});

test('both contracts are fuzzed longer, each as a part of its own', () => {
  assert.deepEqual(
    listed.parts.filter((name) => name.startsWith('contracts/')),
    ['contracts/escrows'],
  );
});

test('bugs planted for the simulation to find are a part of it', () => {
  assert.ok(listed.parts.includes('planted'));
});
