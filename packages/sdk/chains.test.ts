// The map of a customer's chains: a missing chain, or one under a wrong name, is reported.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Chains, destinationIn, walletIn } from './chains.ts';
import { bitcoinOf, bitcoinView, evmOf, evmView, pinned } from './testing/honest.ts';
import { sourceIn } from './trade.ts';
import type { Wallet } from './wallets/wallet.ts';

const { chain: onBitcoin } = bitcoinView;
const { chain: onEvm } = evmView;
const both = new RegExp(`among your chains \\("${onBitcoin}", "${onEvm}"\\)$`);

test('a chain that is missing is named beside those that are there', () => {
  assert.throws(() => sourceIn(pinned, 'base'), { code: 'no_source', message: both });
  assert.throws(() => sourceIn({}, 'base'), { message: /chains \(none\)$/ });
  const read = pinned as Chains;
  assert.throws(() => walletIn(read, 'base'), { code: 'no_wallet', message: both });
  const message = `no wallet for "${onEvm}", which you only read`;
  assert.throws(() => walletIn(read, onEvm), { code: 'no_wallet', message });
  for (const inherited of ['constructor', '__proto__']) {
    assert.throws(() => sourceIn(pinned, inherited), { code: 'no_source' });
  }
});

test('a source under the name of another chain is refused', () => {
  const crossed = { base: { source: { view: evmView } } };
  const message = `your chains have under "base" a source of "${onEvm}"`;
  assert.throws(() => sourceIn(crossed, 'base'), { code: 'no_source', message });
});

test('a wallet is paid at its address, on Bitcoin with its key', () => {
  const wallets = {
    [onBitcoin]: { wallet: { family: 'bitcoin', ...bitcoinOf('maker') } as unknown as Wallet },
    [onEvm]: { wallet: { family: 'evm', ...evmOf('maker') } as unknown as Wallet },
  };
  assert.deepEqual(destinationIn(wallets, onBitcoin), bitcoinOf('maker'));
  assert.deepEqual(destinationIn(wallets, onEvm), evmOf('maker'));
});
