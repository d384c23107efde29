// Names of chains and assets; and where a transaction is shown: on an explorer of its own network, or
// nowhere.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Level } from '@parley/sdk/types.ts';
import { assetName, chainName, explorerOf, shortRecord } from './words.ts';
import '../texts/testing.ts';

const txid = 'ab'.repeat(32);

test('a transaction of a test network leads to an explorer of that network', () => {
  for (const [chain, url] of [
    ['signet', `https://mempool.space/signet/tx/${txid}`],
    ['sepolia', `https://sepolia.etherscan.io/tx/${txid}`],
    ['nile', `https://nile.tronscan.org/#/transaction/${txid}`],
    ['solana-devnet', `https://explorer.solana.com/tx/${txid}?cluster=devnet`],
    ['bitcoin', `https://mempool.space/tx/${txid}`],
  ] as const) {
    assert.equal(explorerOf(chain, true, txid)?.url, url);
  }
});

test('a chain that only has the name of a known one, and an odd id, lead nowhere', () => {
  assert.equal(explorerOf('bitcoin', false, txid), null);
  assert.equal(explorerOf('evm-dev', true, txid), null);
  assert.equal(explorerOf('bitcoin', true, `${txid}?x=/../`), null);
});

test('a chain goes by its name, and by the id of its market where it has none here', () => {
  for (const [chain, name] of [
    ['tron', 'TRON'],
    ['sepolia', 'Ethereum Sepolia'],
    ['bitcoin-regtest', 'Bitcoin (dev)'],
    ['my-chain', 'my-chain'],
    ['constructor', 'constructor'],
  ] as const) {
    assert.equal(chainName(chain), name);
  }
  assert.equal(assetName({ symbol: 'USDC', chain: 'base' }), 'USDC on Base');
});

test('a record without a settled swap does not hide those that were not finished', () => {
  const none = { agreed: 0, settled: 0, abandoned: 0, refunded: 0 };
  const of = (more: object) => shortRecord({ ...none, ...more } as Level['makerStanding']);
  assert.equal(of({}), 'no swaps yet');
  assert.equal(of({ abandoned: 7 }), '0 done · 7 not finished');
  assert.equal(of({ settled: 2, abandoned: 1 }), '2 settled · 66.66%');
});
