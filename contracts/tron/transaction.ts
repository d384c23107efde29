// A transaction of TRON: the two messages around a contract's own, in the order of java-tron. Pure.

import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { encodeFields, type Field } from './protobuf.ts';

/** Transaction.Contract.ContractType of those that we write or read. */
export const contractTypes = {
  TransferContract: 1n,
  CreateSmartContract: 30n,
  TriggerSmartContract: 31n,
} as const;
type ContractType = keyof typeof contractTypes;
export const urlOf = (type: ContractType) => `type.googleapis.com/protocol.${type}`;

/** The fields of a transaction that do not follow from its call. */
export type Envelope = {
  /** Two bytes of the referred block's number and eight of its id, hex. */
  readonly refBlockBytes: string;
  readonly refBlockHash: string;
  readonly expiration: number;
  readonly timestamp: number;
  readonly feeLimitSun: bigint;
};

/** The bytes that are signed: `fields` are those of the contract's own message. */
export function rawTransaction(
  type: ContractType,
  fields: readonly Field[],
  envelope: Envelope,
): Uint8Array {
  const any = encodeFields([
    [1, utf8ToBytes(urlOf(type))],
    [2, encodeFields(fields)],
  ]);
  const contract = encodeFields([
    [1, contractTypes[type]],
    [2, any],
  ]);
  return encodeFields([
    [1, hexToBytes(envelope.refBlockBytes)],
    [4, hexToBytes(envelope.refBlockHash)],
    [8, BigInt(envelope.expiration)],
    [11, contract],
    [14, BigInt(envelope.timestamp)],
    [18, envelope.feeLimitSun],
  ]);
}
