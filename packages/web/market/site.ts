// The market that served this app, and what its answers tell of the account's budget. Requests carry
// what only its own pages can send, and name the account that is shown: the market does nothing to
// another one.

import { parleyClient } from '@parley/sdk/client.ts';
import type { Fetch } from '@parley/sdk/http.ts';
import { QueryClient } from '@tanstack/react-query';
import { held } from '../live.ts';
import { config } from './config.ts';

type Budget = {
  readonly limit: number;
  readonly remaining: number;
  /** Until all of it is back. */
  readonly resetSeconds: number;
};

export const budget = held<Budget | null>(null);

/** Answers without the numbers, such as those of screens and files, change nothing. */
function count(headers: Headers): void {
  const told = (name: string) => Number(headers.get(`ratelimit-${name}`) ?? Number.NaN);
  const next = {
    limit: told('limit'),
    remaining: told('remaining'),
    resetSeconds: told('reset'),
  };
  if (Object.values(next).every(Number.isFinite)) budget.set(next);
}

/** A fifth: the rest is for quotes and acceptances. */
export function isLow({ limit, remaining }: Budget): boolean {
  return remaining * 5 < limit;
}

export const { shortName, productName } = config;

/**
 * The account was signed out, or another one is signed in: the data on the screen belongs to
 * neither.
 */
const gone: ReadonlySet<string | null> = new Set([
  // `/v1` answers so where the cookie is gone: its other callers have a key.
  'key_missing',
  'session_missing',
  'session_ended',
  'other_account',
]);

let shownAccount: string | null = null;
let whenGone = () => {};

/** From now on requests are for this account. */
export function show(accountId: string | null): void {
  shownAccount = accountId;
}

/** `listener` hears once that the account which was shown is not signed in here any more. */
export function onGone(listener: () => void): void {
  whenGone = listener;
}

const ownFetch: Fetch = async (url, init) => {
  // A saved copy: no market has served it, and its policy would tell of each question.
  if (window.location.protocol === 'file:') throw new TypeError('a saved copy has no market');
  const askedAs = shownAccount;
  const headers = new Headers(init.headers);
  headers.set(`x-${shortName}-request`, '1');
  if (askedAs !== null) headers.set(`x-${shortName}-account`, askedAs);
  const response = await fetch(url, { ...init, headers, credentials: 'same-origin' });
  count(response.headers);
  // An answer about an account that is shown no more says nothing of the one that is.
  if (askedAs !== null && askedAs === shownAccount) {
    if (gone.has(response.headers.get(`x-${shortName}-error`))) {
      shownAccount = null;
      whenGone();
    }
  }
  return response;
};

export const ownSite = {
  baseUrl: window.location.origin,
  fetch: ownFetch,
  shortName,
  productName,
} as const;

export const market = parleyClient(ownSite);

export const queries = new QueryClient({
  defaultOptions: {
    // The client repeats by itself what is safe to repeat.
    queries: { retry: false, staleTime: 2_000 },
    mutations: { retry: false },
  },
});
