// A TRON transaction that calls a contract, as java-tron's JSON. Fields: protocol/core/Tron.proto.
// Pure.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { encodeFields } from '../../contracts/tron/protobuf.ts';
import type { TronTransaction } from '../interface/material.ts';
import { tronHex } from './address.ts';

/** java-tron takes an expiration up to a day after its newest block. */
export const longestExpirationMs = 24 * 60 * 60 * 1_000;
/** getMaxFeeLimit of the main network, in sun: 15 000 TRX. */
export const largestFeeLimitSun = 15_000_000_000n;

const triggerType = 31n;
const triggerUrl = 'type.googleapis.com/protocol.TriggerSmartContract';

/** A block that a transaction refers to (TAPOS): it is good on chains that have this block only. */
export type BlockReference = { readonly number: number; readonly hash: string };

/** A call of a contract, addresses in base58. */
export type TronCall = {
  readonly from: string;
  readonly to: string;
  readonly data: string;
  readonly value: bigint;
};

/** What of a transaction does not follow from its call. */
export type Envelope = {
  /** Two bytes of the referred block's number and eight of its id, hex. */
  readonly refBlockBytes: string;
  readonly refBlockHash: string;
  readonly expiration: number;
  readonly timestamp: number;
  readonly feeLimitSun: bigint;
};

/** The last two bytes of the number, and the ninth to sixteenth of the id. */
export function referenceTo({ number, hash }: BlockReference): {
  refBlockBytes: string;
  refBlockHash: string;
} {
  const refBlockBytes = (number % 65_536).toString(16).padStart(4, '0');
  return { refBlockBytes, refBlockHash: hash.slice(16, 32) };
}

export function tronTransaction(call: TronCall, envelope: Envelope): TronTransaction {
  const { refBlockBytes, refBlockHash, expiration, timestamp, feeLimitSun } = envelope;
  const [owner, contract] = [tronHex(call.from), tronHex(call.to)];
  const parameter = encodeFields([
    [1, hexToBytes(owner)],
    [2, hexToBytes(contract)],
    [3, call.value],
    [4, hexToBytes(call.data)],
  ]);
  const any = encodeFields([
    [1, utf8ToBytes(triggerUrl)],
    [2, parameter],
  ]);
  const raw = encodeFields([
    [1, hexToBytes(refBlockBytes)],
    [4, hexToBytes(refBlockHash)],
    [8, BigInt(expiration)],
    [
      11,
      encodeFields([
        [1, triggerType],
        [2, any],
      ]),
    ],
    [14, BigInt(timestamp)],
    [18, feeLimitSun],
  ]);
  const value = {
    data: call.data,
    owner_address: owner,
    contract_address: contract,
    ...(call.value === 0n ? {} : { call_value: Number(call.value) }),
  };
  return {
    visible: false,
    txID: bytesToHex(sha256(raw)),
    raw_data: {
      contract: [{ parameter: { value, type_url: triggerUrl }, type: 'TriggerSmartContract' }],
      ref_block_bytes: refBlockBytes,
      ref_block_hash: refBlockHash,
      expiration,
      fee_limit: Number(feeLimitSun),
      timestamp,
    },
    raw_data_hex: bytesToHex(raw),
  };
}
