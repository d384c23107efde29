// Tests only: an escrow with a payment, and signed spends of it that are taken or refused.

import assert from 'node:assert/strict';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { atOnce } from '@parley/core/steps.ts';
import { RawTx } from '@scure/btc-signer';
import type { Bump } from '../../interface/scheduled.ts';
import type { Payment } from '../escrow-facts.ts';
import { defaultFeeBounds as bounds, feeAt } from '../fees.ts';
import { signLeaves, signSighashes } from '../keys.ts';
import { bitcoinNetworks } from '../networks.ts';
import { buildSpend, type Verb, vsizeOf } from '../plan.ts';
import { assemble } from '../signed-psbt.ts';
import { checkSignedSpends } from '../signed-spends.ts';
import { testSwap } from './swaps.ts';

export const network = bitcoinNetworks.regtest;
export const timelock = 1_900_000_000;
export const swap = testSwap({ timelock, since: 0 });
export const { terms, funder } = swap;
export const estimate = { fast: 4, medium: 3, slow: 2, least: 1, at: 0 };
const spendable = { coinbase: false, spend: null };
export const payment: Payment = {
  txid: 'ab'.repeat(32),
  vout: 1,
  amount: 1_000_000n,
  height: 100,
  ...spendable,
};
export function historyOf(...payments: readonly Payment[]) {
  return { payments, tip: 200 };
}
export const second: Payment = { ...payment, txid: 'cd'.repeat(32), vout: 0, amount: 40_000n };
const requiredConfirmations = 3;
export const about = {
  verb: 'refund' as Verb,
  terms,
  network,
  history: historyOf(payment, second),
  requiredConfirmations,
  bounds,
  estimate,
  known: [] as readonly Bump[],
};
export const check = (transactions: readonly string[], from = about) =>
  atOnce(checkSignedSpends(transactions, from));
type Raw = ReturnType<typeof RawTx.decode>;
export function altered(raw: string, alter: (tx: Raw) => Partial<Raw>): string {
  const tx = RawTx.decode(hexToBytes(raw));
  return Buffer.from(RawTx.encode({ ...tx, ...alter(tx) })).toString('hex');
}

export function paidScript(raw: string): Uint8Array {
  return RawTx.decode(hexToBytes(raw)).outputs[0]?.script ?? new Uint8Array();
}

export function refused(
  transactions: readonly string[],
  code: string,
  words: RegExp,
  from = about,
) {
  assert.throws(
    () => check(transactions, from),
    (error) => {
      assert.ok(error instanceof ParleyError, String(error));
      assert.equal(error.code, code, error.message);
      assert.match(error.message, words);
      return true;
    },
  );
}

export function witnessOf(raw: string): Uint8Array[] {
  return [...(RawTx.decode(hexToBytes(raw)).witnesses?.[0] ?? [])];
}

export const toDer = (compact: string): string =>
  secp256k1.Signature.fromHex(compact, 'compact').toHex('der');

/** The verb's spend, signed by the key of its branch; a claim without its secret. */
export function signedAt(
  verb: Verb,
  rate: number,
  spent: readonly Payment[] = [payment],
  by = terms,
): string {
  const size = vsizeOf(by, network, verb, spent.length);
  const built = buildSpend(by, network, verb, spent, feeAt(size, rate));
  const { privateKey } = verb === 'claim' ? swap.claimer : funder;
  const sign = by.form === 'p2tr' ? signLeaves : signSighashes;
  const signaturesHex = sign(privateKey, built.sighashHexes);
  return assemble({ psbtBase64: built.psbtBase64, signaturesHex }, verb).raw;
}
