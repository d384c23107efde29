// Which pair an RFQ is of, and what it moves, as the pair has it. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import { givenByMaker } from '@parley/core/trade.ts';
import type { Rfq } from '@parley/sdk/types.ts';
import type { PairRule } from './decide.ts';
import type { Asked, Terms } from './price.ts';

export type Match<Pair extends PairRule = PairRule> = {
  readonly pair: Pair;
  readonly asked: Asked;
  /** The market's ids of both assets. */
  readonly ids: { readonly base: string; readonly quote: string };
};

type Wish = Pick<Rfq, 'direction' | 'baseAssetId' | 'baseAmount' | 'quoteAssetId'>;

/** `idOf`: the market's id of an asset, by its name in the settings. null: no pair is of it. */
export function matchOf<Pair extends PairRule>(
  rfq: Wish,
  pairs: readonly Pair[],
  idOf: (name: string) => string | undefined,
): Match<Pair> | null {
  for (const pair of pairs) {
    const ids = { base: idOf(pair.base.name) ?? '', quote: idOf(pair.quote.name) ?? '' };
    const isStraight = rfq.baseAssetId === ids.base && rfq.quoteAssetId === ids.quote;
    const flipped = rfq.baseAssetId === ids.quote && rfq.quoteAssetId === ids.base;
    if (!isStraight && !flipped) continue;
    const asked = { direction: rfq.direction, flipped, amount: BigInt(rfq.baseAmount) };
    return { pair, asked, ids };
  }
  return null;
}

/** The amounts that an agreement at a price of `quoteAmount`, base units of the RFQ's quote, would
 * move. */
export function termsOf(rfq: Wish, { asked, ids }: Match, quoteAmount: BaseUnits): Terms {
  const gives = givenByMaker(rfq) === ids.base ? 'base' : 'quote';
  return asked.flipped
    ? { gives, base: quoteAmount, quote: asked.amount }
    : { gives, base: asked.amount, quote: quoteAmount };
}

/** The amount that the market is sent for these terms. */
export function quoteAmountOf({ asked }: Match, terms: Terms): BaseUnits {
  return asked.flipped ? terms.base : terms.quote;
}
