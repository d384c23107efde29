// The state in an escrow's account. Pure.

import { bytesToHex } from '@noble/hashes/utils.js';
import type { Account } from './node.ts';
import type { Wanted } from './plan.ts';

export type EscrowState = {
  readonly status: 'open' | 'claimed' | 'refunded';
  /** Whether more than the tombstone is there: the asset, or rent that a claim left. */
  readonly isFull: boolean;
};

/** The escrow's address at one slot. */
export type Shown = {
  readonly slot: number;
  readonly clock: number;
  /** null: no account of the program. From the timelock on it may have been closed. */
  readonly state: EscrowState | null;
  readonly lamports: bigint;
};

const fullBytes = 184;
const tombstoneBytes = 1;
const termsAt = 8;
const vaultAt = 152;
/** By their numbers; a released one is refunded. */
const statuses = [null, 'open', 'claimed', 'refunded'] as const;

/** Throws for what the program never writes: then the node's word is not good. */
export function readState(
  account: Account | null,
  program: string,
  encodedTerms: Uint8Array,
): EscrowState | null {
  if (account === null || account.owner !== program) return null;
  const { data } = account;
  const status = statuses[data[0] ?? 0] ?? null;
  const isSettled = status === 'claimed' || status === 'refunded';
  if (data.length === tombstoneBytes && isSettled) return { status, isFull: false };
  const terms = bytesToHex(data.subarray(termsAt, vaultAt));
  const isOurs = data.length === fullBytes && terms === bytesToHex(encodedTerms);
  if (isOurs && status !== null && status !== 'refunded') return { status, isFull: true };
  throw new Error(`an escrow of ${data.length} bytes and status ${data[0]}`);
}

/** How far a life has come, while its account is there; back it goes by a reorganisation only. */
export function stageOf(state: EscrowState | null): number {
  if (state === null) return 0;
  return state.status === 'open' ? 1 : state.isFull ? 2 : 3;
}

/** Whether an account that is not there may have been: no escrow is closed before the timelock. */
export function mayBeClosed({ state, clock }: Shown, timelock: number): boolean {
  return state === null && clock >= timelock;
}

/** The verbs that give the funder the whole balance; null: no verb does, or not yet. */
export function returning(
  shown: Shown,
  timelock: number,
): Extract<Wanted, { readonly verb: 'refund' | 'close' }> | null {
  const { state, clock, lamports } = shown;
  if (state?.isFull) return { verb: 'refund', afterClaim: state.status === 'claimed' };
  return clock >= timelock && lamports > 0n ? { verb: 'close' } : null;
}
