// The market's figures of a pair: the prices of recent trades, the prices at which makers say that
// they would quote, and the costs of a trade.

import type { PairPrice } from '@parley/sdk/types.ts';
import { skipToken, useQuery } from '@tanstack/react-query';
import { market } from './client.ts';
import { type Price, priceIn } from './prices.ts';

type PairIds = { readonly baseAssetId: string; readonly quoteAssetId: string };

/** null: no request yet. */
export function usePrice(ids: PairIds | null) {
  return useQuery({
    queryKey: ['pair price', ids],
    queryFn: ids === null ? skipToken : ({ signal }) => market.keyless.pairPrice(ids, { signal }),
    staleTime: 15_000,
    refetchInterval: 30_000,
  });
}

/** The middle one of recent agreements; null where there are too few, or none is known. */
export function priceOf(answer: PairPrice | undefined): Price | null {
  const median = answer?.median ?? null;
  return median && priceIn(median);
}

/** One of the best is chosen by the maker behind it. */
const mostLevels = 20;

/** Prices that makers publish. `query` is that of `GET /market/levels`; null: no request yet. */
export function useLevels(query: Parameters<typeof market.keyless.levels>[0] | null) {
  return useQuery({
    queryKey: ['levels', query],
    queryFn:
      query === null
        ? skipToken
        : ({ signal }) => market.keyless.levels({ ...query, limit: mostLevels }, { signal }),
    staleTime: 5_000,
    refetchInterval: 10_000,
  });
}

/** `query` is that of `GET /market/pairs`; null: no request yet. */
export function usePair(query: Parameters<typeof market.keyless.pair>[0] | null) {
  return useQuery({
    queryKey: ['pair', query],
    queryFn: query === null ? skipToken : ({ signal }) => market.keyless.pair(query, { signal }),
    staleTime: 15_000,
    placeholderData: (before) => before,
  });
}
