// A seal breaks by any change of what it covers, and says nothing of anything else.

import assert from 'node:assert/strict';
import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isSealed } from './seals.ts';

const broken = {
  escrows: [
    'escrows/src/Terms.sol',
    'escrows/dev/DevCoin.sol',
    'escrows/build.ts',
    'evm/compile.ts',
    'evm/forge.ts',
    'evm/solc',
    'foundry.toml',
    'escrows/artifacts/ParleyEscrows.json',
    'escrows/artifacts/abi.ts',
    'escrows/deployment.json',
  ],
  evm: ['evm/dev/Tokens.sol', 'evm/dev-tokens.ts', 'evm/artifacts/DevTether.json'],
  solana: ['solana/src/fund.rs', 'solana/link.ts', 'solana/compile.ts', 'solana/parley_escrow.so'],
} as const;

test('a seal fits what is committed, and breaks by a byte more of any file or by one more', (t) => {
  const copy = mkdtempSync(join(tmpdir(), 'parley-seals-'));
  t.after(() => rmSync(copy, { recursive: true }));
  const restore = () =>
    cpSync(import.meta.dirname, copy, {
      recursive: true,
      filter: (path) => !/\/(?:out|cache|dist)$/.test(path),
    });
  restore();
  for (const [part, files] of Object.entries(broken)) {
    const isWhole = () => isSealed(part as keyof typeof broken, copy);
    assert.ok(isWhole(), part);
    for (const file of files) {
      appendFileSync(join(copy, file), ' ');
      assert.ok(!isWhole(), file);
      restore();
      assert.ok(isWhole(), `${file} is as it was`);
    }
  }
  writeFileSync(join(copy, 'solana/src/more.rs'), '');
  assert.ok(!isSealed('solana', copy), 'a new source');
});
