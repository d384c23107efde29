// Profit and loss of ended swaps, exact: each swap's is a whole number of units of its pair's quote,
// rounded down, and a sum adds those. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Deal, PaidFee } from '../journal.ts';
import { profitAt } from '../rules/price.ts';
import { dayOf } from './ledger.ts';

export const groupings = ['pair', 'day', 'counterparty', 'swap'] as const;
export type Grouping = (typeof groupings)[number];

const counted = ['received', 'refunded', 'lost', 'nothing'] as const;
type Counted = (typeof counted)[number];

/** An ended swap, as the journal or the ledger has it. */
export type Ended = Deal & { readonly end: Counted; readonly endedAt: number };

export function isEnded(deal: Deal): deal is Ended {
  return deal.swapId !== null && deal.endedAt !== null && counted.some((each) => each === deal.end);
}

export type Fees = Readonly<
  Record<string, { readonly units: BaseUnits; readonly decimals: number }>
>;

/** Swaps of one group whose profit is counted in one asset. */
export type Row = {
  /** A pair, a day of UTC, an account of the market, or a swap's id. */
  readonly key: string;
  /** The asset of `profit` and `volume`: the quote of the pair. */
  readonly asset: string;
  readonly decimals: number;
  readonly swaps: Readonly<Record<Counted, number>>;
  /** Units of quote: at the price of the agreement, and before fees. */
  readonly profit: BaseUnits;
  /** Units of quote that settled swaps moved; those of `unpriced` are not in it. */
  readonly volume: BaseUnits;
  /** Settled and lost swaps without a price: they count beside the sums. */
  readonly unpriced: number;
  /** Units of each chain's own coin, by chain. */
  readonly fees: Fees;
  /** Swaps whose fees no node has told yet: they count beside the fees. */
  readonly feesUnknown: number;
  /** The swap, if the row is one; null: it is a sum. */
  readonly swap: Pick<Ended, 'pair' | 'endedAt' | 'takerId'> | null;
};

/** Units of quote; null: no price was kept. */
export function profitOf(deal: Ended): BaseUnits | null {
  const { end, value } = deal;
  if (end === 'refunded' || end === 'nothing') return 0n;
  if (value === undefined) return null;
  return profitAt(deal, value, value.decimals, end === 'received');
}

/** `decimalsOf`: of an asset of the settings, for swaps that an older version agreed. */
export function sumsBy(by: Grouping, decimalsOf: (asset: string) => number | null) {
  const rows = new Map<string, Row>();
  return {
    add: (deal: Ended): void => {
      const asset = deal.pair.split('/')[1] ?? '';
      const decimals = deal.value?.decimals.quote ?? decimalsOf(asset) ?? 0;
      const key = keyOf(deal, by);
      const place = `${key} ${asset} ${decimals}`;
      const row = added(rows.get(place) ?? emptyRow(key, asset, decimals), deal);
      const { pair, endedAt, takerId } = deal;
      rows.set(place, by === 'swap' ? { ...row, swap: { pair, endedAt, takerId } } : row);
    },
    rows: (): Row[] =>
      [...rows.values()].sort(
        (one, other) =>
          order(one.swap?.endedAt ?? 0, other.swap?.endedAt ?? 0) ||
          order(one.key, other.key) ||
          order(one.asset, other.asset),
      ),
  };
}

function order<Key extends string | number>(one: Key, other: Key): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The sum of all, an asset a row. */
export function totalsOf(rows: readonly Row[]): Row[] {
  const totals = new Map<string, Row>();
  for (const row of rows) {
    const place = `${row.asset} ${row.decimals}`;
    const before = totals.get(place) ?? emptyRow('total', row.asset, row.decimals);
    totals.set(place, {
      ...before,
      swaps: together(before.swaps, row.swaps),
      profit: before.profit + row.profit,
      volume: before.volume + row.volume,
      unpriced: before.unpriced + row.unpriced,
      fees: feesTogether(before.fees, Object.entries(row.fees)),
      feesUnknown: before.feesUnknown + row.feesUnknown,
    });
  }
  return [...totals.values()];
}

function keyOf({ pair, endedAt, takerId, swapId }: Ended, by: Grouping): string {
  switch (by) {
    case 'pair':
      return pair;
    case 'day':
      return dayOf(endedAt);
    case 'counterparty':
      return takerId;
    case 'swap':
      return swapId ?? '';
  }
}

const none = { received: 0, refunded: 0, lost: 0, nothing: 0 };

function emptyRow(key: string, asset: string, decimals: number): Row {
  const sums = { profit: 0n, volume: 0n, unpriced: 0, fees: {}, feesUnknown: 0 };
  return { key, asset, decimals, swaps: none, ...sums, swap: null };
}

function added(row: Row, deal: Ended): Row {
  const profit = profitOf(deal);
  const isVolume = deal.end === 'received' && profit !== null;
  return {
    ...row,
    swaps: together(row.swaps, { ...none, [deal.end]: 1 }),
    profit: row.profit + (profit ?? 0n),
    volume: row.volume + (isVolume ? deal.quote : 0n),
    unpriced: row.unpriced + (profit === null ? 1 : 0),
    fees: feesTogether(row.fees, (deal.fees ?? []).map(feeOf)),
    feesUnknown: row.feesUnknown + (deal.fees === undefined ? 1 : 0),
  };
}

const feeOf = ({ chain, units, decimals }: PaidFee) => [chain, { units, decimals }] as const;

function together(one: Row['swaps'], other: Row['swaps']): Row['swaps'] {
  const sums = counted.map((each) => [each, one[each] + other[each]] as const);
  return Object.fromEntries(sums) as Row['swaps'];
}

function feesTogether(fees: Fees, more: readonly (readonly [string, Fees[string]])[]): Fees {
  const sums = { ...fees };
  for (const [chain, { units, decimals }] of more) {
    sums[chain] = { units: (sums[chain]?.units ?? 0n) + units, decimals };
  }
  return sums;
}
