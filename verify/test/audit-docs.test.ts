// docs/audit.md against the tree: its files with their digests, its tests, and the pinned bytes.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { deployment } from '@parley/contracts/escrows/artifacts/abi.ts';
import program from '@parley/contracts/solana/deployment.json' with { type: 'json' };
import { filesOf } from '@parley/scripts/sources.ts';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const page = read('docs/audit.md');

/** Enough to tell that a file is another one. */
const digits = 16;

test('the files that hold money are listed with their lines and digests', () => {
  const held = [
    'contracts/escrows/src/*.sol',
    'contracts/solana/src/*.rs',
    'packages/chains/bitcoin/escrow-{script,tree}.ts',
    'packages/chains/bitcoin/{musig,unsigned}.ts',
  ];
  const rows = filesOf(...held).map((path) => {
    const text = read(path);
    const digest = createHash('sha256').update(text).digest('hex').slice(0, digits);
    return `| \`${path}\` | ${text.split('\n').length - 1} | \`${digest}\` |`;
  });
  const told = page.match(/^\| `.+` \| \d+ \| `[0-9a-f]+` \|$/gm) ?? [];
  assert.equal(told.join('\n'), rows.join('\n'), 'the rows of the table, as they should be');
});

test('the digests of the contract and of the program are the pinned ones', () => {
  for (const digest of [deployment.initCode.sha256.slice(2), program.sha256]) {
    assert.ok(page.includes(`\`${digest}\``), digest);
  }
});

test('each invariant names a test that is there', () => {
  const rows = [...page.matchAll(/^\| .+ \| `(.+)`: (.+) \|$/gm)];
  assert.ok(rows.length > 10);
  for (const [, path = '', name = ''] of rows) assert.ok(read(path).includes(name), name);
});
