// The account's remaining requests, as each answer tells. All keys and pages of the account spend
// it together.

import { parleyClient } from '@parley/sdk/client.ts';
import type { Fetch } from '@parley/sdk/http.ts';
import { useSyncExternalStore } from 'react';
import { ownFetch, ownSite } from '../../market/own-site.ts';

type Budget = {
  readonly limit: number;
  readonly remaining: number;
  /** Until all of it is back. */
  readonly resetSeconds: number;
};

let budget: Budget | null = null;
const listeners = new Set<() => void>();

const counted: Fetch = async (url, init) => {
  const response = await ownFetch(url, init);
  const told = (name: string) => Number(response.headers.get(`ratelimit-${name}`) ?? Number.NaN);
  const next = {
    limit: told('limit'),
    remaining: told('remaining'),
    resetSeconds: told('reset'),
  };
  if (Object.values(next).every(Number.isFinite)) {
    budget = next;
    for (const each of listeners) each();
  }
  return response;
};

/** The market, and how much more may be asked of it. */
export const countedMarket = parleyClient({ ...ownSite, fetch: counted });
export const countedSite = { ...ownSite, fetch: counted };

export function useBudget(): Budget | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => budget,
  );
}

/** A fifth: the rest is for quotes and acceptances. */
export function isLow({ limit, remaining }: Budget): boolean {
  return remaining * 5 < limit;
}
