// The assets that are traded here, those first that the app itself knows. `verified` is the app's
// word: a market's own is taken on dev networks alone.

import { pageLimit } from '@parley/core/limits.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { market } from './client.ts';
import { config } from './config.ts';
import { plainSymbol } from './symbols.ts';
import { isVerified } from './tokens.ts';

/** Pages of 100: a list that somebody could make endless is not read to its end. */
const mostPages = 20;

async function allAssets(signal: AbortSignal): Promise<Asset[]> {
  const found: Asset[] = [];
  const page = (from: object) =>
    market.keyless.assets({ limit: pageLimit.most, ...from }, { signal });
  for await (const { assets } of pagesOf(mostPages, page)) found.push(...assets.map(known));
  return found.sort((one, other) => Number(other.verified) - Number(one.verified));
}

function known(asset: Asset): Asset {
  const symbol = plainSymbol(asset.symbol);
  return { ...asset, symbol, verified: isVerified(asset, config.chains, config.network) };
}

export function useAssets() {
  return useQuery({
    queryKey: ['assets'],
    queryFn: ({ signal }) => allAssets(signal),
    staleTime: 60_000,
  });
}
