// What a transaction created, proved by its own bytes: they hash to its id. Pure.

import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { initCode } from '../../contracts/escrows/artifacts/abi.ts';
import {
  bytesOf,
  decodeFields,
  type Field,
  intOf,
  type Shape,
} from '../../contracts/tron/protobuf.ts';
import { tronAddressOf } from './address.ts';
import type { TronOrigin } from './plan.ts';
import { anyShape, contractShape, rawShape } from './signed.ts';

export const createType = 30n;
/** core/contract/smart_contract.proto: CreateSmartContract and SmartContract. */
const createShape: Shape = { 1: 'bytes', 2: 'message', 3: 'int', 4: 'int' };
const smartContractShape: Shape = {
  1: 'bytes',
  2: 'bytes',
  3: 'message',
  4: 'bytes',
  5: 'int',
  6: 'int',
  7: 'bytes',
  8: 'int',
  9: 'bytes',
  10: 'bytes',
  11: 'int',
};

/** WalletUtil.generateContractAddress: of the transaction's id and its owner, in base58. */
export function createdAddress(txid: string, owner: Uint8Array): string {
  return tronAddressOf(keccak_256(concatBytes(hexToBytes(txid), owner)).subarray(12));
}

/** Words that go on after "a node"; null = nothing. `rawData` in hex. */
export function creationFault(
  rawData: string,
  { contract, creation }: Pick<TronOrigin, 'contract' | 'creation'>,
): string | null {
  const bytes = /^([0-9a-f]{2})+$/.test(rawData) ? hexToBytes(rawData) : new Uint8Array();
  if (bytesToHex(sha256(bytes)) !== creation) return `shows other bytes for ${creation}`;
  const typed = decoded(bytesOf(decoded(bytes, rawShape), 11), contractShape);
  if (intOf(typed, 1) !== createType) return `shows in ${creation} no creation of a contract`;
  const created = createdBy(typed);
  const address = createdAddress(creation, bytesOf(created, 1));
  if (address !== contract) return `shows that ${creation} created ${address}, not ${contract}`;
  const code = bytesOf(decoded(bytesOf(created, 2), smartContractShape), 4);
  if (`0x${bytesToHex(code)}` === initCode) return null;
  return `shows that ${contract} was created by other init code than the pinned`;
}

export function creatorIn(rawData: string): string {
  const typed = decoded(bytesOf(decoded(hexToBytes(rawData), rawShape), 11), contractShape);
  // The byte of a TRON address leads.
  return tronAddressOf(bytesOf(createdBy(typed), 1).subarray(1));
}

function createdBy(typed: Field[]): Field[] {
  return decoded(bytesOf(decoded(bytesOf(typed, 2), anyShape), 2), createShape);
}

/** Of bytes that are written in no way that we know, nothing is known. */
function decoded(bytes: Uint8Array, shape: Shape) {
  try {
    return decodeFields(bytes, shape);
  } catch {
    return [];
  }
}
