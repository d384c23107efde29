// Why an asset is closed to trade. Pure.

import type { Asset, MarketStatus } from '@parley/sdk/types.ts';
import { plainSymbol } from './tokens.ts';

/** `since` is RFC 3339; null: the market does not say. */
export type Closing = {
  readonly by: 'chain' | 'asset' | 'other';
  readonly since: string | null;
};

export type Closable = Pick<Asset, 'chain' | 'symbol' | 'enabled'>;

type Chain = Pick<MarketStatus['chains'][number], 'chain' | 'haltedSince'>;

/** null: it is open. `chains`, `halted`: undefined where the market did not answer. */
export function closingOf(
  { chain, symbol, enabled }: Closable,
  chains: readonly Chain[] = [],
  halted: readonly { readonly chain: string; readonly symbol: string }[] = [],
): Closing | null {
  if (enabled) return null;
  const since = chains.find((each) => each.chain === chain)?.haltedSince ?? null;
  if (since !== null) return { by: 'chain', since };
  const isHalted = halted.some(
    (each) => each.chain === chain && plainSymbol(each.symbol) === symbol,
  );
  return { by: isHalted ? 'asset' : 'other', since: null };
}
