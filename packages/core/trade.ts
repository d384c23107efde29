// The two sides of a trade. Leg `a` is funded by the maker, `b` by the taker; the long leg's funder
// holds the secret.

import type { BaseUnits } from './nominal.ts';

export const directions = ['sell_base', 'buy_base'] as const;
export const parties = ['maker', 'taker'] as const;
export const roles = ['initiator', 'counterparty'] as const;
export const legNames = ['a', 'b'] as const;
export const rfqStatuses = ['open', 'negotiating', 'agreed', 'cancelled', 'expired'] as const;
export const threadStatuses = ['open', 'agreed', 'closed'] as const;

export type Direction = (typeof directions)[number];
export type Party = (typeof parties)[number];
export type Role = (typeof roles)[number];
export type LegName = (typeof legNames)[number];

/** The amounts that each side hands over. Amounts in base units of their asset. */
export type Exchange = {
  readonly a: { readonly assetId: string; readonly amount: BaseUnits };
  readonly b: { readonly assetId: string; readonly amount: BaseUnits };
};

/** The asset the RFQ's creator gives: base when it sells base, quote when it buys. */
export function givenByTaker(rfq: {
  direction: Direction;
  baseAssetId: string;
  quoteAssetId: string;
}): string {
  return rfq.direction === 'sell_base' ? rfq.baseAssetId : rfq.quoteAssetId;
}

export function givenByMaker(rfq: {
  direction: Direction;
  baseAssetId: string;
  quoteAssetId: string;
}): string {
  return rfq.direction === 'sell_base' ? rfq.quoteAssetId : rfq.baseAssetId;
}

/** Both legs' assets and amounts at a price of `quoteAmount`. */
export function exchange(rfq: {
  direction: Direction;
  baseAssetId: string;
  baseAmount: BaseUnits;
  quoteAssetId: string;
  quoteAmount: BaseUnits;
}): Exchange {
  const base = { assetId: rfq.baseAssetId, amount: rfq.baseAmount };
  const quote = { assetId: rfq.quoteAssetId, amount: rfq.quoteAmount };
  return rfq.direction === 'sell_base' ? { a: quote, b: base } : { a: base, b: quote };
}

export function otherLeg(leg: LegName): LegName {
  return leg === 'a' ? 'b' : 'a';
}

export function funderOf(leg: LegName): Party {
  return leg === 'a' ? 'maker' : 'taker';
}

/** The party that holds the secret, from which leg is long. */
export function initiatorOf(long: LegName): Party {
  return funderOf(long);
}

export function roleOf(party: Party, long: LegName): Role {
  return initiatorOf(long) === party ? 'initiator' : 'counterparty';
}
