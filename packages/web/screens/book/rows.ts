// A row of the book. Pure: the creator's sides, its price, the rows that the filters leave.

import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import type { Asset, Rfq } from '@parley/sdk/types.ts';
import { formatPrice, secondsOf } from '../../texts/people.ts';

export type Side = {
  /** undefined: the market lists it no more, or has not answered. */
  readonly asset: Asset | undefined;
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
  readonly isMine: boolean;
};

/** A chain, and a part of the names of both assets; empty leaves all. */
export type Filter = { readonly chain: string; readonly word: string };

/**
 * In the order of the market: the newest first. Requests that have ended meanwhile are left out.
 */
export function rowsOf(
  rfqs: readonly Rfq[],
  assets: readonly Asset[],
  { mine, now }: { readonly mine: string | null; readonly now: UnixSeconds },
): Row[] {
  const byId = new Map(assets.map((asset) => [asset.id, asset]));
  return rfqs.flatMap((rfq) => {
    const closesAt = secondsOf(rfq.expiresAt);
    if (closesAt <= now) return [];
    const ask = rfq.askAmount === null ? null : BigInt(rfq.askAmount);
    const base = { asset: byId.get(rfq.baseAssetId), amount: BigInt(rfq.baseAmount) };
    const quote = { asset: byId.get(rfq.quoteAssetId), amount: ask };
    const [gives, wants] = rfq.direction === 'sell_base' ? [base, quote] : [quote, base];
    const isMine = rfq.creatorId === mine;
    return [{ id: rfq.id, gives, wants, price: priceOf(base, quote), closesAt, isMine }];
  });
}

function priceOf(base: Side, quote: Side): Row['price'] {
  if (base.asset === undefined || quote.asset === undefined) return null;
  if (base.amount === null || quote.amount === null || base.amount <= 0n) return null;
  const of = { units: quote.amount, decimals: quote.asset.decimals };
  const per = { units: base.amount, decimals: base.asset.decimals };
  return { of: `${formatPrice(of, per)} ${quote.asset.symbol}`, per: base.asset.symbol };
}

export function filtered(rows: readonly Row[], { chain, word }: Filter): Row[] {
  const wanted = word.trim().toLowerCase();
  return rows.filter(({ gives, wants }) => {
    const sides = [gives.asset, wants.asset];
    const isOnChain = chain === '' || sides.some((asset) => asset?.chain === chain);
    const isNamed =
      wanted === '' ||
      sides.some(
        (asset) =>
          asset?.symbol.toLowerCase().includes(wanted) || asset?.address?.toLowerCase() === wanted,
      );
    return isOnChain && isNamed;
  });
}
