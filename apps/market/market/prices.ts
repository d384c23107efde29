// The recent prices of a pair, by public agreements that both sides funded.

import { type Agreement, fundedAgreements } from '../db/agreements.ts';
import type { Tx } from '../db/database.ts';
import { leastAgreements, mostWalked, priceAgreements, priceWindowSeconds } from './bounds.ts';

export type PairPrices = {
  /** Newest first. */
  readonly agreements: readonly Agreement[];
  /** The middle one by price, the lower of two; null of too few. */
  readonly median: Agreement | null;
};

/** In the orientation that is asked for: an RFQ may have named the pair the other way round. */
export async function readPrices(
  tx: Tx,
  baseAssetId: string,
  quoteAssetId: string,
  nowMs: number,
): Promise<PairPrices> {
  const since = new Date(nowMs - priceWindowSeconds * 1_000);
  const limits = { since, walked: mostWalked, limit: priceAgreements };
  const [same, turned] = await Promise.all([
    fundedAgreements(tx, { baseAssetId, quoteAssetId, ...limits }),
    fundedAgreements(tx, { baseAssetId: quoteAssetId, quoteAssetId: baseAssetId, ...limits }),
  ]);
  const agreements = [...same, ...turned.map(turn)]
    .sort((a, b) => b.agreedAt.getTime() - a.agreedAt.getTime())
    .slice(0, priceAgreements);
  return { agreements, median: medianOf(agreements) };
}

/** As if its RFQ had named the pair the other way round. */
export function turn({ direction, baseAmount, quoteAmount, agreedAt }: Agreement): Agreement {
  return {
    direction: direction === 'sell_base' ? 'buy_base' : 'sell_base',
    baseAmount: quoteAmount,
    quoteAmount: baseAmount,
    agreedAt,
  };
}

export function medianOf(agreements: readonly Agreement[]): Agreement | null {
  if (agreements.length < leastAgreements) return null;
  return middleOf(agreements.toSorted(byPrice));
}

/** The lower one of two; null of none. */
export function middleOf(sorted: readonly Agreement[]): Agreement | null {
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}

/** The lowest price first. */
export function byPrice(a: Agreement, b: Agreement): number {
  const difference = a.quoteAmount * b.baseAmount - b.quoteAmount * a.baseAmount;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
