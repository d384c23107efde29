// The transactions that the market sends with its own gas, by chain: claims for a party that asks,
// and fundings that their funder signed. It has bounds, and may refuse.

import { useQuery } from '@tanstack/react-query';
import { market } from './client.ts';

export type Sends = { readonly claims: boolean; readonly fundings: boolean };

const askMs = 30_000;

/** A market that is silent sends nothing. */
export function useSends(): (chain: string) => Sends {
  const { data, error } = useQuery({
    queryKey: ['market sends'],
    queryFn: ({ signal }) => market.status({ signal }),
    staleTime: askMs,
    refetchInterval: askMs,
  });
  return (chain) => {
    const found = error === null ? data?.chains.find((each) => each.chain === chain) : undefined;
    const { sendsClaims: claims = false, sendsFundings: fundings = false } = found ?? {};
    return { claims, fundings };
  };
}
