// A real node beside what is written here: the escrow's script, what it lets through and what not.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { base64 } from '@scure/base';
import { RawTx, Transaction } from '@scure/btc-signer';
import { bitcoinNetworks } from './networks.ts';
import { buildSpend, type EscrowOutput, escrowBytes, type Verb } from './plan.ts';
import { startRegtest } from './testing/regtest.ts';
import { type TestKey, type TestSwap, testSwap } from './testing/swaps.ts';

const network = bitcoinNetworks.regtest;
const node = await startRegtest();
after(() => node.stop());

type Verdict = { allowed: boolean; 'reject-reason'?: string };

async function verdict(raw: string): Promise<string> {
  const [answer] = await node.rpc<Verdict[]>('testmempoolaccept', [[raw]]);
  return answer?.allowed ? 'allowed' : (answer?.['reject-reason'] ?? 'unknown');
}

async function funded(swap: TestSwap): Promise<EscrowOutput> {
  const { address, terms } = swap.escrow;
  const txid = await node.pay(address, terms.amount);
  await node.mine(1);
  const tx = Transaction.fromRaw(hexToBytes(await node.rawTransaction(txid)), {
    allowUnknownOutputs: true,
  });
  const script = bytesToHex(escrowBytes(terms, network).script);
  const vout = [0, 1].find(
    (at) => bytesToHex(tx.getOutput(at).script ?? new Uint8Array()) === script,
  );
  return { txid, vout: vout ?? -1, amount: terms.amount };
}

/** A spend with a witness of the test's own making, signed by `key`. */
function spendWith(
  swap: TestSwap,
  output: EscrowOutput,
  verb: Verb,
  key: TestKey,
  branch: Uint8Array[],
  change: { lockTime?: number; sequence?: number } = {},
): string {
  const { terms } = swap;
  const { psbtBase64 } = buildSpend(terms, network, verb, [output], 1_000n);
  const opts = { allowUnknownInputs: true };
  const planned = Transaction.fromPSBT(base64.decode(psbtBase64), opts);
  const { branches, script } = escrowBytes(terms, network);
  const witnessScript = branches.claim.script;
  const lockTime = change.lockTime ?? planned.lockTime;
  const sequence = change.sequence ?? 0xffff_fffd;
  const tx = new Transaction({ version: 2, lockTime, ...opts });
  const { txid, vout: index, amount } = output;
  tx.addInput({ txid, index, sequence, witnessUtxo: { script, amount }, witnessScript });
  const paid = planned.getOutput(0);
  tx.addOutput({ script: paid.script ?? new Uint8Array(), amount: paid.amount ?? 0n });
  const sighash = tx.preimageWitnessV0(0, witnessScript, 1, amount);
  const der = secp256k1.sign(sighash, key.privateKey, { prehash: false, format: 'der' });
  const raw = RawTx.decode(tx.unsignedTx);
  const witness = [concatBytes(der, Uint8Array.of(1)), ...branch, witnessScript];
  return bytesToHex(RawTx.encode({ ...raw, segwitFlag: true, witnesses: [witness] }));
}

const one = Uint8Array.of(1);
const empty = new Uint8Array();

describe('the escrow on a real node', () => {
  it('lets the claimer claim with the secret at any time, and nobody else', async () => {
    const swap = testSwap({ timelock: node.now() + 90_000, since: 0 });
    const output = await funded(swap);
    const secret = hexToBytes(swap.secret);
    const claim = (key: TestKey, branch: Uint8Array[]) =>
      verdict(spendWith(swap, output, 'claim', key, branch));
    assert.equal(await claim(swap.claimer, [secret, one]), 'allowed');
    assert.notEqual(await claim(swap.funder, [secret, one]), 'allowed');
    assert.notEqual(await claim(swap.claimer, [new Uint8Array(32), one]), 'allowed');
    assert.notEqual(await claim(swap.claimer, [empty]), 'allowed', 'the other branch');
    assert.notEqual(await claim(swap.claimer, [secret, Uint8Array.of(2)]), 'allowed', 'MINIMALIF');
  });

  it('refuses a preimage of 31 or 33 bytes although its hash is right', async () => {
    for (const length of [31, 33]) {
      const preimage = new Uint8Array(length).fill(9);
      const base = testSwap({ timelock: node.now() + 90_000, since: 0 });
      const terms = { ...base.terms, hashlock: bytesToHex(sha256(preimage)) };
      const { address } = escrowBytes(terms, network);
      const swap = { ...base, terms, escrow: { ...base.escrow, address, terms } };
      const output = await funded(swap);
      const raw = spendWith(swap, output, 'claim', swap.claimer, [preimage, one]);
      assert.match(await verdict(raw), /EQUALVERIFY/, `${length} bytes`);
    }
  });

  it('lets the funder refund only with the lock time, the sequence and the median time', async () => {
    const swap = testSwap({ timelock: node.now() + 5_000, since: 0 });
    const output = await funded(swap);
    const refund = (key: TestKey, change = {}) =>
      verdict(spendWith(swap, output, 'refund', key, [empty], change));
    assert.equal(await refund(swap.funder), 'non-final');
    await node.moveMedianTo(swap.terms.timelock);
    assert.equal(await refund(swap.funder), 'non-final', 'the median must be beyond it');
    await node.moveMedianTo(swap.terms.timelock + 1);
    assert.equal(await refund(swap.funder), 'allowed');
    assert.match(await refund(swap.funder, { lockTime: swap.terms.timelock - 1 }), /Locktime/);
    assert.match(await refund(swap.funder, { sequence: 0xffff_ffff }), /Locktime/);
    assert.notEqual(await refund(swap.claimer), 'allowed');
    // Bitcoin cannot stop a late claim: the deadlines do.
    const late = spendWith(swap, output, 'claim', swap.claimer, [hexToBytes(swap.secret), one]);
    assert.equal(await verdict(late), 'allowed');
  });
});
