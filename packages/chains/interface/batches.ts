// Many escrows of one chain settled by one transaction of anybody's: EVM and TRON.

import type { Secret } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { EvmMaterial, TronMaterial } from './material.ts';

/** An escrow and the secret that opens it, which is public. */
export type Opened = { readonly terms: EscrowTerms; readonly secret: Secret };

export type Batch =
  | { readonly verb: 'claim'; readonly legs: readonly Opened[] }
  | { readonly verb: 'refund'; readonly legs: readonly { readonly terms: EscrowTerms }[] };

export type BuiltBatch = {
  readonly material: EvmMaterial | TronMaterial;
  /** How many of them the contract would settle now: it leaves those that are not open, or
   * overdue. */
  readonly settles: number;
  /** EVM: the gas it takes now, without margin. */
  readonly gas: bigint | null;
};
