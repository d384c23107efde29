// The lines of `watch`, which fit a terminal. Pure: view, swaps, size and time are given.

import type { Millis } from '@parley/core/nominal.ts';
import { formatAmount, fromNow } from '@parley/sdk/people.ts';
import { oneLine, tableOf } from '@parley/trader/show.ts';
import type { SwapView } from './swaps.ts';
import { type AssetView, isOfNow, type PairView, type QuoteView, type View } from './view.ts';

export type Tone = 'title' | 'head' | 'plain' | 'bad';
export type Line = { readonly text: string; readonly tone: Tone };

export type Shown = {
  /** null: no maker has written one. */
  readonly view: View | null;
  readonly swaps: readonly SwapView[];
  /** By the machine's clock, and by the clock of chains. */
  readonly nowMs: Millis;
  readonly chainNowMs: Millis;
};

export type Size = { readonly columns: number; readonly rows: number };

/** A deadline that is nearer is shown in red. */
const nearSeconds = 600;
/** Longer names of assets and pairs are cut on a narrow screen, and decimals on any. */
const mostName = 20;
const narrowColumns = 110;
const mostDecimals = 6;
/** Title and last line. */
const frameRows = 2;

/** `isStream`: older rows are left out without a word. */
type Section = {
  readonly head: Line;
  readonly rows: readonly Line[];
  readonly isStream?: boolean;
};

/** `size` null: all of it, as for a file. */
export function screenOf(shown: Shown, size: Size | null, help: string): Line[] {
  const { view } = shown;
  const brief = briefly(size);
  const title: Line = { text: titleOf(shown), tone: isWell(shown) ? 'title' : 'bad' };
  const sections = [
    ...(view === null
      ? []
      : [pairsOf(view, brief), quotesOf(view, shown, brief), exposureOf(view, brief)]),
    swapsOf(shown, brief),
    ...(view === null ? [] : [eventsOf(view, size !== null)]),
  ];
  const most = size === null ? null : Math.max(0, size.rows - frameRows - sections.length);
  const shares = sharesOf(
    sections.map(({ rows }) => rows.length),
    most,
  );
  const body = sections.flatMap((each, at) => [each.head, ...cutTo(each, shares[at] ?? 0)]);
  const all = [title, ...body, ...(help === '' ? [] : [{ text: help, tone: 'plain' } as const])];
  if (size === null) return all;
  return all
    .slice(0, size.rows)
    .map((line) => ({ ...line, text: fitted(line.text, size.columns) }));
}

/** A row each in turn, until all rows are given or all sections have theirs. */
function sharesOf(wanted: readonly number[], most: number | null): number[] {
  if (most === null) return [...wanted];
  const shares = wanted.map(() => 0);
  let left = most;
  while (left > 0 && shares.some((share, at) => share < (wanted[at] ?? 0))) {
    for (const [at, want] of wanted.entries()) {
      if (left === 0 || (shares[at] ?? 0) >= want) continue;
      shares[at] = (shares[at] ?? 0) + 1;
      left -= 1;
    }
  }
  return shares;
}

function cutTo({ rows, isStream = false }: Section, most: number): Line[] {
  if (rows.length <= most || isStream) return rows.slice(0, most);
  if (most === 0) return [];
  const more = rows.length - most + 1;
  return [...rows.slice(0, most - 1), { text: `  … ${more} more`, tone: 'plain' }];
}

type Brief = (name: string) => string;

function briefly(size: Size | null): Brief {
  if (size === null || size.columns >= narrowColumns) return (name) => name;
  const cut = (name: string, most: number) =>
    name.length <= most ? name : `${name.slice(0, most - 1)}…`;
  return (name) => {
    if (name.length <= mostName) return name;
    const parts = name.split('/');
    return parts.map((part) => cut(part, mostName / parts.length)).join('/');
  };
}

const amountOf = (units: bigint, decimals: number) =>
  formatAmount(units, decimals, { locale: 'en', most: Math.min(mostDecimals, decimals) });

function fitted(text: string, columns: number): string {
  const characters = [...oneLine(text)];
  return characters.length <= columns
    ? characters.join('')
    : `${characters.slice(0, Math.max(0, columns - 1)).join('')}…`;
}

const runs = ({ view, nowMs }: Shown) => view !== null && isOfNow(view, nowMs);
const isWell = (shown: Shown) => runs(shown) && shown.view?.mode === 'open' && shown.view.isLive;

function titleOf(shown: Shown): string {
  const { view, nowMs } = shown;
  const time = `${new Date(nowMs).toISOString().slice(11, 19)} UTC`;
  if (view === null) return `parley-maker: no maker has run with these settings   ${time}`;
  if (!runs(shown)) {
    const ago = fromNow(Math.floor(view.atMs / 1_000), Math.floor(nowMs / 1_000), { locale: 'en' });
    return `parley-maker ${view.market}   DOES NOT RUN, last seen ${ago}   ${time}`;
  }
  const mode =
    view.mode === 'open'
      ? 'quoting'
      : view.mode === 'clock'
        ? 'CLOCK WRONG'
        : view.mode.toUpperCase();
  const feed = view.isLive ? 'feed live' : 'FEED DOWN';
  return `parley-maker ${view.market}   ${mode}   ${feed}   ${time}`;
}

function sectionOf(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  isBad: (at: number) => boolean = () => false,
): Section {
  if (rows.length === 0) return { head: { text: `${head[0]}: none`, tone: 'head' }, rows: [] };
  const [first = '', ...rest] = tableOf(head, rows).split('\n');
  return {
    head: { text: first, tone: 'head' },
    rows: rest.map((text, at) => ({ text, tone: isBad(at) ? 'bad' : 'plain' })),
  };
}

const number = (value: number | null) =>
  value === null ? '–' : String(Number(value.toPrecision(8)));
/** Without a minus before zero. */
const bps = (value: number) => (Math.round(value * 100_000) / 10 + 0).toFixed(1);

/** Half of the way between bid and ask, and how far its middle is off the price; of the price. */
function spreadOf({ price, bid, ask }: PairView): readonly [string, string] {
  if (price === null || (bid === null && ask === null)) return ['–', '–'];
  if (bid === null || ask === null) return [bps(Math.abs((bid ?? ask ?? 0) - price) / price), '–'];
  return [bps((ask - bid) / 2 / price), bps(((ask + bid) / 2 - price) / price)];
}

function pairsOf({ pairs, quotes }: View, brief: Brief): Section {
  const rows = pairs.map((pair) => {
    const own = quotes.filter((each) => each.pair === pair.name).length;
    const prices = [pair.price, pair.bid, pair.ask].map(number);
    return [brief(pair.name), ...prices, ...spreadOf(pair), String(own)];
  });
  const head = ['PAIR', 'PRICE', 'BID', 'ASK', 'BPS', 'SKEW', 'QUOTES'];
  return sectionOf(head, rows, (at) => pairs[at]?.price === null);
}

function quotesOf({ quotes }: View, { chainNowMs }: Shown, brief: Brief): Section {
  const rows = quotes.map(({ pair, gives, base, quote, untilMs }: QuoteView) => {
    const [baseName = '', quoteName = ''] = pair.split('/');
    const amounts = { base: `${base} ${baseName}`, quote: `${quote} ${quoteName}` };
    const gets = gives === 'base' ? 'quote' : 'base';
    const left = Math.max(0, Math.floor((untilMs - chainNowMs) / 1_000));
    return [brief(pair), amounts[gives], amounts[gets], `${left} s`];
  });
  return sectionOf(['OWN QUOTE', 'GIVES', 'GETS', 'STANDS'], rows);
}

function freeOf({ balance, promised, reserve }: AssetView): bigint | null {
  return balance === null ? null : BigInt(balance) - BigInt(promised) - BigInt(reserve);
}

function exposureOf({ assets, chains }: View, brief: Brief): Section {
  const rows = assets.map((asset) => {
    const { name, chain, decimals, balance, promised, reserve } = asset;
    const free = freeOf(asset);
    const units = [balance, promised, reserve, free === null ? null : String(free)];
    const amounts = units.map((each) => (each === null ? '–' : amountOf(BigInt(each), decimals)));
    const payable = chains.find((each) => each.chain === chain)?.swapsPayable;
    return [brief(name), ...amounts, payable === undefined ? '–' : `${payable} swaps`];
  });
  const head = ['ASSET', 'BALANCE', 'PROMISED', 'RESERVE', 'FREE', 'GAS FOR'];
  const isShort = (at: number) => {
    const asset = assets[at];
    return asset !== undefined && (freeOf(asset) ?? -1n) < 0n;
  };
  return sectionOf(head, rows, isShort);
}

function swapsOf({ swaps, chainNowMs }: Shown, brief: Brief): Section {
  const now = Math.floor(chainNowMs / 1_000);
  const ordered = [...swaps].sort(
    (one, other) => (one.until ?? Infinity) - (other.until ?? Infinity),
  );
  const rows = ordered.map(({ id, pair, gives, next, until }) => {
    const due = until === null ? '–' : fromNow(until, now, { locale: 'en' });
    return [id.slice(-8), brief(pair), `gives ${gives}`, due, next];
  });
  const isNear = (at: number) => (ordered[at]?.until ?? Infinity) - now < nearSeconds;
  return sectionOf(['OPEN SWAP', 'PAIR', '', 'DUE', 'NEXT STEP'], rows, isNear);
}

/** The newest first where there is no room for all. */
function eventsOf({ events }: View, isScreen: boolean): Section {
  const rows = events.map((line): Line => {
    const { at = '', level = '', event = '', text: sentence, market, ...facts } = parsed(line);
    // A line is cut on its right: the sentence stands first, and the market last.
    const words = Object.entries({ ...facts, market }).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : `${name}=${isScreen ? endOf(value) : value}`,
    );
    const said = typeof sentence === 'string' ? [sentence] : [];
    const text = `${String(at).slice(11, 19)} ${event} ${[...said, ...words].join(' ')}`;
    return { text: oneLine(text), tone: level === 'error' || level === 'warn' ? 'bad' : 'plain' };
  });
  return {
    head: { text: 'EVENTS', tone: 'head' },
    rows: isScreen ? rows.toReversed() : rows,
    isStream: isScreen,
  };
}

/** An id by its end, as open swaps have theirs. */
const endOf = (value: unknown) =>
  String(value).replace(/^[\da-f]{8}-[-\da-f]{19}([\da-f]{8})\b/, '…$1');

function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return { event: line };
  }
}
