// How an order is told. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Rfq } from '@parley/sdk/types.ts';

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
