// Rows of the book: the creator's sides, its price, and those that a search leaves. Pure.

import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import type { Asset, Rfq } from '@parley/sdk/types.ts';
import { formatPrice, secondsOf } from '../texts/people.ts';
import { chainName, hasWords } from './words.ts';

export type Side = {
  readonly asset: Asset;
  /** null: quotes decide. */
  readonly amount: BaseUnits | null;
};

export type Row = {
  readonly id: string;
  readonly gives: Side;
  readonly wants: Side;
  /** Where the creator asks for one: `64 000 USDC` for each `BTC`. */
  readonly price: { readonly of: string; readonly per: string } | null;
  readonly closesAt: UnixSeconds;
};

/** The newest first, as their ids are in order of time. Those of assets that are not listed are none. */
export function rowsOf(rfqs: readonly Rfq[], assets: readonly Asset[]): Row[] {
  const byId = new Map(assets.map((asset) => [asset.id, asset]));
  const rows = rfqs.flatMap((rfq): Row[] => {
    const base = byId.get(rfq.baseAssetId);
    const quote = byId.get(rfq.quoteAssetId);
    if (base === undefined || quote === undefined) return [];
    const sold = { asset: base, amount: BigInt(rfq.baseAmount) };
    const paid = { asset: quote, amount: rfq.askAmount === null ? null : BigInt(rfq.askAmount) };
    const [gives, wants] = rfq.direction === 'sell_base' ? [sold, paid] : [paid, sold];
    const closesAt = secondsOf(rfq.expiresAt);
    return [{ id: rfq.id, gives, wants, price: priceOf(sold, paid), closesAt }];
  });
  return rows.sort((one, other) => (one.id < other.id ? 1 : -1));
}

function priceOf(base: Side, quote: Side): Row['price'] {
  if (base.amount === null || quote.amount === null || base.amount <= 0n) return null;
  const of = { units: quote.amount, decimals: quote.asset.decimals };
  const per = { units: base.amount, decimals: base.asset.decimals };
  return { of: `${formatPrice(of, per)} ${quote.asset.symbol}`, per: base.asset.symbol };
}

export function foundIn(rows: readonly Row[], search: string): readonly Row[] {
  return rows.filter(({ gives, wants }) => {
    const said = [gives.asset, wants.asset].map(
      ({ symbol, chain, address }) => `${symbol} ${chain} ${chainName(chain)} ${address}`,
    );
    return hasWords(said.join(' '), search);
  });
}
