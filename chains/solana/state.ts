// What an escrow's account says. Pure.

import { bytesToHex } from '@noble/hashes/utils.js';
import type { Account } from './node.ts';

export type EscrowState = {
  readonly status: 'open' | 'claimed' | 'refunded';
  /** Whether more than the tombstone is there: the asset, or rent that a claim left. */
  readonly isFull: boolean;
};

const fullBytes = 184;
const tombstoneBytes = 1;
const termsAt = 8;
const vaultAt = 152;
const statuses = [null, 'open', 'claimed', 'refunded'] as const;

/** null: not funded. Throws for what the program never writes: then the node's word is not good. */
export function readState(
  account: Account | null,
  program: string,
  encodedTerms: Uint8Array,
): EscrowState | null {
  if (account === null || account.owner !== program) return null;
  const { data } = account;
  const status = statuses[data[0] ?? 0] ?? null;
  if (data.length === tombstoneBytes && (status === 'claimed' || status === 'refunded')) {
    return { status, isFull: false };
  }
  const terms = bytesToHex(data.subarray(termsAt, vaultAt));
  const isOurs = data.length === fullBytes && terms === bytesToHex(encodedTerms);
  if (isOurs && (status === 'open' || status === 'claimed')) return { status, isFull: true };
  throw new Error(`an escrow of ${data.length} bytes and status ${data[0]}`);
}

/** How far a life has come; it never goes back but by a reorganisation. */
export function stageOf(state: EscrowState | null): number {
  if (state === null) return 0;
  return state.status === 'open' ? 1 : state.isFull ? 2 : 3;
}
