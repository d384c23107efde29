// The confirmations that a person gives one by one before an acceptance. Pure.

import type { Party } from '@parley/core/trade.ts';
import type { Asset, Thread } from '@parley/sdk/types.ts';
import { getsQuote } from '../../market/prices.ts';
import { assetAmountText } from '../../parts/amount-text.ts';
import { chainName } from '../../parts/names.ts';
import { formatPercent } from '../../texts/people.ts';
import { type TextKey, text } from '../../texts/texts.ts';
import type { Unsure } from './addresses.ts';
import type { Reference } from './terms.ts';

/** Ticked by its words: other numbers are another sentence. */
type Confirmation = string;

type ToConfirm = {
  readonly thread: Pick<Thread, 'rfq' | 'quoteAmount'>;
  readonly party: Party;
  readonly reference: Reference | null;
  readonly base: Asset;
  readonly quote: Asset;
  readonly unsure: readonly Unsure[];
};

/**
 * A price far from what it is held against, each asset that nobody has looked at, each address that
 * the market alone calls the person's.
 */
export function confirmationsOf(deal: ToConfirm): Confirmation[] {
  const { base, quote, unsure } = deal;
  const unverified = [base, quote].filter(({ verified }) => !verified);
  return [
    ...priceConfirmation(deal),
    ...unverified.map(({ symbol, address }) =>
      text('deal.confirm.unverified', { symbol, contract: address ?? '' }),
    ),
    ...unsure.map(({ use, chain, address }) =>
      text(`deal.confirm.${use}`, { chain: chainName(chain), address }),
    ),
  ];
}

function priceConfirmation({ thread, party, reference, quote }: ToConfirm): Confirmation[] {
  if (reference === null) return [text('deal.confirm.unknown')];
  if (!reference.isFar) return [];
  const { bps, from, expected } = reference;
  const how = bps > 0 ? 'better' : getsQuote(thread.rfq, party) ? 'worse' : 'dearer';
  const key: TextKey = from === 'ask' ? `deal.confirm.ask_${how}` : `deal.confirm.${how}`;
  const values = {
    percent: formatPercent(bps),
    amount: assetAmountText(BigInt(thread.quoteAmount), quote),
    expected: assetAmountText(expected, quote),
  };
  return [text(key, values)];
}
