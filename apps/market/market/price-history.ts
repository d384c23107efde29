// The prices of a pair over days: public agreements that both sides funded, in buckets of
// equal length. The buckets begin at whole multiples, so that two answers have the same ones.

import { type Agreement, fundedInBuckets } from '../db/agreements.ts';
import type { Tx } from '../db/database.ts';
import { historyDays, historyPoints, walkedOfPoint } from './bounds.ts';
import { byPrice, middleOf, turn } from './prices.ts';

const daySeconds = 86_400;

/** Several lengths of days share one reading. */
type Span = { readonly days: number; readonly bucketSeconds: number };
const spans: readonly Span[] = [
  { days: 2, bucketSeconds: 900 },
  { days: 8, bucketSeconds: 3_600 },
  { days: historyDays, bucketSeconds: 14_400 },
];

export function spanOf(days: number): Span {
  return spans.find((each) => days <= each.days) ?? spans.at(-1)!;
}

export type Point = {
  /** Unix seconds: when its bucket begins. */
  readonly at: number;
  /** The middle one by price, the lower of two. */
  readonly median: Agreement;
  readonly low: Agreement;
  readonly high: Agreement;
  readonly count: number;
};

/** Oldest first; a bucket without an agreement has no point. */
export async function readHistory(
  tx: Tx,
  baseAssetId: string,
  quoteAssetId: string,
  { days, bucketSeconds: seconds }: Span,
  nowMs: number,
): Promise<Point[]> {
  const until = Math.floor(nowMs / 1_000 / seconds) * seconds;
  const of = { from: firstBucket(until, days, seconds), until, seconds, walked: walkedOfPoint };
  const [same, turned] = await Promise.all([
    fundedInBuckets(tx, { baseAssetId, quoteAssetId }, of),
    fundedInBuckets(tx, { baseAssetId: quoteAssetId, quoteAssetId: baseAssetId }, of),
  ]);
  const all = [...same, ...turned.map((each) => ({ ...turn(each), at: each.at }))];
  const buckets = Map.groupBy(all, ({ at }) => at);
  return [...buckets].map(([at, found]) => pointOf(at, found)).sort((a, b) => a.at - b.at);
}

function firstBucket(until: number, days: number, seconds: number): number {
  return until - Math.min((days * daySeconds) / seconds, historyPoints - 1) * seconds;
}

/** Those of the last `days`; the bucket in which they begin is among them. */
export function since(points: readonly Point[], days: number, nowMs: number): Point[] {
  const { bucketSeconds } = spanOf(days);
  const from = nowMs / 1_000 - days * daySeconds - bucketSeconds;
  return points.filter(({ at }) => at > from);
}

function pointOf(at: number, found: readonly Agreement[]): Point {
  const sorted = found.toSorted(byPrice);
  return {
    at,
    median: middleOf(sorted)!,
    low: sorted[0]!,
    high: sorted.at(-1)!,
    count: sorted.length,
  };
}
