// Requests of this page to the market that served it. They carry what only its own pages can send,
// and name the account that is shown: the market does nothing to another one.

import type { Fetch } from '@parley/sdk/http.ts';
import { count } from './budget.ts';
import { config } from './config.ts';

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
