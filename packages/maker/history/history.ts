// `parley-maker CONFIG history` shows profit and fees, by pair, day, counterparty or swap, as a table
// for people, CSV or JSON. It reads the store alone, beside a maker that runs.

import { formatUnits } from '@parley/core/amounts.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { isoTime } from '@parley/sdk/people.ts';
import { csvOf } from '@parley/trader/csv.ts';
import { jsonOf } from '@parley/trader/io.ts';
import { tableOf } from '@parley/trader/show.ts';
import type { Config } from '../config/config.ts';
import { type Deal, dealIn, readJournal } from '../journal.ts';
import { floored } from '../rules/price.ts';
import { ledgerDeals } from './ledger.ts';
import { type Grouping, isEnded, type Row, sumsBy, totalsOf } from './sums.ts';

/** Lines and files that cannot be read, and are named. */
const mostTorn = 100;

export type HistoryAsked = {
  readonly by: Grouping;
  /** Ended at or after it; null: from the first. */
  readonly from: UnixSeconds | null;
  /** Ended before it; null: up to now. */
  readonly to: UnixSeconds | null;
  readonly form: 'table' | 'csv' | 'json';
};

export async function history(
  { store, assets }: Pick<Config, 'store' | 'assets'>,
  asked: HistoryAsked,
): Promise<string> {
  const { from, to, by } = asked;
  const named = new Map(assets.map(({ name, decimals }) => [name, decimals]));
  const sums = sumsBy(by, (asset) => named.get(asset) ?? null);
  const torn: string[] = [];
  let unnamed = 0;
  const tornIs = (what: string) => {
    if (torn.length < mostTorn) torn.push(what);
    else unnamed += 1;
  };
  const add = (deal: Deal) => {
    if (!isEnded(deal)) return;
    const { endedAt } = deal;
    if ((from === null || endedAt >= from) && (to === null || endedAt < to)) sums.add(deal);
  };
  // An older version has kept the last week there alone.
  const journal = await readJournal(store);
  for await (const deal of ledgerDeals(store, { read: dealIn, torn: tornIs, from })) {
    journal.delete(deal.threadId);
    add(deal);
  }
  for (const deal of journal.values()) add(deal);
  if (unnamed > 0) torn.push(`and ${unnamed} more`);
  const rows = sums.rows();
  const totals = totalsOf(rows);
  switch (asked.form) {
    case 'json':
      return jsonOf({ by, from, to, rows: rows.map(shown), totals: totals.map(shown), torn });
    case 'csv':
      return csvFor(by, rows);
    case 'table':
      return [tableFor(by, rows, totals), ...notesOn(totals, torn)].join('\n');
  }
}

const amount = (units: bigint, decimals: number) => formatUnits(units, decimals);

function feesOf({ fees }: Row): readonly (readonly [string, string])[] {
  return Object.entries(fees).map(([chain, { units, decimals }]) => [
    chain,
    amount(units, decimals),
  ]);
}

/** Whole coins as texts, and the units beside them. */
function shown(row: Row) {
  const { key, asset, decimals, swaps, profit, volume, unpriced, feesUnknown, swap } = row;
  return {
    key,
    asset,
    settled: swaps.received,
    refunded: swaps.refunded,
    lost: swaps.lost,
    nothing: swaps.nothing,
    profit: amount(profit, decimals),
    profitUnits: profit,
    volume: amount(volume, decimals),
    volumeUnits: volume,
    unpriced,
    fees: Object.fromEntries(feesOf(row)),
    feesUnknown,
    ...(swap !== null && { ...swap, endedAt: isoTime(swap.endedAt) }),
  };
}

/** A row that is one swap says also when it ended, its pair and its counterparty. */
const swapColumns = ['ended', 'pair', 'counterparty'] as const;
function swapCells({ swap }: Row): string[] {
  return swap === null ? [] : [isoTime(swap.endedAt), swap.pair, swap.takerId];
}

const columns = ['settled', 'refunded', 'lost', 'nothing'] as const;
const numbersOf = ({ swaps }: Row) =>
  [swaps.received, swaps.refunded, swaps.lost, swaps.nothing].map(String);

/** Basis points of the volume, rounded down. */
function marginOf({ profit, volume }: Row): string {
  if (volume === 0n) return '';
  return String(floored(profit * 10_000n, volume));
}

function tableFor(by: Grouping, rows: readonly Row[], totals: readonly Row[]): string {
  const more = by === 'swap' ? swapColumns : [];
  const head = [by, ...more, ...columns, 'volume', 'profit', '', 'bps', 'fees paid'];
  const lineOf = (row: Row) => [
    row.key,
    ...(row.swap === null ? more.map(() => '') : swapCells(row)),
    ...numbersOf(row),
    amount(row.volume, row.decimals),
    amount(row.profit, row.decimals),
    row.asset,
    marginOf(row),
    feesOf(row)
      .map(([chain, units]) => `${units} ${chain}`)
      .join(', '),
  ];
  if (rows.length === 0) return 'no swap has ended in that time';
  return tableOf(head, [...rows, ...totals].map(lineOf));
}

function notesOn(totals: readonly Row[], torn: readonly string[]): string[] {
  const sum = (of: (row: Row) => number) => totals.reduce((all, row) => all + of(row), 0);
  const unpriced = sum((row) => row.unpriced);
  const feesUnknown = sum((row) => row.feesUnknown);
  const notes: string[] = [];
  if (unpriced > 0) notes.push(`without a price, and not in volume and profit: ${unpriced}`);
  if (feesUnknown > 0) notes.push(`with fees that no node has told yet: ${feesUnknown}`);
  if (torn.length > 0) notes.push(`unreadable: ${torn.join(', ')}`);
  return notes;
}

function csvFor(by: Grouping, rows: readonly Row[]): string {
  const chains = [...new Set(rows.flatMap(({ fees }) => Object.keys(fees)))].sort();
  const more = by === 'swap' ? swapColumns : [];
  const head = [by, ...more, 'asset', ...columns, 'volume', 'profit', 'unpriced', 'fees_unknown'];
  const lines = rows.map((row) => {
    const fees = new Map(feesOf(row));
    const sums = [amount(row.volume, row.decimals), amount(row.profit, row.decimals)];
    const beside = [String(row.unpriced), String(row.feesUnknown)];
    const paid = chains.map((chain) => fees.get(chain) ?? '0');
    return [row.key, ...swapCells(row), row.asset, ...numbersOf(row), ...sums, ...beside, ...paid];
  });
  return csvOf([[...head, ...chains.map((chain) => `fees_${chain}`)], ...lines]);
}
