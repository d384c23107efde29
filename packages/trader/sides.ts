// The payments of both sides in a trade, by its party and direction.

import type { OwnTrade } from '@parley/sdk/trade.ts';
import type { OwnAsset } from './assets.ts';

export type Sides = {
  readonly gives: { readonly own: OwnAsset; readonly amount: bigint };
  readonly gets: { readonly own: OwnAsset; readonly amount: bigint };
};

export function sidesOf(
  trade: Pick<OwnTrade, 'party' | 'direction' | 'baseAmount' | 'quoteAmount'>,
  assets: { readonly base: OwnAsset; readonly quote: OwnAsset },
): Sides {
  const base = { own: assets.base, amount: trade.baseAmount };
  const quote = { own: assets.quote, amount: trade.quoteAmount };
  return givesBase(trade) ? { gives: base, gets: quote } : { gives: quote, gets: base };
}

type OnChain = { readonly chain: string };

export function givesBase({ party, direction }: Pick<OwnTrade, 'party' | 'direction'>): boolean {
  return (direction === 'sell_base') === (party === 'taker');
}

export function chainsIn(
  trade: Pick<OwnTrade, 'party' | 'direction'> & Readonly<Record<'base' | 'quote', OnChain>>,
): { readonly gives: string; readonly gets: string } {
  const { base, quote } = trade;
  const [gives, gets] = givesBase(trade) ? [base, quote] : [quote, base];
  return { gives: gives.chain, gets: gets.chain };
}
