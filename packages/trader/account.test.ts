// The wallet that signs in is the same one whenever a person comes back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Family, families } from '@parley/core/families.ts';
import { loginFamily } from './account.ts';

test('an EVM wallet signs in, else Bitcoin, TRON and Solana in this order', () => {
  const first = (...of: readonly Family[]) => loginFamily(of);
  assert.equal(loginFamily(families), 'evm');
  assert.equal(first('tron', 'solana', 'bitcoin'), 'bitcoin');
  assert.equal(first('solana', 'tron'), 'tron');
  assert.equal(first('solana'), 'solana');
  assert.equal(first(), undefined);
});
