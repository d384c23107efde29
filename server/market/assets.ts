// Assets: what may be traded. Curated ones come from the settings or the dev network at start.

import type { ChainKey } from '../../core/families.ts';

export type Asset = {
  readonly id: string;
  readonly chain: ChainKey;
  readonly symbol: string;
  /** Token contract in canonical form; null = the chain's native asset. */
  readonly address: string | null;
  readonly decimals: number;
  readonly enabled: boolean;
  readonly verified: boolean;
  readonly source: string;
  /** Base units from which the chain's high-value depth applies; null = never. */
  readonly highValueFrom: bigint | null;
};
