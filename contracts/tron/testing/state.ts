// The state that a TVM reads and writes: accounts, code and storage as one map of texts. Every
// write can be undone up to a checkpoint, and what changed since the last `takeChanges` can be
// stored.
//
//   account/<address>         balance in sun, decimal; the key exists when the account does
//   code/<address>            hex
//   storage/<address>/<slot>  hex without leading zeros; zero is no entry, as in java-tron's store,
//                             and of a slot's number only the lower 16 bytes count (Storage.java:
//                             compose; contracts of version 0)

import type { AccountFields, StateManagerInterface } from '@ethereumjs/common';
import { Account, type Address, bytesToUnprefixedHex, hexToBytes } from '@ethereumjs/util';
import { keccak_256 } from '@noble/hashes/sha3.js';

export type Changes = Readonly<Record<string, string | null>>;

const EMPTY = new Uint8Array(0);

function hexOf(address: Address): string {
  return bytesToUnprefixedHex(address.bytes);
}

export function slotKey(addressHex: string, slot: Uint8Array): string {
  return `storage/${addressHex}/${bytesToUnprefixedHex(slot.slice(16))}`;
}

function bytesOf(hex: string): Uint8Array {
  return hexToBytes(`0x${hex.length % 2 === 0 ? hex : `0${hex}`}`);
}

export class TvmState implements StateManagerInterface {
  readonly originalStorageCache = {
    get: (address: Address, slot: Uint8Array) => this.getStorage(address, slot),
    clear: () => {},
  };
  /** An address under creation counts as unused, although it may hold a balance already. */
  underCreation = '';
  /** Keys of storage written by the running transaction; a zero there is not a missing row. */
  readonly written = new Set<string>();
  private readonly entries = new Map<string, string>();
  private readonly undo: [key: string, before: string | undefined][] = [];
  private readonly marks: number[] = [];
  private readonly changed = new Set<string>();
  private readonly codes = new Map<string, { code: Uint8Array; hash: Uint8Array }>();

  get(key: string): string | undefined {
    return this.entries.get(key);
  }

  set(key: string, value: string | undefined): void {
    this.undo.push([key, this.entries.get(key)]);
    this.put(key, value);
  }

  keys(): IterableIterator<string> {
    return this.entries.keys();
  }

  private put(key: string, value: string | undefined): void {
    if (value === undefined) this.entries.delete(key);
    else this.entries.set(key, value);
    this.changed.add(key);
    if (key.startsWith('code/')) this.codes.delete(key);
  }

  load(changes: Changes): void {
    for (const [key, value] of Object.entries(changes)) this.put(key, value ?? undefined);
    this.changed.clear();
  }

  /** The differences since the last call; only between transactions. */
  takeChanges(): Changes {
    const changes: Record<string, string | null> = {};
    for (const key of this.changed) changes[key] = this.entries.get(key) ?? null;
    this.changed.clear();
    this.undo.length = 0;
    return changes;
  }

  private code(address: Address): { code: Uint8Array; hash: Uint8Array } | undefined {
    const key = `code/${hexOf(address)}`;
    const hex = this.entries.get(key);
    if (hex === undefined) return undefined;
    const known = this.codes.get(key);
    if (known !== undefined) return known;
    const code = bytesOf(hex);
    const made = { code, hash: keccak_256(code) };
    this.codes.set(key, made);
    return made;
  }

  async getAccount(address: Address): Promise<Account | undefined> {
    const hex = hexOf(address);
    const balance = this.entries.get(`account/${hex}`);
    if (balance === undefined) return undefined;
    // an account that exists is not empty to a TVM, whatever it holds: nonce 1 says so to the EVM
    const nonce = hex === this.underCreation ? 0n : 1n;
    return new Account(nonce, BigInt(balance), undefined, this.code(address)?.hash);
  }

  async putAccount(address: Address, account?: Account): Promise<void> {
    this.set(`account/${hexOf(address)}`, account?.balance.toString());
  }

  async deleteAccount(address: Address): Promise<void> {
    this.set(`account/${hexOf(address)}`, undefined);
    this.set(`code/${hexOf(address)}`, undefined);
  }

  async modifyAccountFields(address: Address, fields: AccountFields): Promise<void> {
    if (fields.balance !== undefined) {
      this.set(`account/${hexOf(address)}`, fields.balance.toString());
    }
  }

  async putCode(address: Address, code: Uint8Array): Promise<void> {
    this.underCreation = '';
    this.set(`code/${hexOf(address)}`, bytesToUnprefixedHex(code));
  }

  async getCode(address: Address): Promise<Uint8Array> {
    return this.code(address)?.code ?? EMPTY;
  }

  async getCodeSize(address: Address): Promise<number> {
    return (await this.getCode(address)).length;
  }

  async getStorage(address: Address, slot: Uint8Array): Promise<Uint8Array> {
    const hex = this.entries.get(slotKey(hexOf(address), slot));
    return hex === undefined ? EMPTY : bytesOf(hex);
  }

  async putStorage(address: Address, slot: Uint8Array, value: Uint8Array): Promise<void> {
    const hex = bytesToUnprefixedHex(value).replace(/^0+/, '');
    const key = slotKey(hexOf(address), slot);
    this.written.add(key);
    this.set(key, hex === '' ? undefined : hex);
  }

  /** Only ever called for an address that never had code, so it has no storage either. */
  async clearStorage(): Promise<void> {}

  async checkpoint(): Promise<void> {
    this.marks.push(this.undo.length);
  }

  async commit(): Promise<void> {
    this.marks.pop();
  }

  async revert(): Promise<void> {
    const mark = this.marks.pop() ?? 0;
    while (this.undo.length > mark) {
      const [key, before] = this.undo.pop() as [string, string | undefined];
      this.put(key, before);
    }
  }

  async getStateRoot(): Promise<Uint8Array> {
    return new Uint8Array(32); // a TRON block of this kind has none
  }

  async setStateRoot(): Promise<void> {}

  async hasStateRoot(): Promise<boolean> {
    return true;
  }

  clearCaches(): void {}

  /** Everything but the checkpoints. */
  copy(): TvmState {
    const copy = new TvmState();
    copy.load(Object.fromEntries(this.entries));
    return copy;
  }

  shallowCopy(): StateManagerInterface {
    return this.copy();
  }
}
