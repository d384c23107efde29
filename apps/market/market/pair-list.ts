// The pairs that are traded: those with public agreements of the last day that both sides funded,
// and those with levels. A pair has the asset with the lower id as its base, whoever named it how.

import { type Agreement, fundedLately } from '../db/agreements.ts';
import type { Tx } from '../db/database.ts';
import { type QuotedPair, quotedPairs, stored } from '../db/levels.ts';
import {
  levelsWeighed,
  mostPairsShown,
  mostPairsWalked,
  mostSwapsWalked,
  priceWindowSeconds,
} from './bounds.ts';
import { medianOf, turn } from './prices.ts';

export type TradedPair = QuotedPair & {
  readonly median: Agreement | null;
  readonly agreements: number;
};

/** Those of verified assets first, then by agreements, then by makers. */
export async function readPairs(tx: Tx, nowMs: number): Promise<TradedPair[]> {
  const now = new Date(nowMs);
  const since = new Date(nowMs - priceWindowSeconds * 1_000);
  const [quoted, traded] = await Promise.all([
    quotedPairs(tx, { now, walked: mostPairsWalked, weighed: levelsWeighed }),
    fundedLately(tx, { since, walked: mostSwapsWalked }),
  ]);
  const agreed = Map.groupBy(traded.map(asStored), keyOf);
  const pairs = new Map<string, QuotedPair>();
  for (const [key, agreements] of agreed) {
    const { low, high, isVerified } = agreements[0]!;
    pairs.set(key, { low, high, isVerified, bid: null, ask: null, makers: 0 });
  }
  for (const each of quoted) pairs.set(keyOf(each), each);
  return [...pairs]
    .map(([key, pair]) => {
      const agreements = agreed.get(key) ?? [];
      return { ...pair, median: medianOf(agreements), agreements: agreements.length };
    })
    .sort(byFame)
    .slice(0, mostPairsShown);
}

type Traded = Awaited<ReturnType<typeof fundedLately>>[number];

const keyOf = ({ low, high }: Pick<QuotedPair, 'low' | 'high'>) => `${low} ${high}`;

function asStored(agreement: Traded) {
  const { low, high, baseIsLow } = stored(agreement);
  const { isVerified } = agreement;
  return { low, high, isVerified, ...(baseIsLow ? agreement : turn(agreement)) };
}

/** An operator has verified assets; an agreement costs fees, and a level nothing. */
function byFame(one: TradedPair, other: TradedPair): number {
  return (
    Number(other.isVerified) - Number(one.isVerified) ||
    other.agreements - one.agreements ||
    other.makers - one.makers ||
    (keyOf(one) < keyOf(other) ? -1 : 1)
  );
}
