// Rows of the console's book. While a person is in the list no row moves: new requests are counted,
// ended ones are marked as gone.

import { givenByMaker, givenByTaker } from '@parley/core/trade.ts';
import type { Asset, Rfq } from '@parley/sdk/types.ts';

export type Row = {
  readonly rfq: Rfq;
  readonly base: Asset;
  readonly quote: Asset;
  /** It left the book. */
  readonly isGone: boolean;
};

/** Asset ids; null: any. */
export type Filters = { readonly give: string | null; readonly get: string | null };

export type Shown = {
  readonly rows: readonly Row[];
  /** New ones that wait for whoever is in the list. */
  readonly held: number;
};

export type BookOf = {
  readonly rfqs: readonly Rfq[];
  readonly assets: ReadonlyMap<string, Asset>;
  readonly filters: Filters;
};

/** Newest first: ids are in order of time. A row that is as it was is the same object. */
export function shownRows(
  before: readonly Row[],
  { rfqs, assets, filters }: BookOf,
  isHeld: boolean,
): Shown {
  const known = new Map(before.map((row) => [row.rfq.id, row]));
  const fitting = new Map<string, Row>();
  for (const rfq of rfqs) {
    const base = assets.get(rfq.baseAssetId);
    const quote = assets.get(rfq.quoteAssetId);
    if (base === undefined || quote === undefined || !fits(rfq, filters)) continue;
    const old = known.get(rfq.id);
    const isSame = old?.rfq === rfq && !old.isGone && old.base === base && old.quote === quote;
    fitting.set(rfq.id, isSame ? old : { rfq, base, quote, isGone: false });
  }
  if (!isHeld) {
    const rows = [...fitting.values()].sort((a, b) => (a.rfq.id < b.rfq.id ? 1 : -1));
    return { rows, held: 0 };
  }
  const rows = before.map((row) => fitting.get(row.rfq.id) ?? asGone(row));
  const held = [...fitting.keys()].filter((id) => !known.has(id)).length;
  return { rows, held };
}

function asGone(row: Row): Row {
  return row.isGone ? row : { ...row, isGone: true };
}

function fits(rfq: Rfq, { give, get }: Filters): boolean {
  return (
    (give === null || givenByMaker(rfq) === give) && (get === null || givenByTaker(rfq) === get)
  );
}

/** The assets that can be given or got in this book, in order of name. */
export function choices(
  { rfqs, assets }: Pick<BookOf, 'rfqs' | 'assets'>,
  side: 'give' | 'get',
): readonly Asset[] {
  const ids = new Set(rfqs.map(side === 'give' ? givenByMaker : givenByTaker));
  return [...ids]
    .flatMap((id) => assets.get(id) ?? [])
    .sort((a, b) => `${a.symbol} ${a.chain}`.localeCompare(`${b.symbol} ${b.chain}`, 'en'));
}

const pageRows = 10;
const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: pageRows,
  PageUp: -pageRows,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** The row that a key leads to; null: the key leads nowhere. */
export function rowByKey(rows: readonly Row[], id: string | null, key: string): string | null {
  const step = steps[key];
  if (step === undefined || rows.length === 0) return null;
  const at = rows.findIndex((row) => row.rfq.id === id);
  const next = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step));
  return rows[next]?.rfq.id ?? null;
}
