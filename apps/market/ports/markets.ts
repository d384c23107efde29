// The questions of judge.ts to markets.

import type { ChainKey } from '@parley/core/families.ts';
import type { Finding } from '@parley/tokens/inspection.ts';

export type Token = { readonly chain: ChainKey; readonly address: string };

/** `list`: may it be listed; `keep`: may it stay, which wants a little less. */
export type Purpose = 'list' | 'keep';

/** The numbers that markets are asked for, by the names of their checks. */
export const marketChecks = [
  'capitalisation',
  'liquidity',
  'volume',
  'holders',
  'age',
  'concentration',
] as const;

export type Markets = {
  /** To keep a token it throws `market_data_unavailable` where a source is away. */
  look(
    token: Token,
    purpose: Purpose,
    signal: AbortSignal,
  ): Promise<{ readonly findings: readonly Finding[]; readonly notChecked: readonly string[] }>;
};

/** The markets where no provider is configured. */
export const noMarkets: Markets = {
  look: async () => ({ findings: [], notChecked: marketChecks }),
};
