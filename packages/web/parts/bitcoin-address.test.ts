// A person hears at the field what is wrong with an address, and not before it can be wrong.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressFault } from './bitcoin-address.ts';

// BIP 173, and the same script on the other networks.
const mainnet = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const testnet = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const typo = mainnet.replace('xtdg', 'xtdq');

test('a wrong address is refused while it is typed, with its reason and its network', () => {
  for (const [typed, network, said] of [
    ['', 'mainnet', null],
    ['b', 'mainnet', null],
    ['bc1qw508', 'mainnet', null],
    ['bcrt1q', 'regtest', null],
    ['1A1zP1', 'mainnet', null],
    [` ${mainnet.toUpperCase()}\n`, 'mainnet', null],
    [testnet, 'testnet', null],
    ['hello', 'mainnet', 'none'],
    ['1A0', 'mainnet', 'none'],
    ['0xd8dA6BF2', 'mainnet', 'evm'],
    ['bc1q', 'testnet', 'network mainnet'],
    ['tb1q', 'regtest', 'network testnet'],
    [mainnet, 'testnet', 'network mainnet'],
    ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'testnet', 'network mainnet'],
    [typo, 'mainnet', null],
    [`${typo}q`, 'mainnet', 'unfinished'],
    [testnet, null, null],
    ['hello', null, 'none'],
  ] as const) {
    const fault = addressFault(typed, network, false);
    const told = fault?.is === 'network' ? `network ${fault.other}` : (fault?.is ?? null);
    assert.equal(told, said, `${typed} on ${network}`);
  }
  for (const begun of ['bc1qw508', typo, '1A1zP1', 'b']) {
    assert.equal(addressFault(begun, 'mainnet', true)?.is, 'unfinished', begun);
  }
  assert.equal(addressFault(mainnet, 'mainnet', true), null);
});
