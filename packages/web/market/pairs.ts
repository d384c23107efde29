// The pairs of the market as a person reads them: one way round, with a price, and with levels that
// may be called prices. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Asset, Level, PairList } from '@parley/sdk/types.ts';
import { turnedPrice } from './history.ts';
import { isFar, levelBps, type Price, priceIn } from './prices.ts';

export type Pair = {
  /** One of it has the price. */
  readonly base: Asset;
  readonly quote: Asset;
};

/**
 * How much an asset is what prices are told in: dollars before euros before the coins that others
 * are compared with. A symbol alone says nothing: the app must know the asset.
 */
function moneyOf({ verified, symbol }: Asset): number {
  if (!verified) return 0;
  if (/^(?:USD|DAI$)/.test(symbol)) return 4;
  return { EURC: 3, BTC: 2, ETH: 1 }[symbol] ?? 0;
}

/** Dollars and euros: they are told with cents, and prices in them. */
export function isMoney(asset: Asset): boolean {
  return moneyOf(asset) >= 3;
}

/** Whether people read the pair the other way round; two that are alike go by id. */
function isTurned({ base, quote }: Pair): boolean {
  const more = moneyOf(base) - moneyOf(quote);
  return more > 0 || (more === 0 && base.id > quote.id);
}

/** The same whichever way round the pair is told. */
export function readably({ base, quote }: Pair): Pair {
  return isTurned({ base, quote }) ? { base: quote, quote: base } : { base, quote };
}

export const pairKey = ({ base, quote }: Pair): string => `${base.id} ${quote.id}`;

/** A price of the pair, or one that counts the other way round, with `baseAssetId` as its base. */
export function turnedTo(baseAssetId: string, pair: Pair, price: Price): Price {
  return pair.base.id === baseAssetId ? price : turnedPrice(price);
}

/** A level, and whether it is so far from recent swaps that it is no price. */
export type Quoted = Price & { readonly isFar: boolean };

export type PairRow = Pair & {
  readonly id: string;
  readonly median: Price | null;
  readonly agreements: number;
  readonly makers: number;
  /** A maker would pay the one for the base, and take the other for it. */
  readonly bid: Quoted | null;
  readonly ask: Quoted | null;
  /** Between two that are prices, of the bid; null: there are not two. */
  readonly spreadBps: number | null;
};

type Listed = PairList['pairs'][number];

/** Pairs of assets that the app knows by id; those of verified assets first, else as told. */
export function pairRows(listed: readonly Listed[], assets: readonly Asset[]): PairRow[] {
  const byId = new Map(assets.map((each) => [each.id, each]));
  const rows = listed.flatMap((each): PairRow[] => {
    const base = byId.get(each.baseAssetId);
    const quote = byId.get(each.quoteAssetId);
    if (base === undefined || quote === undefined) return [];
    return [rowOf(isTurned({ base, quote }) ? turned(each) : each, readably({ base, quote }))];
  });
  const isKnown = ({ base, quote }: PairRow) => base.verified && quote.verified;
  return rows.sort((one, other) => Number(isKnown(other)) - Number(isKnown(one)));
}

/** A maker that pays for one asset takes the other one for it. */
function turned(listed: Listed): Listed {
  const { median, bid, ask } = listed;
  return {
    ...listed,
    median: median && turnedPrice(median),
    bid: ask && turnedPrice(ask),
    ask: bid && turnedPrice(bid),
  };
}

function rowOf(listed: Listed, { base, quote }: Pair): PairRow {
  const { agreements, makers } = listed;
  const median = listed.median && priceIn(listed.median);
  const bid = quotedOf('sell_base', listed.bid, median);
  const ask = quotedOf('buy_base', listed.ask, median);
  const id = pairKey({ base, quote });
  const spreadBps = spreadOf(bid, ask);
  return { id, base, quote, median, agreements, makers, bid, ask, spreadBps };
}

type Told = Pick<Level, 'baseAmount' | 'quoteAmount'>;

export function quotedOf(
  direction: Level['direction'],
  told: Told | null,
  median: Price | null,
): Quoted | null {
  const price = told && priceIn(told);
  if (told === null || price === null) return null;
  const bps = median && levelBps({ ...told, direction }, median);
  return { ...price, isFar: isFar(bps) };
}

/** Rounded up: a person who trades pays it at least. Levels that cross have none. */
export function spreadOf(bid: Quoted | null, ask: Quoted | null): number | null {
  if (bid === null || ask === null || bid.isFar || ask.isFar) return null;
  const low = bid.quoteAmount * ask.baseAmount;
  const high = ask.quoteAmount * bid.baseAmount;
  if (high < low) return null;
  const bps = ((high - low) * 10_000n + low - 1n) / low;
  return bps > 1_000_000n ? null : Number(bps);
}

/** A level of a pair among those before it: how much can be had up to there. */
export type Depth = {
  readonly id: string;
  readonly level: Level;
  readonly price: Quoted;
  /** The base that can be had up to here; a level that is no price adds nothing. */
  readonly sum: bigint;
  /** The sum in hundredths of all. */
  readonly share: number;
};

/**
 * `levels`: the best first. Those that are far from recent swaps go to the end. A maker's larger
 * level holds its smaller ones: only what it adds counts.
 */
export function depthOf(levels: readonly Level[], median: Price | null): Depth[] {
  const quoted = levels.flatMap((level) => {
    const price = quotedOf(level.direction, level, median);
    return price === null ? [] : [{ level, price, id: idOf(level) }];
  });
  const near = quoted.filter(({ price }) => !price.isFar);
  const far = quoted.filter(({ price }) => price.isFar);
  const sizes = new Map<string, BaseUnits>();
  let sum = 0n;
  const sums = near.map(({ level: { makerId }, price: { baseAmount } }) => {
    const before = sizes.get(makerId) ?? 0n;
    if (baseAmount > before) {
      sizes.set(makerId, baseAmount);
      sum += baseAmount - before;
    }
    return sum;
  });
  const all = sum;
  const shareOf = (part: BaseUnits) => (all > 0n ? Number((part * 100n) / all) : 0);
  return [...near, ...far].map((each, at) => {
    const part = sums[at] ?? 0n;
    return { ...each, sum: part, share: shareOf(part) };
  });
}

/** A maker names no size twice at one price. */
function idOf({ makerId, baseAmount, quoteAmount, leastBaseAmount }: Level): string {
  return [makerId, baseAmount, quoteAmount, leastBaseAmount].join(' ');
}

/**
 * The box for this pair, behind `#`, which a browser sends to no server. `exact`: an amount of one
 * of them.
 */
export function boxHash(
  give: Pick<Asset, 'id'>,
  get: Pick<Asset, 'id'>,
  exact: { readonly of: 'give' | 'get'; readonly units: BaseUnits } | null = null,
): string {
  const amount = exact === null ? {} : { exact: exact.of, amount: `${exact.units}` };
  return `${new URLSearchParams({ give: give.id, get: get.id, ...amount })}`;
}
