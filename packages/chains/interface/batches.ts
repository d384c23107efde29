// Many escrows of one chain funded by one transaction of their funder, or settled by one of
// anybody's: EVM and TRON.

import type { Secret } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { EvmMaterial, TronMaterial } from './material.ts';

/** An escrow and the secret that opens it, which is public. */
export type Opened = { readonly terms: EscrowTerms; readonly secret: Secret };

export type Batch =
  /** By one funder, in lanes of its own; all or none. */
  | { readonly verb: 'fund'; readonly legs: readonly { readonly terms: EscrowTerms }[] }
  | { readonly verb: 'claim'; readonly legs: readonly Opened[] }
  | { readonly verb: 'refund'; readonly legs: readonly { readonly terms: EscrowTerms }[] };

export type BuiltBatch = {
  readonly material: EvmMaterial | TronMaterial;
  /** How many of them the contract would fund or settle now: it leaves those that are not open, are
   * overdue, or whose payment fails. */
  readonly settles: number;
  /** EVM: the most gas that it may take, or a funding now; null where approvals come before it. */
  readonly gas: bigint | null;
};
