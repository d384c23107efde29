// What the market tells of a pair: what it was traded at of late, and what a trade costs.

import { skipToken, useQuery } from '@tanstack/react-query';
import type { PairPrice } from '../../sdk/types.ts';
import { market } from './client.ts';
import type { Price } from './prices.ts';

export type PairIds = { readonly baseAssetId: string; readonly quoteAssetId: string };

/** null: nothing is asked yet. */
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
  if (median === null) return null;
  const price = {
    baseAmount: BigInt(median.baseAmount),
    quoteAmount: BigInt(median.quoteAmount),
  };
  return price.baseAmount > 0n && price.quoteAmount > 0n ? price : null;
}

/** `query`: of `GET /market/pairs`; null: nothing is asked yet. */
export function usePair(query: Parameters<typeof market.keyless.pair>[0] | null) {
  return useQuery({
    queryKey: ['pair', query],
    queryFn: query === null ? skipToken : ({ signal }) => market.keyless.pair(query, { signal }),
    staleTime: 15_000,
    placeholderData: (before) => before,
  });
}
