// The lanes of a chain whose escrows lie in contracts. Only EVM and TRON have them. A lane is its
// funder's, or its payee's where the top bit of its number is set: a payee's first lanes are paid
// for, so the first swap of a person costs less there.

import type { EscrowTerms, Lane } from '@parley/core/terms.ts';
import type { TypedData } from './material.ts';

export const isOfPayee = ({ number }: Pick<Lane, 'number'>): boolean => number >= '8';

/** The address whose lane the terms name. Theirs must name one. */
export function laneOwner({ lane, payout, refund }: EscrowTerms): string {
  return (lane !== undefined && isOfPayee(lane) ? payout : refund).address;
}

export type LaneState = {
  /** That of its last escrow; 0: never used. The next funding must bring one more. */
  readonly counter: number;
  readonly isOpen: boolean;
};

/** The lanes of a chain whose escrows lie in contracts, each of which has words of its own. */
export type Lanes = {
  /** All that may hold money. */
  readonly contracts: readonly string[];
  /** Those of them that take new escrows. */
  readonly open: readonly string[];
  /** The one of `open` that a new escrow of this funder goes to. */
  contractFor(funder: string): string;
  /** Signed by the payout address, lets the funder open this escrow in a lane of the payee's. Pure. */
  consent(terms: EscrowTerms): TypedData;
  /** Throws `bad_signature` unless it is the payee's over `consent`. Pure. */
  mustOpen(terms: EscrowTerms, laneSignature: string): void;
  /** Lanes of one owner in a contract by their numbers (`Lane.number`), at most 100. */
  read(
    of: { readonly contract: string; readonly owner: string },
    numbers: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly LaneState[]>;
};
