// Which nodes `ops node` means, by the words of its command.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Misused } from '@parley/host/command.ts';
import { meantBy } from './meant.ts';

test('a node of a network that is in no settings is one source of it', () => {
  const { sources, isServed } = meantBy('evm:8453', ['https://node.example'], [], 'core');
  assert.equal(isServed, false);
  assert.deepEqual(
    sources.map((each) => each.family === 'evm' && [each.chainId, each.rpcUrls]),
    [[8_453, ['https://node.example']]],
  );
});

test('a chain that is unknown, without a node, or of another kind is refused', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'parley-node-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'node');
  writeFileSync(file, `@${file}`, { mode: 0o600 });
  for (const [chain, nodes, kind] of [
    ['ethereum', [], 'core'],
    ['evm:sepolia', [], 'core'],
    ['evm:nowhere', ['http://127.0.0.1:1'], 'core'],
    ['evm:sepolia', [`@${file}`], 'core'],
    ['evm:sepolia', ['http://127.0.0.1:1'], 'esplora'],
  ] as const) {
    assert.throws(() => meantBy(chain, nodes, [], kind), Misused, chain);
  }
});
