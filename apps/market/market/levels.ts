// Indicative levels: prices at which a maker would quote, for takers to read before they ask. They
// promise nothing and are never settled. A maker names all of a pair at once.

import { ParleyError } from '@parley/core/errors.ts';
import type { Direction } from '@parley/core/trade.ts';
import { lockTrader } from '../db/accounts.ts';
import type { Asset } from '../db/assets.ts';
import type { Tx } from '../db/database.ts';
import { findHoldings } from '../db/holdings.ts';
import {
  countOtherPairs,
  deleteLevelsOfPair,
  insertLevels,
  type Level,
  type NewLevel,
  type Pair,
  type Publisher,
  stored,
} from '../db/levels.ts';
import type { Deps } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import { assertOpen, assetPair } from './assets.ts';
import { mostLevelPairs } from './bounds.ts';
import { refusedOf } from './quote-amounts.ts';
import { assertHolds, mustDiffer } from './rfqs.ts';

export type WantedLevel = {
  /** The taker's side on the base. */
  readonly direction: Direction;
  /** RFQs of up to so much of the base, and from `leastBaseAmount` on. */
  readonly baseAmount: bigint;
  /** For all of `baseAmount`: their quotient is the price. */
  readonly quoteAmount: bigint;
  readonly leastBaseAmount: bigint | null;
  readonly validForSeconds: number;
};

type Wanted = Pair & { readonly levels: readonly WantedLevel[] };
type Prepared = {
  readonly base: Asset;
  readonly quote: Asset;
  readonly levels: readonly WantedLevel[];
};

/**
 * The checks that can refuse before the transaction; asks the chains whether the amounts can
 * settle. An empty list of levels needs only the pair: they are withdrawn, whatever is halted.
 */
export async function prepareLevels(
  deps: Pick<Deps, 'adapters' | 'db'>,
  { baseAssetId, quoteAssetId, levels }: Wanted,
  signal: AbortSignal,
): Promise<Prepared> {
  const pair = await assetPair(deps.db, baseAssetId, quoteAssetId);
  mustDiffer(pair);
  if (levels.length === 0) return { ...pair, levels };
  assertOpen(pair.base, pair.quote);
  for (const [at, { baseAmount, leastBaseAmount }] of levels.entries()) {
    if (leastBaseAmount === null || leastBaseAmount <= baseAmount) continue;
    throw new ParleyError(
      'bad_field',
      `levels.${at} is for ${leastBaseAmount} to ${baseAmount} base units: leastBaseAmount ` +
        'must not be more than baseAmount',
      { field: 'leastBaseAmount' },
    );
  }
  const amounts = [
    [pair.base, levels.map((each) => each.baseAmount)],
    [pair.quote, levels.map((each) => each.quoteAmount)],
  ] as const;
  await Promise.all(
    amounts.map(async ([asset, all]) => {
      const refused = await refusedOf(deps, asset, [...new Set(all)], signal);
      const first = all.find((amount) => refused.has(amount));
      if (first !== undefined) throw refused.get(first)!;
    }),
  );
  return { ...pair, levels };
}

/** In place of what the account had on this pair. Returns when the first of them ends. */
export async function publishLevels(
  tx: Tx,
  deps: Pick<Deps, 'adapters' | 'now' | 'randomBytes'>,
  by: Publisher,
  { base, quote, levels }: Prepared,
): Promise<Date | null> {
  const { accountId } = by;
  // The lock makes the count below right, and two requests on one pair come one after the other.
  await lockTrader(tx, accountId);
  const pair = stored({ baseAssetId: base.id, quoteAssetId: quote.id });
  await deleteLevelsOfPair(tx, accountId, pair);
  if (levels.length === 0) return null;
  const holdings = await findHoldings(tx, accountId);
  const nowMs = deps.now();
  for (const direction of new Set(levels.map((each) => each.direction))) {
    assertHolds(deps, holdings, direction === 'sell_base' ? quote : base);
  }
  const others = await countOtherPairs(tx, accountId, pair, new Date(nowMs));
  if (others >= mostLevelPairs) {
    throw new ParleyError(
      'too_many_open',
      `this account has levels on ${others} other pairs, the most there may be; withdraw those of one`,
      { pairs: others, most: mostLevelPairs },
    );
  }
  const rows = levels.map((each): NewLevel => {
    const { baseAmount, quoteAmount, leastBaseAmount: leastAmount, validForSeconds } = each;
    const [lowAmount, highAmount] = pair.baseIsLow
      ? [baseAmount, quoteAmount]
      : [quoteAmount, baseAmount];
    const given = each.direction === 'sell_base' ? quote : base;
    return {
      id: uuidv7(nowMs, deps.randomBytes),
      givesLow: givesLow(each.direction, pair.baseIsLow),
      givenFamily: deps.adapters.get(given.chain)?.family ?? null,
      lowAmount,
      highAmount,
      leastAmount,
      expiresAt: new Date(nowMs + validForSeconds * 1_000),
    };
  });
  await insertLevels(tx, by, pair, rows, new Date(nowMs));
  return new Date(nowMs + Math.min(...levels.map((each) => each.validForSeconds)) * 1_000);
}

/** Whether the taker gives the asset that is stored as the first of its pair. */
export const givesLow = (direction: Direction, baseIsLow: boolean): boolean =>
  (direction === 'sell_base') === baseIsLow;

/**
 * As seen from the pair that is asked for, which may be the other way round than it was published.
 * Its least amount of the other asset is rounded up: no less would be quoted.
 */
export function levelView(level: Level, pair: Pair, direction: Direction) {
  const { baseIsLow } = stored(pair);
  const { lowAmount, highAmount, leastAmount } = level;
  const [baseAmount, quoteAmount] = baseIsLow ? [lowAmount, highAmount] : [highAmount, lowAmount];
  const least =
    leastAmount === null || level.baseIsLow === baseIsLow
      ? leastAmount
      : (leastAmount * baseAmount + quoteAmount - 1n) / quoteAmount;
  return {
    makerId: level.makerId,
    direction,
    ...pair,
    baseAmount: baseAmount.toString(),
    quoteAmount: quoteAmount.toString(),
    leastBaseAmount: least === null ? null : least.toString(),
    publishedAt: level.publishedAt.toISOString(),
    expiresAt: level.expiresAt.toISOString(),
  };
}
