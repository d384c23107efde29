// The description of a swap before it is brought back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RescueSwap } from '@parley/sdk/rescue/file.ts';
import { keptRecord } from '@parley/sdk/testing/honest.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { contractsOf, paidAtOf } from './told.ts';

test('each token is shown by its contract that the app does not know by itself', () => {
  const { trade, swap } = keptRecord('maker');
  const token = `0x${'aa'.repeat(20)}`;
  const asset = { id: 'dollar', chain: 'evm-dev', token, decimals: 6, highValueFrom: null };
  const found: RescueSwap = { trade: { ...trade, base: trade.base, quote: asset }, swap };
  const listed = { id: 'dollar', chain: 'evm-dev', address: token, decimals: 6, verified: true };
  const shown = (change: Partial<Asset>) =>
    contractsOf(found, [{ ...listed, ...change } as Asset]).map(({ contract }) => contract);
  assert.deepEqual(shown({}), []);
  for (const change of [
    { verified: false },
    { chain: 'another' },
    // The list names a known one, and the swap pays another under its id.
    { address: `0x${'bb'.repeat(20)}` },
    { decimals: 18 },
  ]) {
    assert.deepEqual(shown(change), [token], JSON.stringify(change));
  }
});

test('where one is paid is shown, unless a key of the phrase is', () => {
  const shown = (party: 'maker' | 'taker') => paidAtOf(keptRecord(party));
  const { trade, swap } = keptRecord('taker');
  const { chain } = swap.legs.a;
  assert.deepEqual(shown('taker'), { chain, address: trade.payTo.address });
  assert.equal(shown('maker'), null);
});
