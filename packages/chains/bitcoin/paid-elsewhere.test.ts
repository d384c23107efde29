// Spends of an escrow that are paid to another address than was agreed: built and checked. On a
// node: real-node.test.ts.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { ParleyError } from '@parley/core/errors.ts';
import { refuses } from '../testing/refusals.ts';
import { defaultFeeBounds } from './fees.ts';
import { bitcoinNetworks, dustSats, paidAddress, parseBitcoinAddress } from './networks.ts';
import { bitcoinEscrow, buildSpend, paidTo, type Verb, vsizeOf } from './plan.ts';
import { checkSpend } from './signed-psbt.ts';
import { testSwap } from './testing/swaps.ts';

const network = bitcoinNetworks.regtest;
const { terms } = testSwap({ timelock: 1_800_000_000, since: 0 });
const output = { txid: 'ab'.repeat(32), vout: 1, amount: 1_000_000n };

/** One of each kind of address that a payment can go to. */
const elsewhere = [
  ['p2pkh', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'],
  ['p2sh', '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc'],
  ['p2wpkh', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'],
  ['p2wsh', 'bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry'],
  ['p2tr', 'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6'],
] as const;

describe('a claim and a refund that are paid elsewhere', () => {
  const check = (verb: Verb, address: string, wanted: typeof terms) => {
    const paid = paidTo(terms, network, verb, address);
    const fee = 2n * BigInt(vsizeOf(paid, network, verb, 1));
    const { psbtBase64, sighashHexes } = buildSpend(paid, network, verb, [output], fee);
    const bounds = defaultFeeBounds;
    const given = { psbtBase64, sighashHexes, verb, network, bounds, outputs: [output] };
    return checkSpend({ ...given, terms: wanted });
  };

  it('are of the same escrow, whatever kind of address is paid, and checked to pay it', () => {
    for (const verb of ['claim', 'refund'] as const) {
      for (const [kind, address] of elsewhere) {
        const paid = paidTo(terms, network, verb, address);
        assert.deepEqual(bitcoinEscrow(paid, network), bitcoinEscrow(terms, network));
        const { vsize } = check(verb, address, paid);
        assert.equal(vsize, vsizeOf(paid, network, verb, 1), kind);
        const { script } = parseBitcoinAddress(address, network);
        assert.deepEqual(paidAddress(script, network), parseBitcoinAddress(address, network));
        const differs = { code: 'bad_transaction', message: /does not pay/ };
        assert.throws(() => check(verb, address, terms), differs);
        const [, other = ''] = elsewhere.find((each) => each[0] !== kind) ?? [];
        assert.throws(() => check(verb, address, paidTo(terms, network, verb, other)), differs);
        const least = 100n + dustSats[kind];
        const rest = (amount: bigint) => [{ ...output, amount }];
        buildSpend(paid, network, verb, rest(least), 100n);
        const dust = () => buildSpend(paid, network, verb, rest(least - 1n), 100n);
        assert.throws(dust, refuses('nothing_there'));
      }
    }
  });

  it('are refused another network by its name, what is no address, and the escrow itself', () => {
    for (const [address, code, words] of [
      ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'wrong_network', /Bitcoin mainnet; this is/],
      ['1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', 'wrong_network', /Bitcoin mainnet/],
      ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'wrong_network', /Bitcoin testnet/],
      ['bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt081', 'bad_address', /not a Bitcoin regtest/],
      [bitcoinEscrow(terms, network).address, 'bad_address', /is the escrow itself/],
      [bitcoinEscrow(terms, network).address.toUpperCase(), 'bad_address', /the escrow itself/],
    ] as const) {
      const paid = () => paidTo(terms, network, 'claim', address);
      assert.throws(
        paid,
        (error: ParleyError) => refuses(code)(error) && words.test(error.message),
      );
    }
    // An output that mempools may not take, and that no address stands for.
    for (const hex of [
      '6a0548656c6c6f',
      '51',
      `5120${'00'.repeat(31)}`,
      `5220${'01'.repeat(32)}`,
      `76a94c14${'11'.repeat(20)}88ac`,
    ]) {
      assert.equal(paidAddress(hexToBytes(hex), network), null, hex);
    }
  });
});
