// What an escrow commits to. Two parties that agree on these values derive the same escrow.

import type { ChainKey } from './families.ts';
import type { Hex32 } from './hashlock.ts';

/** Where money goes: an address, and on Bitcoin the compressed key (66 hex) that spends. */
export type Destination = { readonly address: string; readonly pubkey: string | null };

export type EscrowTerms = {
  readonly chain: ChainKey;
  readonly hashlock: Hex32;
  readonly payout: Destination;
  /** The funder, to whom a refund goes. */
  readonly refund: Destination;
  /** Token contract; null = the chain's native coin. */
  readonly token: string | null;
  /** Base units. */
  readonly amount: bigint;
  /** Unix seconds: claims before, refunds from then on. */
  readonly timelock: number;
};

/** What `terms` come to on their chain. */
export type Escrow = {
  /** The escrow's address: it commits to the terms. */
  readonly address: string;
  /** Bitcoin: the witness script, hex. Others null. */
  readonly redeemScript: string | null;
};
