// Recent agreements of several pairs at once.

import type { PairPrice } from '@parley/sdk/types.ts';
import { useQueries } from '@tanstack/react-query';
import { type Pair, pairKey } from '../../market/pairs.ts';
import { market } from '../../market/site.ts';

/** More pairs than that are not compared: each is a request every half minute. */
const mostPairs = 16;

/** By `pairKey`; a pair is absent as long as the market has not answered. */
export function useRecent(pairs: readonly Pair[]): ReadonlyMap<string, PairPrice> {
  const asked = [...new Map(pairs.map((pair) => [pairKey(pair), pair]))].slice(0, mostPairs);
  const answers = useQueries({
    queries: asked.map(([, { base, quote }]) => {
      const ids = { baseAssetId: base.id, quoteAssetId: quote.id };
      return {
        queryKey: ['pair price', ids],
        queryFn: ({ signal }: { signal: AbortSignal }) => market.keyless.pairPrice(ids, { signal }),
        staleTime: 15_000,
        refetchInterval: 30_000,
      };
    }),
  });
  const found = new Map<string, PairPrice>();
  for (const [at, [key]] of asked.entries()) {
    const data = answers[at]?.data;
    if (data !== undefined) found.set(key, data);
  }
  return found;
}
