// A spend of a Bitcoin escrow of Taproot that both sides sign together (bitcoin/musig.ts).

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { SpendInput } from './building.ts';

export type SpendTogether = {
  readonly verb: 'claim' | 'refund';
  readonly outputs: readonly {
    readonly txid: string;
    readonly vout: number;
    readonly amount: BaseUnits;
  }[];
  readonly feeSats: BaseUnits;
};

export type Cosigning = {
  /**
   * The payments that it takes and its fee, as of a claim or refund by one side; a refund may come
   * before the timelock. Throws `nothing_there`, and `bad_field` on an escrow of P2WSH.
   */
  planTogether(
    input: SpendInput,
    verb: SpendTogether['verb'],
    signal: AbortSignal,
  ): Promise<SpendTogether>;
};
