// The assets that are traded here, curated ones first.

import { useQuery } from '@tanstack/react-query';
import type { Asset } from '../../sdk/types.ts';
import { market } from './client.ts';

/** Pages of 100: a list that somebody could make endless is not read to its end. */
const mostPages = 20;

async function allAssets(signal: AbortSignal): Promise<Asset[]> {
  const found: Asset[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const more = cursor === undefined ? {} : { cursor };
    const answer = await market.keyless.assets({ limit: 100, ...more }, { signal });
    found.push(...answer.assets);
    if (answer.nextCursor === null) break;
    cursor = answer.nextCursor;
  }
  return found.sort((one, other) => Number(other.verified) - Number(one.verified));
}

export function useAssets() {
  return useQuery({
    queryKey: ['assets'],
    queryFn: ({ signal }) => allAssets(signal),
    staleTime: 60_000,
  });
}
