// Terms to escrow and the bytes to sign. PURE: the server builds with it, the SDK verifies with it.

import { bytesToHex, concatBytes } from '@noble/hashes/utils.js';
import { formatUnits } from '@parley/core/amounts.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { Escrow, EscrowTerms } from '@parley/core/terms.ts';
import { base64 } from '@scure/base';
import { p2wsh, SigHash } from '@scure/btc-signer';
import { type EscrowScript, escrowScript } from './escrow-script.ts';
import { escrowTree, leafVersion } from './escrow-tree.ts';
import { parsePublicKey } from './keys.ts';
import { type BitcoinNetwork, dustSats, parseBitcoinAddress } from './networks.ts';
import {
  psbtOf,
  type Spent,
  sighashesOf,
  taprootSighashesOf,
  psbtTypes as types,
  type Unsigned,
  uint32,
  unsignedTransaction,
} from './unsigned.ts';

/** Signals replaceability (BIP 125) and leaves nLockTime in force (BIP 65). */
export const replaceableSequence = 0xffff_fffd;

/**
 * A spend by the keys of both shows no leaf, and its verb by these. Both signal replaceability, and
 * neither is a relative timelock (BIP 68).
 */
export const keySequences = { claim: replaceableSequence, refund: 0xffff_fffc } as const;

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
  /** To sign for each input, in order: SIGHASH_ALL (BIP 143), of Taproot SIGHASH_DEFAULT (BIP 341). */
  readonly sighashHexes: readonly string[];
  readonly feeSats: bigint;
  readonly vsize: number;
  readonly paysSats: bigint;
};

/** How one side spends an output of the escrow. */
export type Branch = {
  readonly script: Uint8Array;
  /** How its witness ends: with the script, and of Taproot the control block. */
  readonly ends: readonly Uint8Array[];
  /** The most that the witness of one input can have. */
  readonly witnessBytes: number;
};

export type EscrowBytes = {
  readonly address: string;
  /** That of its outputs. */
  readonly script: Uint8Array;
  readonly redeemScript: string;
  readonly branches: Readonly<Record<Verb, Branch>>;
  /** Null of P2WSH. */
  readonly taproot: Taproot | null;
};

/** The key of both sides, and what is added to it. */
type Taproot = Pick<ReturnType<typeof escrowTree>, 'keys' | 'internalKey' | 'root'>;

/** With the lengths of the count and of each item, which are below 253. */
function witnessBytes(...items: readonly number[]): number {
  return items.reduce((sum, length) => sum + 1 + length, 1);
}

/** A low-S DER signature with its flag; one of BIP 340. */
const ecdsaBytes = 72;
const schnorrBytes = 64;
const secretBytes = 32;

/** By the keys of both. */
export const keyPathBytes = witnessBytes(schnorrBytes);

/** The escrow with its bytes. Throws `bad_public_key`, `bad_field`. */
export function escrowBytes(terms: EscrowTerms, network: BitcoinNetwork): EscrowBytes {
  const values = {
    hashlock: terms.hashlock,
    claimer: keyOf(terms, 'payout'),
    funder: keyOf(terms, 'refund'),
    timelock: terms.timelock,
  };
  return terms.form === 'p2tr' ? inTree(values, network) : inScript(values, network);
}

function inScript(values: EscrowScript, network: BitcoinNetwork): EscrowBytes {
  const witnessScript = escrowScript(values);
  const { address, script } = p2wsh({ type: 'wsh', script: witnessScript }, network);
  const branch = (...items: number[]): Branch => ({
    script: witnessScript,
    ends: [witnessScript],
    witnessBytes: witnessBytes(ecdsaBytes, ...items, witnessScript.length),
  });
  return {
    address,
    script,
    redeemScript: bytesToHex(witnessScript),
    // OP_IF takes a 1, and an empty item.
    branches: { claim: branch(secretBytes, 1), refund: branch(0) },
    taproot: null,
  };
}

function inTree(values: EscrowScript, network: BitcoinNetwork): EscrowBytes {
  const { address, script, keys, internalKey, root, ...tree } = escrowTree(values, network);
  const { leaves, descriptor } = tree;
  const branch = (verb: Verb, ...items: number[]): Branch => {
    const leaf = leaves[verb];
    const ends = [leaf.script, leaf.control];
    const lengths = ends.map(({ length }) => length);
    const bytes = witnessBytes(schnorrBytes, ...items, ...lengths);
    return { script: leaf.script, ends, witnessBytes: bytes };
  };
  return {
    address,
    script,
    redeemScript: descriptor,
    branches: { claim: branch('claim', secretBytes), refund: branch('refund') },
    taproot: { keys, internalKey, root },
  };
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
  const { address, redeemScript } = escrowBytes(terms, network);
  return { address, redeemScript };
}

/** BIP 21, with the exact amount in coins. */
export function paymentUri(address: string, amountSats: bigint): string {
  return `bitcoin:${address}?amount=${formatUnits(amountSats, 8)}`;
}

/** Upper bound of the virtual size of a spend, by the most that the witness of an input can have. */
export function spendVsize(inputs: number, inputBytes: number, outputScriptLength: number): number {
  const inputCount = inputs < 253 ? 1 : 3;
  const stripped = 4 + inputCount + 41 * inputs + 1 + 8 + 1 + outputScriptLength + 4;
  return Math.ceil((4 * stripped + 2 + inputs * inputBytes) / 4);
}

/** `key`: by the keys of both, of Taproot alone. */
export type Path = 'script' | 'key';

/** The size of a spend of `inputs` outputs of this escrow to its destination. */
export function vsizeOf(
  terms: EscrowTerms,
  network: BitcoinNetwork,
  verb: Verb,
  inputs: number,
  path: Path = 'script',
): number {
  const { script } = destination(terms, network, verb);
  const { witnessBytes: byScript } = escrowBytes(terms, network).branches[verb];
  return spendVsize(inputs, path === 'key' ? keyPathBytes : byScript, script.length);
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
  path: Path = 'script',
): Spend {
  const made = unsigned(terms, network, verb, outputs, feeSats, path);
  const { tx, escrow, spent, paysSats } = made;
  const { script } = escrow.branches[verb];
  const sighashOf =
    escrow.taproot === null
      ? sighashesOf(tx, spent, script)
      : taprootSighashesOf(tx, spent, path === 'script' ? script : null);
  return {
    psbtBase64: psbtText(made, verb, path),
    sighashHexes: outputs.map((_, at) => bytesToHex(sighashOf(at))),
    feeSats,
    vsize: vsizeOf(terms, network, verb, outputs.length, path),
    paysSats,
  };
}

export function spendPsbt(...about: Parameters<typeof buildSpend>): string {
  const [, , verb, , , path] = about;
  return psbtText(unsigned(...about), verb, path);
}

type Made = {
  readonly tx: Unsigned;
  readonly escrow: EscrowBytes;
  readonly spent: Spent;
  readonly paysSats: bigint;
};

function psbtText({ tx, escrow, spent }: Made, verb: Verb, path: Path = 'script'): string {
  return base64.encode(psbtOf(tx, spent, howSpent(escrow, verb, path)));
}

export function unsigned(
  terms: EscrowTerms,
  network: BitcoinNetwork,
  verb: Verb,
  outputs: readonly EscrowOutput[],
  feeSats: bigint,
  path: Path = 'script',
): Made {
  const escrow = escrowBytes(terms, network);
  if (path === 'key') taprootOf(escrow);
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
  const lockTime = verb === 'refund' && path === 'script' ? terms.timelock : 0;
  const sequence = path === 'key' ? keySequences[verb] : replaceableSequence;
  const paid = { script: to.script, amount: paysSats };
  const tx = unsignedTransaction({ outputs, sequence, lockTime, to: paid });
  const spent = { script: escrow.script, amounts: outputs.map(({ amount }) => amount) };
  return { tx, escrow, spent, paysSats };
}

/** Throws `bad_field` on an escrow of P2WSH. */
export function taprootOf({ address, taproot }: EscrowBytes): Taproot {
  if (taproot !== null) return taproot;
  const sentence = `the escrow ${address} of P2WSH has no key of both sides`;
  throw new ParleyError('bad_field', sentence, { escrow: address });
}

/** The fields of a PSBT by which a wallet knows what it signs (BIP 174, BIP 371), by their keys. */
function howSpent({ taproot, branches }: EscrowBytes, verb: Verb, path: Path) {
  const { script, ends } = branches[verb];
  if (taproot === null) {
    return [
      [types.sighashType, uint32(SigHash.ALL)],
      [types.witnessScript, script],
    ] as const;
  }
  const tree = [
    [types.tapInternalKey, taproot.internalKey],
    [types.tapMerkleRoot, taproot.root],
  ] as const;
  if (path === 'key') return tree;
  const control = bytesToHex(ends[1] ?? new Uint8Array());
  const leaf = concatBytes(script, Uint8Array.of(leafVersion));
  return [[`${types.tapLeaf}${control}`, leaf], ...tree] as const;
}
