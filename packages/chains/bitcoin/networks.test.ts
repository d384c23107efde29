import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { ParleyError } from '@parley/core/errors.ts';
import { refuses } from '../testing/refusals.ts';
import { type AddressKind, bitcoinNetworks, parseBitcoinAddress } from './networks.ts';

const { mainnet, testnet, regtest } = bitcoinNetworks;

// Sources: BIP 173 and BIP 350 (segwit), Bitcoin Core src/test/data/key_io_valid.json (base58).
const known: [string, AddressKind, string][] = [
  [
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    'p2wpkh',
    '0014751e76e8199196d454941c45d1b3a323f1433bd6',
  ],
  [
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
    'p2tr',
    '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
  ],
  [
    '1FsSia9rv4NeEwvJ2GvXrX7LyxYspbN2mo',
    'p2pkh',
    '76a914a31c06bd463e3923bc1aadbde48b16976c08071788ac',
  ],
  ['3QjYXhTkvuj8qPaXHTTWb5wjXhdsLAAWVy', 'p2sh', 'a914fcc5460dd6e2487c7d75b1963625da0e8f4c597587'],
];

describe('parseBitcoinAddress', () => {
  for (const [address, kind, script] of known) {
    it(`reads the ${kind} address ${address}`, () => {
      const parsed = parseBitcoinAddress(address, mainnet);
      assert.equal(parsed.address, address);
      assert.equal(parsed.kind, kind);
      assert.equal(bytesToHex(parsed.script), script);
    });
  }

  it('keeps bech32 in lower case, and refuses mixed case', () => {
    const address = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
    assert.equal(parseBitcoinAddress(address.toUpperCase(), mainnet).address, address);
    const mixed = address.replace('qw', 'qW');
    assert.throws(() => parseBitcoinAddress(mixed, mainnet), refuses('bad_address'));
  });

  it('says wrong_network for an address of another network, with both names', () => {
    const address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
    assert.equal(parseBitcoinAddress(address, testnet).kind, 'p2wpkh');
    for (const network of [mainnet, regtest]) {
      assert.throws(
        () => parseBitcoinAddress(address, network),
        (error: ParleyError) =>
          refuses('wrong_network')(error) &&
          error.message.includes('testnet') &&
          error.message.includes(network.name),
      );
    }
    const [[segwit] = ['']] = known;
    assert.throws(() => parseBitcoinAddress(segwit, testnet), refuses('wrong_network'));
  });

  it('refuses what is no address of any network', () => {
    const refused = [
      '',
      'bc1',
      'hello',
      'a'.repeat(10_000),
      // BIP 350: bech32 checksum on version 1, bech32m on version 0, wrong lengths, version 17.
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd',
      'BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh',
      'BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R',
      'bc1pw5dgrnzv',
      'bc1gmk9yu',
      // A future version is not one that we can pay with certainty.
      'bc1sw50qgdz25j',
      // Base58 with a changed character; an EVM address.
      '1FsSia9rv4NeEwvJ2GvXrX7LyxYspbN2mp',
      '0x1FsSia9rv4NeEwvJ2GvXrX7LyxYspbN2',
      ' bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    ];
    for (const text of refused) {
      assert.throws(() => parseBitcoinAddress(text, mainnet), refuses('bad_address'), text);
    }
  });
});
