// A transaction as bytes: its signature, whom it names, and which accounts it may write.

import {
  type Address,
  type CompiledTransactionMessage,
  getAddressDecoder,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Transaction,
} from '@solana/kit';
import { invalidParams } from './rpc-error.ts';

/** The size that fits into one packet of the network. */
const mostBytes = 1_232;
const signatureBytes = 64;
const tableHead = 56;
const addressBytes = 32;

type Message = Exclude<CompiledTransactionMessage, { version: 1 }>;
export type Wire = {
  readonly bytes: Uint8Array;
  readonly transaction: Transaction;
  readonly message: Message & { readonly lifetimeToken: string };
  /** Base58 of the first signature: the transaction's id. */
  readonly signature: string;
  readonly payer: Address;
};

export type Keys = {
  readonly all: readonly Address[];
  readonly loaded: { readonly writable: readonly Address[]; readonly readonly: readonly Address[] };
};

export function readWire(bytes: Uint8Array): Wire {
  if (bytes.length > mostBytes) {
    throw invalidParams(`the transaction has ${bytes.length} bytes (max ${mostBytes})`);
  }
  try {
    const transaction = getTransactionDecoder().decode(bytes);
    const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
    if (message.version !== 'legacy' && message.version !== 0) {
      throw invalidParams(`transactions of version ${message.version} are not supported here`);
    }
    const payer = message.staticAccounts[0];
    if (payer === undefined) throw new Error('no fee payer');
    return {
      bytes,
      transaction,
      message: message as Wire['message'],
      // Fewer than 128 signatures: their number is one byte.
      signature: getBase58Decoder().decode(bytes.subarray(1, 1 + signatureBytes)),
      payer,
    };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw invalidParams(`failed to deserialize the transaction: ${words}`);
  }
}

/** `tableData` reads an address lookup table; null when there is none. */
export function keysOf({ message }: Wire, tableData: (table: Address) => Uint8Array | null): Keys {
  const { staticAccounts } = message;
  const loaded = { writable: [] as Address[], readonly: [] as Address[] };
  for (const lookup of 'addressTableLookups' in message
    ? (message.addressTableLookups ?? [])
    : []) {
    const data = tableData(lookup.lookupTableAddress);
    if (data === null) continue;
    const read = (index: number) =>
      getAddressDecoder().decode(data, tableHead + addressBytes * index);
    loaded.writable.push(...lookup.writableIndexes.map(read));
    loaded.readonly.push(...lookup.readonlyIndexes.map(read));
  }
  return {
    all: [...staticAccounts, ...loaded.writable, ...loaded.readonly],
    loaded,
  };
}
