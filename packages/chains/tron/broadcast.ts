// Signed transactions: their effect, whether a node has it, and giving it to one.

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import {
  bytesOf,
  decodeFields,
  encodeFields,
  type Field,
  intOf,
  type Shape,
} from '@parley/contracts/tron/protobuf.ts';
import { contractTypes } from '@parley/contracts/tron/transaction.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { Hashlock } from '@parley/core/hashlock.ts';
import { contractsOf } from '../escrows/plan.ts';
import type { Signed } from '../interface/material.ts';
import type { ReadTransaction, Touch } from '../interface/sending.ts';
import type { Sending } from '../kit/adapter.ts';
import { keyHashOf } from '../kit/recoverable.ts';
import { isNotOfBytes, meaningOf } from '../nodes/answers.ts';
import { NotNow, TurnedAway } from '../nodes/exchange.ts';
import { onceHeard, refusedByNode } from '../nodes/offers.ts';
import { tronAddressOf } from './address.ts';
import { type Http, TronRefusal } from './http.ts';
import { broadcastPath, knows, sendHex } from './node.ts';
import { callsIn, fundedIn } from './plan.ts';
import { touchesOf, type Watch } from './watch.ts';

export const sending: Sending<Http, Watch> = {
  name: broadcastPath,
  give: async (node, { raw, txid }, signal) => {
    try {
      await sendHex(node, raw, signal);
    } catch (error) {
      if (!(error instanceof TronRefusal)) throw error;
      const { code, message } = error;
      const meaning = meaningOf({ words: message, code });
      if (meaning === 'known') return;
      const words = code === '' ? message : `${code}, ${message}`;
      if (meaning === 'turned away') throw new TurnedAway(200, words);
      // One that is in a block may be refused for what it did, or for being old by now.
      if (await onceHeard(knows(node, txid, signal))) return;
      // It has heard the bytes all the same, and a secret in them.
      if (isNotOfBytes(meaning)) throw new NotNow(words);
      const about = { chain: node.chain, txid, words };
      const refusal = refusedByNode(about, { nodeCode: code }, error);
      throw meaning === 'other block' ? new NotNow(words, refusal) : refusal;
    }
  },
  touched: (watch, raw) => touchesOf(watch, readTronSigned(raw).rawData).keys(),
};

/** The id is a hash over all that a transaction does; only its signatures are beside it. */
export function isKnown(
  { http }: Watch,
  { txid }: ReadTransaction,
  signal: AbortSignal,
): Promise<boolean> {
  return knows(http, txid, signal);
}

export async function readSigned(
  { known, deployment, byHashlock }: Watch,
  signed: Signed,
): Promise<ReadTransaction> {
  const { txid, raw, rawData, owner, called } = readTronSigned(signed);
  const wanted = (hashlock: Hashlock) => byHashlock.has(hashlock);
  // Calldata may be repeated in a memo: only a call of the contract by the funder funds.
  const canFund = (escrow: string) =>
    escrow.startsWith(`${called}:`) && known.get(escrow)?.watched.terms.refund.address === owner;
  const touches: Touch[] = callsIn(rawData, deployment, wanted)
    .filter(({ verb, escrow }) => known.has(escrow) && (verb !== 'fund' || canFund(escrow)))
    .map(({ of: _, ...touch }) => touch);
  const isOurs = called !== null && contractsOf(deployment).includes(called);
  const pays = isOurs ? fundedIn(rawData, deployment) : [];
  return { txid, raw, touches, payer: owner, pays };
}

/** java-tron refuses transactions above 500 KiB. */
const mostBytes = 500 * 1_024;
/** An account has at most five keys to a permission; a few more cost nothing here. */
const mostSignatures = 8;

const transactionShape: Shape = { 1: 'message', 2: 'repeated bytes' };
const rawShape: Shape = {
  1: 'bytes',
  3: 'int',
  4: 'bytes',
  8: 'int',
  10: 'bytes',
  11: 'message',
  14: 'int',
  18: 'int',
};
const contractShape: Shape = { 1: 'int', 2: 'message', 3: 'bytes', 4: 'bytes', 5: 'int' };
const anyShape: Shape = { 1: 'bytes', 2: 'bytes' };
/** Every contract of the protocol has its owner's address first; the rest differs. */
const ownerField = Uint8Array.of(0x0a, 21, 0x41);

type SignedTransaction = {
  readonly txid: string;
  readonly rawData: string;
  /** The whole transaction in protobuf, hex: the parameter of `wallet/broadcasthex`. */
  readonly raw: string;
  readonly owner: string;
  /** The contract that it calls, base58; null where it is no call. */
  readonly called: string | null;
  readonly expiration: number;
};

function bad(why: string, cause?: unknown): ParleyError {
  return new ParleyError('bad_transaction', `not a signed TRON transaction: ${why}`, {}, { cause });
}

function orBad<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw bad((cause as Error).message, cause);
  }
}

/** The contract of a transaction, and what is around it. Throws an Error of a few words. */
export function contractIn(rawData: Uint8Array) {
  const raw = decodeFields(rawData, rawShape);
  const contract = decodeFields(bytesOf(raw, 11), contractShape);
  const any = decodeFields(bytesOf(contract, 2), anyShape);
  const permission = intOf(contract, 5);
  return { raw, type: intOf(contract, 1), permission, parameter: bytesOf(any, 2) };
}

function hexBytes(text: unknown, what: string): Uint8Array {
  const digits = typeof text === 'string' && text.startsWith('0x') ? text.slice(2) : text;
  if (typeof digits !== 'string' || !/^([0-9a-fA-F]{2})+$/.test(digits)) {
    throw bad(`${what} is not hex`);
  }
  if (digits.length > 2 * mostBytes) throw bad(`it has more than ${mostBytes} bytes`);
  return hexToBytes(digits.toLowerCase());
}

function partsOf(signed: Signed): { rawData: Uint8Array; signatures: Uint8Array[] } {
  if (typeof signed === 'string') {
    const bytes = hexBytes(signed, 'it');
    const whole = orBad(() => decodeFields(bytes, transactionShape));
    const signatures = whole.flatMap(([number, value]) =>
      number === 2 && value instanceof Uint8Array ? [value] : [],
    );
    return { rawData: bytesOf(whole, 1), signatures };
  }
  if (!('raw_data_hex' in signed)) {
    throw bad('it must be the transaction object with raw_data_hex and signature');
  }
  const { signature, txID } = signed;
  const rawData = hexBytes(signed.raw_data_hex, 'raw_data_hex');
  if (!Array.isArray(signature)) throw bad('it is not signed');
  const txid = bytesToHex(sha256(rawData));
  if (txID !== undefined && `${txID}`.toLowerCase() !== txid) {
    throw bad(`its txID is ${`${txID}`.slice(0, 64)}, but its raw_data_hex is of ${txid}`);
  }
  return { rawData, signatures: signature.map((each) => hexBytes(each, 'a signature')) };
}

export function readTronSigned(signed: Signed): SignedTransaction {
  const { rawData, signatures } = partsOf(signed);
  const { raw, type, permission, parameter } = orBad(() => contractIn(rawData));
  const owner = ownerOf(parameter);
  if (bytesOf(raw, 1).length !== 2 || bytesOf(raw, 4).length !== 8) {
    throw bad('it refers to no block');
  }
  const txid = sha256(rawData);
  mustBeSigned(txid, signatures, owner, permission);
  const whole = encodeFields([[1, rawData], ...signatures.map((each): Field => [2, each])]);
  if (whole.length > mostBytes) throw bad(`it has more than ${mostBytes} bytes`);
  return {
    txid: bytesToHex(txid),
    rawData: bytesToHex(rawData),
    raw: bytesToHex(whole),
    owner,
    called: calledBy(type, parameter),
    expiration: Number(intOf(raw, 8)),
  };
}

function ownerOf(parameter: Uint8Array): string {
  if (!ownerField.every((byte, at) => parameter[at] === byte)) throw bad('it has no owner');
  return tronAddressOf(parameter.slice(ownerField.length, ownerField.length + 20));
}

/** Follows the owner in a call: field 2, the contract's address. */
const calledField = Uint8Array.of(0x12, 21, 0x41);

function calledBy(type: bigint, parameter: Uint8Array): string | null {
  const rest = parameter.slice(ownerField.length + 20);
  if (type !== contractTypes.TriggerSmartContract) return null;
  if (!calledField.every((byte, at) => rest[at] === byte)) return null;
  return tronAddressOf(rest.slice(calledField.length, calledField.length + 20));
}

/** Under another permission only the chain knows whose keys count. */
function mustBeSigned(
  digest: Uint8Array,
  signatures: readonly Uint8Array[],
  owner: string,
  permission: bigint,
): void {
  if (signatures.length === 0) throw bad('it is not signed');
  if (signatures.length > mostSignatures) throw bad(`it has ${signatures.length} signatures`);
  const signers = signatures.map((each) => signerOf(digest, each));
  const [only, second] = signers;
  if (second === undefined && permission === 0n && only !== owner) {
    throw bad(`it was signed by ${only}, not by its owner ${owner}`);
  }
}

/** java-tron takes 27 and 28, 0 and 1 as the last byte. */
function signerOf(digest: Uint8Array, signature: Uint8Array): string {
  if (signature.length !== 65) throw bad(`a signature has ${signature.length} bytes, not 65`);
  const v = signature[64] as number;
  try {
    const point = secp256k1.Signature.fromBytes(signature.subarray(0, 64))
      .addRecoveryBit(v >= 27 ? v - 27 : v)
      .recoverPublicKey(digest);
    return tronAddressOf(keyHashOf(point.toBytes(false)));
  } catch (cause) {
    throw bad('a signature belongs to no key', cause);
  }
}

/** Signs with a key at hand, as a wallet would (tests, demos, bots). Deterministic (RFC 6979). */
export function signTronTransaction<T extends { readonly txID: string }>(
  privateKey: Uint8Array,
  transaction: T,
): T & { readonly signature: readonly string[] } {
  const format = { prehash: false, lowS: true, format: 'recovered' } as const;
  const [recovery, ...rs] = secp256k1.sign(hexToBytes(transaction.txID), privateKey, format);
  const signature = bytesToHex(Uint8Array.of(...rs, 27 + (recovery as number)));
  return { ...transaction, signature: [signature] };
}
