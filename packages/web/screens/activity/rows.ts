// Swaps as rows of one's own: the amounts given and got, found by filters and by text.

import { formatUnits } from '@parley/core/amounts.ts';
import type { SwapStatus } from '@parley/core/status.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { Asset, Swap, SwapLeg } from '@parley/sdk/types.ts';

export type Side = {
  readonly leg: LegName;
  readonly chain: string;
  /** The id, if the asset is not among those known. */
  readonly symbol: string;
  readonly address: string | null;
  readonly units: bigint;
  /** null: the asset is not known. */
  readonly decimals: number | null;
  readonly of: SwapLeg;
};

export type Row = {
  readonly id: string;
  readonly swap: Swap;
  readonly gives: Side;
  readonly gets: Side;
};

export function rowOf(swap: Swap, accountId: string, assets: ReadonlyMap<string, Asset>): Row {
  const party = swap.makerId === accountId ? 'maker' : 'taker';
  const own: LegName = swap.legs.a.funder === party ? 'a' : 'b';
  const side = (leg: LegName): Side => {
    const of = swap.legs[leg];
    const asset = assets.get(of.assetId);
    const { symbol = of.assetId, address = null, decimals = null } = asset ?? {};
    return { leg, chain: of.chain, symbol, address, units: BigInt(of.amount), decimals, of };
  };
  return { id: swap.id, swap, gives: side(own), gets: side(own === 'a' ? 'b' : 'a') };
}

export const statusGroups = {
  all: null,
  open: ['agreed', 'initiator_funded', 'counterparty_funded', 'initiator_claimed'],
  settled: ['counterparty_claimed'],
  refunded: ['refunded', 'half_settled'],
  expired: ['expired'],
} as const satisfies Readonly<Record<string, readonly SwapStatus[] | null>>;

export type StatusGroup = keyof typeof statusGroups;

export type Filter = {
  readonly group: StatusGroup;
  /** Empty: any. */
  readonly chain: string;
  /** Words that must all stand somewhere in a row. */
  readonly search: string;
  /** Days here, `2026-11-27`, both included; empty: any. */
  readonly from: string;
  readonly to: string;
};

export const noFilter: Filter = { group: 'all', chain: '', search: '', from: '', to: '' };

/** The words that a search looks through: ids, assets, addresses, transactions. */
function wordsOf({ swap, gives, gets }: Row): string {
  const ofSide = ({ symbol, chain, address, of }: Side) => [
    symbol,
    chain,
    address,
    of.escrow,
    of.payoutAddress,
    of.refundAddress,
    of.fundTx,
    of.claimTx,
    of.refundTx,
  ];
  const all = [swap.id, swap.threadId, swap.rfqId, swap.hashlock, swap.status];
  return [...all, ...ofSide(gives), ...ofSide(gets)].join(' ').toLowerCase();
}

/** Begin of a day here, and of the one after it; ms. */
function dayAt(day: string, plus: number): number {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + plus).getTime();
}

export function filtered(rows: readonly Row[], filter: Filter): readonly Row[] {
  const wanted: readonly SwapStatus[] | null = statusGroups[filter.group];
  const words = filter.search.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    const { swap, gives, gets } = row;
    const at = Date.parse(swap.createdAt);
    if (wanted !== null && !wanted.includes(swap.status)) return false;
    if (filter.chain !== '' && gives.chain !== filter.chain && gets.chain !== filter.chain) {
      return false;
    }
    if (filter.from !== '' && at < dayAt(filter.from, 0)) return false;
    if (filter.to !== '' && at >= dayAt(filter.to, 1)) return false;
    if (words.length === 0) return true;
    const text = wordsOf(row);
    return words.every((word) => text.includes(word));
  });
}

/** Whole coins, exact, with a point in every locale; base units where decimals are not known. */
export function exactAmount({ units, decimals }: Pick<Side, 'units' | 'decimals'>): string {
  return decimals === null ? units.toString() : formatUnits(units, decimals);
}
