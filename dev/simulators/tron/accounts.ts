// Accounts as the simulator keeps them in the state of its TVM: the balance is the TVM's, what else
// TRON knows of an account stands beside it under `meta/`.

import { bytesToHex } from '@noble/hashes/utils.js';
import type { TvmState } from '@parley/contracts/tron/testing/state.ts';
import { bandwidthWindowMs } from './parameters.ts';
import { invalid } from './refusal.ts';

export type AccountMeta = {
  readonly createdAtMs: number;
  readonly operatedAtMs?: number;
  readonly freeNetUsed?: number;
  readonly freeNetUsedAtMs?: number;
};

export function bare(address: Uint8Array | undefined, what: string): string {
  if (address?.length !== 21 || address[0] !== 0x41) throw invalid(`Invalid ${what}!`);
  return bytesToHex(address.subarray(1));
}

export function balanceOf(state: TvmState, hex: string): bigint | null {
  const balance = state.get(`account/${hex}`);
  return balance === undefined ? null : BigInt(balance);
}

export function isContract(state: TvmState, hex: string): boolean {
  return state.get(`code/${hex}`) !== undefined;
}

export function metaOf(state: TvmState, hex: string): AccountMeta {
  return JSON.parse(state.get(`meta/${hex}`) ?? '{"createdAtMs":0}') as AccountMeta;
}

export function setMeta(state: TvmState, hex: string, change: Partial<AccountMeta>): void {
  state.set(`meta/${hex}`, JSON.stringify({ ...metaOf(state, hex), ...change }));
}

/** Adds to a balance, or takes from it; an account that is not there is made. */
export function credit(state: TvmState, hex: string, amount: bigint, nowMs: number): void {
  const before = balanceOf(state, hex);
  if (before === null) setMeta(state, hex, { createdAtMs: nowMs });
  const after = (before ?? 0n) + amount;
  if (after < 0n) throw new Error(`the balance of ${hex} would be ${after}`);
  state.set(`account/${hex}`, after.toString());
}

/** The rest of the use counted at its time: BandwidthProcessor.increase, as a line. */
export function freeNetUsed(meta: AccountMeta, nowMs: number): number {
  const { freeNetUsed = 0, freeNetUsedAtMs = nowMs } = meta;
  const left = Math.max(0, bandwidthWindowMs - Math.max(0, nowMs - freeNetUsedAtMs));
  return Math.ceil((freeNetUsed * left) / bandwidthWindowMs);
}
