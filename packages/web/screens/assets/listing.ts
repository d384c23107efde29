// The outcome of listing requests.

import { ParleyApiError } from '@parley/sdk/errors.ts';
import type { ListingAnswer } from '@parley/sdk/types.ts';

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

/** The newest first, one a token. */
export function withAnswer(all: readonly Asked[], asked: Asked): readonly Asked[] {
  const others = all.filter(
    ({ chain, address }) => chain !== asked.chain || address !== asked.address,
  );
  return [asked, ...others];
}
