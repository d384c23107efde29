// The state of a fork: the node's, fetched when first asked for, under what was changed here.

import type { Account, Address } from '@ethereumjs/util';
import { bytesToUnprefixedHex } from '@ethereumjs/util';
import { slotKey, TvmState } from '../../../contracts/tron/tvm/state.ts';
import type { Source } from './source.ts';

/** A word of storage: address and slot in hex. */
export type Word = { readonly address: string; readonly slot: string };

/** Addresses below this are precompiled contracts or nothing at all; no account is asked for. */
const lowest = '0'.repeat(32);

export class ForkState extends TvmState {
  /** Words of storage read since it was set, in order and each once; null: nobody looks. */
  trace: Map<string, Word> | null = null;
  private readonly source: Source;
  /** Keys that are as the node has them, or were changed here. */
  private readonly known = new Map<string, Promise<void>>();

  constructor(source: Source) {
    super();
    this.source = source;
  }

  /** An address that nobody ever used, without asking. */
  invent(address: string): void {
    this.load({ [`account/${address}`]: '0' });
    this.known.set(`account/${address}`, Promise.resolve());
    this.known.set(`code/${address}`, Promise.resolve());
  }

  async read({ address, slot }: Word): Promise<bigint> {
    await this.word(address, slot);
    return BigInt(`0x${this.get(slotKey(address, Buffer.from(slot, 'hex'))) ?? '0'}`);
  }

  async overwrite({ address, slot }: Word, value: bigint): Promise<void> {
    const key = slotKey(address, Buffer.from(slot, 'hex'));
    await this.word(address, slot);
    this.set(key, value === 0n ? undefined : value.toString(16));
  }

  override async getAccount(address: Address): Promise<Account | undefined> {
    await this.loadAccount(bytesToUnprefixedHex(address.bytes));
    return super.getAccount(address);
  }

  override async getCode(address: Address): Promise<Uint8Array> {
    await this.loadAccount(bytesToUnprefixedHex(address.bytes));
    return super.getCode(address);
  }

  override async getStorage(address: Address, slot: Uint8Array): Promise<Uint8Array> {
    const word = { address: bytesToUnprefixedHex(address.bytes), slot: bytesToUnprefixedHex(slot) };
    this.trace?.set(`${word.address}/${word.slot}`, word);
    await this.word(word.address, word.slot);
    return super.getStorage(address, slot);
  }

  override async putStorage(address: Address, slot: Uint8Array, value: Uint8Array): Promise<void> {
    await this.word(bytesToUnprefixedHex(address.bytes), bytesToUnprefixedHex(slot));
    return super.putStorage(address, slot, value);
  }

  async loadAccount(address: string): Promise<void> {
    if (address.startsWith(lowest)) return;
    await this.fetched(`account/${address}`, () => this.source.account(address));
    await this.fetched(`code/${address}`, () => this.source.code(address));
  }

  private word(address: string, slot: string): Promise<void> {
    return this.fetched(slotKey(address, Buffer.from(slot, 'hex')), async () => {
      const value = (await this.source.storage(address, slot)).replace(/^0+/, '');
      return value === '' ? undefined : value;
    });
  }

  private fetched(key: string, ask: () => Promise<string | undefined>): Promise<void> {
    const before = this.known.get(key);
    if (before !== undefined) return before;
    const asked = ask().then((value) => this.load({ [key]: value ?? null }));
    this.known.set(key, asked);
    return asked;
  }
}
