// The outcome of listing requests, kept in this browser, so that a person can come back to it.

import { ParleyApiError } from '@parley/sdk/errors.ts';
import type { ListingAnswer } from '@parley/sdk/types.ts';
import { recalled, remember } from '../../texts/remembered.ts';

export type Asked = {
  readonly chain: string;
  readonly address: string;
  /** RFC 3339 */
  readonly at: string;
  readonly status: 'listed' | 'pending' | 'closed' | 'refused';
  /** The symbol of a listed token. */
  readonly symbol: string | null;
  /** Each begins with the name of its check. */
  readonly reasons: readonly string[];
  readonly notChecked: readonly string[];
};

type Token = Pick<Asked, 'chain' | 'address'>;

export function answered(token: Token, answer: ListingAnswer, at: string): Asked {
  const { notChecked = [] } = answer;
  if (answer.status === 'listed') {
    const { symbol } = answer.asset;
    return { ...token, at, status: 'listed', symbol, reasons: [], notChecked };
  }
  const { status, reasons } = answer;
  return { ...token, at, status, symbol: null, reasons, notChecked };
}

/** null: it is no decision about the token. */
export function refused(token: Token, error: unknown, at: string): Asked | null {
  if (!(error instanceof ParleyApiError)) return null;
  if (error.code !== 'token_rejected' && error.code !== 'asset_delisted') return null;
  const { reasons } = error;
  return { ...token, at, status: 'refused', symbol: null, reasons, notChecked: [] };
}

const mostKept = 50;
const name = (accountId: string) => `parley.listings.${accountId}`;

const isAsked = (value: unknown): value is Asked => {
  const { chain, address, at, status, reasons, notChecked } = (value ?? {}) as Partial<Asked>;
  const texts = [chain, address, at, status].every((each) => typeof each === 'string');
  return texts && Array.isArray(reasons) && Array.isArray(notChecked);
};

export function keptListings(accountId: string): readonly Asked[] {
  try {
    const found: unknown = JSON.parse(recalled('localStorage', name(accountId)) ?? '[]');
    return Array.isArray(found) ? found.filter(isAsked).slice(0, mostKept) : [];
  } catch {
    return [];
  }
}

export function keepListings(accountId: string, all: readonly Asked[]): void {
  remember('localStorage', name(accountId), JSON.stringify(all.slice(0, mostKept)));
}

/** The newest first, one a token. */
export function withAnswer(all: readonly Asked[], asked: Asked): readonly Asked[] {
  return [asked, ...without(all, asked)].slice(0, mostKept);
}

export function without(all: readonly Asked[], { chain, address }: Token): readonly Asked[] {
  return all.filter((each) => each.chain !== chain || each.address !== address);
}
