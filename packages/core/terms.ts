// The terms that an escrow commits to. Two parties that agree on these values derive the same
// escrow.

import type { ChainKey } from './families.ts';
import type { Hashlock } from './hashlock.ts';
import type { BaseUnits, UnixSeconds } from './nominal.ts';

/** Where money goes: an address, and on Bitcoin the compressed key (66 hex) that spends. */
export type Destination = {
  readonly address: string;
  readonly pubkey: string | null;
  /** Bitcoin: the side asks for an escrow of Taproot. */
  readonly form?: 'p2tr';
};

/** Taproot where both sides ask for it: a wallet that signs no leaves could not spend. */
export function formOf(payout: Destination, refund: Destination): Pick<EscrowTerms, 'form'> {
  return payout.form === 'p2tr' && refund.form === 'p2tr' ? { form: 'p2tr' } : {};
}

/** The storage word of the funder that an escrow takes, where a contract holds many escrows. */
export type Lane = {
  /** The contract that the word is in, in the family's own form; absent: the chain's first one. */
  readonly contract?: string;
  /** Below 2^96, as 24 hex digits. */
  readonly number: string;
  /** The how-manieth escrow of the word: from 1 to 2^30 - 1. */
  readonly counter: number;
};

export type EscrowTerms = {
  readonly chain: ChainKey;
  readonly hashlock: Hashlock;
  readonly payout: Destination;
  /** The funder, to whom a refund goes. */
  readonly refund: Destination;
  /** Token contract; null = the chain's native coin. */
  readonly token: string | null;
  readonly amount: BaseUnits;
  /** Claims before, refunds from then on. */
  readonly timelock: UnixSeconds;
  /** Where a contract holds many escrows: a funding from then on is refused. */
  readonly fundBefore?: UnixSeconds;
  /** There too; absent until one is reserved. */
  readonly lane?: Lane;
  /** Bitcoin: the Taproot form, where both sides asked for it. Absent: P2WSH. */
  readonly form?: 'p2tr';
};

export type Escrow = {
  /** The escrow's address: it commits to the terms. */
  readonly address: string;
  /**
   * Bitcoin: the witness script in hex, and of the form `p2tr` the output descriptor (BIP 380).
   * Others null.
   */
  readonly redeemScript: string | null;
};
