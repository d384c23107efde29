// The bytes of unsigned spends and their sighashes against @scure/btc-signer's.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { base64 } from '@scure/base';
import { RawTx, SigHash, TaprootControlBlock, Transaction } from '@scure/btc-signer';
import fc from 'fast-check';
import { leafVersion } from './escrow-tree.ts';
import { bitcoinNetworks } from './networks.ts';
import {
  buildSpend,
  destination,
  type EscrowOutput,
  escrowBytes,
  keySequences,
  type Path,
  replaceableSequence,
  unsigned,
  type Verb,
} from './plan.ts';
import { testSwap } from './testing/swaps.ts';
import { finished } from './unsigned.ts';

const network = bitcoinNetworks.regtest;
const timelock = 1_800_000_000;

const outputs = fc.array(
  fc.record({
    txid: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bytesToHex(bytes)),
    vout: fc.nat(0xffff_ffff),
    amount: fc.bigInt(100_000n, 2_100_000_000_000_000n),
  }),
  { minLength: 1, maxLength: 3 },
);

type Case = readonly [form: 'p2wsh' | 'p2tr', verb: Verb, path: Path];

function byLibrary([form, verb, path]: Case, spent: readonly EscrowOutput[], feeSats: bigint) {
  const { terms } = swaps[form];
  const { script, branches, taproot } = escrowBytes(terms, network);
  const branch = branches[verb];
  const tree = taproot && { tapInternalKey: taproot.internalKey, tapMerkleRoot: taproot.root };
  const leaf = () => {
    const control = TaprootControlBlock.decode(branch.ends[1] ?? new Uint8Array());
    return [[control, concatBytes(branch.script, Uint8Array.of(leafVersion))]] as [
      [typeof control, Uint8Array],
    ];
  };
  const how =
    tree === null
      ? { witnessScript: branch.script, sighashType: SigHash.ALL }
      : path === 'key'
        ? tree
        : { ...tree, tapLeafScript: leaf() };
  const lockTime = verb === 'refund' && path === 'script' ? terms.timelock : 0;
  const tx = new Transaction({ version: 2, lockTime, allowUnknownInputs: true });
  for (const { txid, vout, amount } of spent) {
    tx.addInput({
      txid: hexToBytes(txid),
      index: vout,
      sequence: path === 'key' ? keySequences[verb] : replaceableSequence,
      witnessUtxo: { script, amount },
      ...how,
    });
  }
  const amounts = spent.map(({ amount }) => amount);
  const paid = amounts.reduce((sum, amount) => sum + amount, -feeSats);
  tx.addOutput({ script: destination(terms, network, verb).script, amount: paid });
  const scripts = spent.map(() => script);
  const hashOf = (amount: bigint, at: number) => {
    if (taproot === null) return tx.preimageWitnessV0(at, branch.script, SigHash.ALL, amount);
    const of = path === 'script' ? branch.script : undefined;
    return tx.preimageWitnessV1(at, scripts, SigHash.DEFAULT, amounts, undefined, of);
  };
  const sighashHexes = amounts.map((amount, at) => bytesToHex(hashOf(amount, at)));
  return { tx, psbtBase64: base64.encode(tx.toPSBT(0)), sighashHexes };
}

const swaps = {
  p2wsh: testSwap({ timelock, since: 0 }),
  p2tr: testSwap({ timelock, since: 0, form: 'p2tr' }),
} as const;

const cases: readonly Case[] = [
  ['p2wsh', 'claim', 'script'],
  ['p2wsh', 'refund', 'script'],
  ['p2tr', 'claim', 'script'],
  ['p2tr', 'refund', 'script'],
  ['p2tr', 'claim', 'key'],
  ['p2tr', 'refund', 'key'],
];

for (const each of cases) {
  const [form, verb, path] = each;
  test(`${form}: a ${verb} by ${path} is the library's, with its sighashes and id`, () => {
    const { terms } = swaps[form];
    fc.assert(
      fc.property(outputs, fc.bigInt(200n, 50_000n), (spent, feeSats) => {
        const { tx, ...expected } = byLibrary(each, spent, feeSats);
        const built = buildSpend(terms, network, verb, spent, feeSats, path);
        assert.equal(built.psbtBase64, expected.psbtBase64);
        assert.deepEqual(built.sighashHexes, expected.sighashHexes);
        const witnesses = spent.map(() => [Uint8Array.of(1, 2), new Uint8Array()]);
        const own = unsigned(terms, network, verb, spent, feeSats, path).tx;
        const raw = RawTx.encode({ ...RawTx.decode(tx.unsignedTx), segwitFlag: true, witnesses });
        assert.deepEqual(finished(own, witnesses), { raw: bytesToHex(raw), txid: tx.id });
      }),
      { numRuns: 25 },
    );
  });
}

test('a spend of 300 payments counts them as the library does', () => {
  const { terms } = swaps.p2tr;
  const spent = Array.from({ length: 300 }, (_, vout) => {
    return { txid: 'ab'.repeat(32), vout, amount: 1_000n };
  });
  const { tx, ...expected } = byLibrary(['p2tr', 'claim', 'script'], spent, 30_000n);
  const built = buildSpend(terms, network, 'claim', spent, 30_000n);
  assert.deepEqual(
    { psbtBase64: built.psbtBase64, sighashHexes: built.sighashHexes },
    { ...expected },
  );
});
