// Addresses as the market compares and classifies them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bitcoinNetworks, parseBitcoinAddress } from '@parley/chains/bitcoin/networks.ts';
import { parseSolanaAddress, solanaAddressOf } from '@parley/chains/solana/address.ts';
import { tronAddressOf, tronHex } from '@parley/chains/tron/address.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { families, type Network } from '@parley/core/families.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import { Address } from '@scure/btc-signer';
import fc from 'fast-check';
import { comparable, holds, parseAddress } from './addresses.ts';
import { canonicalAddress } from './proofs.ts';

const evm = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const tron = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const tronInHex = '41a614f803b6fd780986a42c78ec9c7f77e6ded13c';
const legacy = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa';
const segwit = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const testnet = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const solana = 'So11111111111111111111111111111111111111112';

test('hex and bech32 compare without case, base58 with it, also where it begins like bech32', () => {
  const small = (text: string) => text.toLowerCase();
  for (const [one, other, isSame] of [
    [small(evm), evm, true],
    [segwit.toUpperCase(), segwit, true],
    ...[tron, legacy, solana].map((each) => [small(each), each, false] as const),
    [tron, tron, true],
    [`Bc1${'x'.repeat(41)}`, `bC1${'x'.repeat(41)}`, false],
    [`Bc1${'x'.repeat(41)}`, `Bc1${'x'.repeat(41)}`, true],
  ] as const) {
    assert.equal(holds([one], other), isSame, `${one} ${other}`);
  }
  assert.ok(!holds([], evm));
  assert.equal(comparable('TB1QW508'), 'tb1qw508');
});

const system = '1'.repeat(32);
/** The reading of a text: its family and its one form, or what it is refused with. */
const read: [text: string, Network, as: string, address?: string][] = [
  [evm, 'dev', 'evm', evm],
  [evm.toLowerCase(), 'mainnet', 'evm', evm],
  [tron, 'mainnet', 'tron', tron],
  [tronInHex, 'dev', 'tron', tron],
  [tronInHex.toUpperCase(), 'dev', 'tron', tron],
  [segwit, 'mainnet', 'bitcoin', segwit],
  [segwit.toUpperCase(), 'mainnet', 'bitcoin', segwit],
  [legacy, 'mainnet', 'bitcoin', legacy],
  [testnet, 'testnet', 'bitcoin', testnet],
  [solana, 'testnet', 'solana', solana],
  [system, 'dev', 'solana', system],
  [segwit, 'dev', 'wrong_network'],
  [segwit.toUpperCase(), 'testnet', 'wrong_network'],
  [legacy, 'testnet', 'wrong_network'],
  [testnet, 'mainnet', 'wrong_network'],
  [testnet, 'dev', 'wrong_network'],
];
const flawed = [`${segwit.slice(0, -1)}5`, `${tron.slice(0, -1)}u`, tronInHex.slice(0, -1)];
flawed.push(`0x${tronInHex}`, evm.slice(0, -1), evm.replace('dAC', 'DAC'), `${solana}1`);
for (const text of [...flawed, '', 'x', ' ', '1'.repeat(5_000)]) {
  read.push([text, 'mainnet', 'bad_address']);
}

test('an address is of one family in one form; of another network, or of none, it is refused', () => {
  for (const [text, network, as, address] of read) {
    const parse = () => parseAddress(text, network);
    if (address === undefined) assert.throws(parse, { code: as }, text.slice(0, 60));
    else assert.deepEqual(parse(), { family: as, address });
  }
});

// Found by trying: capitals of the bech32 alphabet that happen to leave 0 and O out.
const twice = 'BCRT1QQKA47PZSH4AWSSLV7ZC2T95CLKFASW3EGJ59WV';

test('a text that two families can read is of the one whose checksum holds', () => {
  assert.equal(parseSolanaAddress(twice), twice);
  const { address } = parseBitcoinAddress(twice, bitcoinNetworks.regtest);
  assert.deepEqual(parseAddress(twice, 'dev'), { family: 'bitcoin', address });
  assert.throws(() => parseAddress(twice, 'mainnet'), { code: 'wrong_network' });
  const otherwise = `${twice.slice(0, -1)}W`;
  assert.deepEqual(parseAddress(otherwise, 'dev'), { family: 'solana', address: otherwise });
});

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

test('any other text is an address of one family at most, and that one is found', () => {
  const bitcoin = fc
    .tuple(bytes(20), fc.constantFrom(...Object.values(bitcoinNetworks)))
    .map(([hash, network]) => Address(network).encode({ type: 'wpkh', hash }));
  const any = fc.oneof(
    bytes(20).map((hash) => `0x${Buffer.from(hash).toString('hex')}`),
    bytes(20).map(tronAddressOf),
    bytes(20).map((hash) => tronHex(tronAddressOf(hash))),
    bytes(32).map(solanaAddressOf),
    bitcoin,
  );
  fc.assert(
    fc.property(any, fc.constantFrom<Network>('dev', 'testnet', 'mainnet'), (text, network) => {
      const read = families.filter((family) =>
        reads(() => canonicalAddress(family, text, network)),
      );
      if (!reads(() => parseAddress(text, network))) return assert.deepEqual(read, []);
      assert.deepEqual(read, [parseAddress(text, network).family]);
    }),
    { numRuns: runs(300) },
  );
});

/** Whether it returns; anything but a refusal is thrown on. */
function reads(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    if (error instanceof ParleyError) return false;
    throw error;
  }
}
