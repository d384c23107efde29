// Terms to escrow and the bytes to sign. PURE: the server builds with it, the SDK verifies with it.

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { formatUnits } from '@parley/core/amounts.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { Escrow, EscrowTerms } from '@parley/core/terms.ts';
import { base64 } from '@scure/base';
import { p2wsh, SigHash, Transaction } from '@scure/btc-signer';
import { escrowScript } from './escrow-script.ts';
import { parsePublicKey } from './keys.ts';
import { type BitcoinNetwork, dustSats, parseBitcoinAddress } from './networks.ts';

/** Signals replaceability (BIP 125) and leaves nLockTime in force (BIP 65). */
export const replaceableSequence = 0xffff_fffd;

/** 21 million coins: no output can hold more. */
export const maxSats = 2_100_000_000_000_000n;

export type EscrowOutput = {
  readonly txid: string;
  readonly vout: number;
  readonly amount: bigint;
};

export type Verb = 'claim' | 'refund';

export type Spend = {
  readonly psbtBase64: string;
  /** The hash to sign for each input, in order (SIGHASH_ALL, BIP 143). */
  readonly sighashHexes: readonly string[];
  readonly feeSats: bigint;
  readonly vsize: number;
  readonly paysSats: bigint;
};

/** The escrow with its bytes. Throws `bad_public_key`, `bad_field`. */
export function escrowBytes(
  terms: EscrowTerms,
  network: BitcoinNetwork,
): { readonly address: string; readonly witnessScript: Uint8Array; readonly script: Uint8Array } {
  const witnessScript = escrowScript({
    hashlock: terms.hashlock,
    claimer: keyOf(terms, 'payout'),
    funder: keyOf(terms, 'refund'),
    timelock: terms.timelock,
  });
  const { address, script } = p2wsh({ type: 'wsh', script: witnessScript }, network);
  return { address, witnessScript, script };
}

function keyOf(terms: EscrowTerms, side: 'payout' | 'refund'): string {
  const { pubkey } = terms[side];
  if (pubkey === null) {
    throw new ParleyError('bad_public_key', `the ${side} key of a Bitcoin escrow is missing`, {
      side,
    });
  }
  return parsePublicKey(pubkey);
}

/** The escrow of these terms. The address commits to hashlock, keys and timelock, not amount. */
export function bitcoinEscrow(terms: EscrowTerms, network: BitcoinNetwork): Escrow {
  const { address, witnessScript } = escrowBytes(terms, network);
  return { address, redeemScript: bytesToHex(witnessScript) };
}

/** BIP 21, with the exact amount in coins. */
export function paymentUri(address: string, amountSats: bigint): string {
  return `bitcoin:${address}?amount=${formatUnits(amountSats, 8)}`;
}

/** Upper bound of the virtual size of a spend: signatures of 72 bytes (low-S DER and a flag). */
export function spendVsize(
  verb: Verb,
  inputs: number,
  witnessScriptLength: number,
  outputScriptLength: number,
): number {
  const inputCount = inputs < 253 ? 1 : 3;
  const stripped = 4 + inputCount + 41 * inputs + 1 + 8 + 1 + outputScriptLength + 4;
  const secretAndBranch = verb === 'claim' ? 33 + 2 : 1;
  const witness = 1 + 73 + secretAndBranch + 1 + witnessScriptLength;
  return Math.ceil((4 * stripped + 2 + inputs * witness) / 4);
}

/** The size of a spend of `inputs` outputs of this escrow to its destination. */
export function vsizeOf(
  terms: EscrowTerms,
  network: BitcoinNetwork,
  verb: Verb,
  inputs: number,
): number {
  const { script } = destination(terms, network, verb);
  return spendVsize(verb, inputs, escrowBytes(terms, network).witnessScript.length, script.length);
}

export function destination(terms: EscrowTerms, network: BitcoinNetwork, verb: Verb) {
  const { address } = verb === 'claim' ? terms.payout : terms.refund;
  return parseBitcoinAddress(address, network);
}

/**
 * The same escrow with its spend paid to another address: the script binds keys, and a key's owner
 * signs where the money goes. Throws `bad_address`, `wrong_network`.
 */
export function paidTo(
  terms: EscrowTerms,
  network: BitcoinNetwork,
  verb: Verb,
  address: string,
): EscrowTerms {
  const to = parseBitcoinAddress(address, network).address;
  if (to === escrowBytes(terms, network).address) {
    const sentence = `${to} is the escrow itself: its other side could take what is paid there`;
    throw new ParleyError('bad_address', sentence, { address: to });
  }
  const side = verb === 'claim' ? 'payout' : 'refund';
  return { ...terms, [side]: { ...terms[side], address: to } };
}

/** Pays all but `feeSats` to the address of the terms. `nothing_there`: the rest is dust. */
export function buildSpend(
  terms: EscrowTerms,
  network: BitcoinNetwork,
  verb: Verb,
  outputs: readonly EscrowOutput[],
  feeSats: bigint,
): Spend {
  const { tx, witnessScript, paysSats } = unsigned(terms, network, verb, outputs, feeSats);
  return {
    psbtBase64: base64.encode(tx.toPSBT(0)),
    sighashHexes: outputs.map(({ amount }, index) =>
      bytesToHex(tx.preimageWitnessV0(index, witnessScript, SigHash.ALL, amount)),
    ),
    feeSats,
    vsize: vsizeOf(terms, network, verb, outputs.length),
    paysSats,
  };
}

export function spendPsbt(...about: Parameters<typeof buildSpend>): string {
  return base64.encode(unsigned(...about).tx.toPSBT(0));
}

function unsigned(
  terms: EscrowTerms,
  network: BitcoinNetwork,
  verb: Verb,
  outputs: readonly EscrowOutput[],
  feeSats: bigint,
): { readonly tx: Transaction; readonly witnessScript: Uint8Array; readonly paysSats: bigint } {
  const escrow = escrowBytes(terms, network);
  const to = destination(terms, network, verb);
  const total = outputs.reduce((sum, { amount }) => sum + amount, 0n);
  const paysSats = total - feeSats;
  if (outputs.length === 0 || paysSats < dustSats[to.kind]) {
    throw new ParleyError(
      'nothing_there',
      `the escrow ${escrow.address} holds ${total} sats in ${outputs.length} payments: less than ` +
        `the fee of ${feeSats} and the ${dustSats[to.kind]} sats that an output needs`,
      { escrow: escrow.address, total, feeSats },
    );
  }
  const lockTime = verb === 'refund' ? terms.timelock : 0;
  const tx = new Transaction({ version: 2, lockTime, allowUnknownInputs: true });
  for (const { txid, vout, amount } of outputs) {
    tx.addInput({
      txid: hexToBytes(txid),
      index: vout,
      sequence: replaceableSequence,
      witnessUtxo: { script: escrow.script, amount },
      witnessScript: escrow.witnessScript,
      sighashType: SigHash.ALL,
    });
  }
  tx.addOutput({ script: to.script, amount: paysSats });
  return { tx, witnessScript: escrow.witnessScript, paysSats };
}
