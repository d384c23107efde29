// A payment, whichever the chain.

import type { BaseUnits } from '@parley/core/nominal.ts';

export type Payment = {
  /** In its one spelling. */
  readonly to: string;
  /** Contract or mint; null: the chain's own coin. */
  readonly token: string | null;
  readonly decimals: number;
  readonly amount: BaseUnits;
};
