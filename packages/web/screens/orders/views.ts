// How an order is told. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Asset, Rfq } from '@parley/sdk/types.ts';

/** The creator's sides; an amount is null where quotes decide. */
type OrderSides = {
  readonly gives: { readonly assetId: string; readonly amount: BaseUnits | null };
  readonly gets: { readonly assetId: string; readonly amount: BaseUnits | null };
};

export function sidesOfOrder(rfq: Rfq): OrderSides {
  const base = { assetId: rfq.baseAssetId, amount: BigInt(rfq.baseAmount) };
  const quote = { assetId: rfq.quoteAssetId, amount: null };
  return rfq.direction === 'sell_base'
    ? { gives: base, gets: quote }
    : { gives: quote, gets: base };
}

export function isLive({ status, expiresAt }: Rfq, nowMs: number): boolean {
  return (status === 'open' || status === 'negotiating') && Date.parse(expiresAt) > nowMs;
}

/** The status by this clock: an expiry comes between two answers. */
export function statusOf(rfq: Rfq, nowMs: number): Rfq['status'] {
  const ends = rfq.status === 'open' || rfq.status === 'negotiating';
  return ends && !isLive(rfq, nowMs) ? 'expired' : rfq.status;
}

/** The swap box with the same order in it, for one that has ended. */
export function againSearch(
  rfq: Rfq,
  assets: readonly Asset[],
  amountTyped: (units: BaseUnits, asset: Asset) => string,
): Readonly<Record<string, string>> {
  const { gives, gets } = sidesOfOrder(rfq);
  const typed = (assetId: string, units: BaseUnits | null) => {
    const asset = assets.find(({ id }) => id === assetId);
    return asset === undefined || units === null ? '' : amountTyped(units, asset);
  };
  const ask = rfq.askAmount === null ? null : BigInt(rfq.askAmount);
  return {
    give: gives.assetId,
    get: gets.assetId,
    giveAmount: typed(gives.assetId, gives.amount ?? ask),
    getAmount: typed(gets.assetId, gets.amount ?? ask),
    exact: rfq.direction === 'sell_base' ? 'give' : 'get',
  };
}
