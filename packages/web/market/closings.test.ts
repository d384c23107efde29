import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closingOf } from './closings.ts';

test('an asset that is closed says whether its chain is halted, or it alone, or no more', () => {
  const asset = { chain: 'base', symbol: 'USDC', enabled: false };
  const chains = (chain: string) => [{ chain, haltedSince: '2026-01-01T00:00:00Z' }];
  const halted = [{ chain: 'base', symbol: 'USDC' }];
  assert.equal(closingOf(asset, chains('base'), halted)?.by, 'chain');
  assert.equal(closingOf(asset, chains('solana'), halted)?.by, 'asset');
  assert.equal(closingOf({ ...asset, chain: 'solana' }, undefined, halted)?.by, 'other');
  assert.equal(closingOf(asset)?.by, 'other');
  assert.equal(closingOf({ ...asset, enabled: true }, chains('base')), null);
});
