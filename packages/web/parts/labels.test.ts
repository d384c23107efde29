// Where a transaction is shown: on an explorer of its own network, or nowhere.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explorerOf } from './words.ts';

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
