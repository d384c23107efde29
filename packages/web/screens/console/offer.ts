// A price as a maker types it: whole coins of the quote asset, or a spread against the indicative
// price. A spread is the maker's own gain: `+0.5%` is half a percent better for it.

import type { BaseUnits } from '@parley/core/nominal.ts';
import { asTyped } from '@parley/core/typed.ts';
import type { Rfq } from '@parley/sdk/types.ts';
import {
  advantageBps,
  getsQuote,
  isFar,
  type Price,
  quoteAt,
  type Side,
  sidesOf,
} from '../../market/prices.ts';
import { type AmountOf, typedAmount } from '../../parts/typed-amount.ts';
import { text } from '../../texts/texts.ts';

export type Offer = {
  readonly quoteAmount: BaseUnits;
  readonly gives: Side;
  readonly gets: Side;
  /** Gain of the maker against the indicative price, else the asked one; null without either. */
  readonly bps: number | null;
  readonly isFar: boolean;
};

/** An empty field is neither an offer nor a fault. */
type Drafted = { readonly offer: Offer | null; readonly fault: string | null };

const spread = /^([+\-−]?)\s*(\S.*?)\s*(%|bps?)$/i;
const wholeBps = 10_000n;

/** `indicative`: base and quote as in the RFQ. */
export function drafted(
  typed: string,
  rfq: Rfq,
  quote: AmountOf,
  indicative: Price | null,
  locale?: string,
): Drafted {
  const found = spread.exec(asTyped(typed).trim());
  const read =
    found === null ? typedAmount(typed, quote, locale) : bySpread(found, rfq, indicative, locale);
  const { units: quoteAmount, fault } = read;
  if (quoteAmount === null) return { offer: null, fault };
  if (quoteAmount <= 0n) return { offer: null, fault: text('console.quote.nothing') };
  const isGot = getsQuote(rfq, 'maker');
  const expected =
    indicative === null ? askOf(rfq) : quoteAt(indicative, BigInt(rfq.baseAmount), isGot);
  const bps = expected === null ? null : advantageBps(quoteAmount, expected, isGot);
  const { gives, gets } = sidesOf(rfq, quoteAmount, 'maker');
  return { offer: { quoteAmount, gives, gets, bps, isFar: isFar(bps) }, fault: null };
}

const askOf = ({ askAmount }: Rfq) => (askAmount === null ? null : BigInt(askAmount));

function bySpread(
  [, sign, digits = '', unit = '']: RegExpExecArray,
  rfq: Rfq,
  indicative: Price | null,
  locale: string | undefined,
): { readonly units: BaseUnits | null; readonly fault: string | null } {
  const { units, fault } = typedAmount(digits, { decimals: unit === '%' ? 2 : 0 }, locale);
  if (units === null) return { units, fault: fault ?? text('console.quote.spread') };
  if (indicative === null) return { units: null, fault: text('console.quote.no_indicative') };
  const gain = sign === '' || sign === '+' ? units : -units;
  // The maker gets more by its gain, or gives less.
  const isGot = getsQuote(rfq, 'maker');
  const times = isGot ? wholeBps + gain : wholeBps - gain;
  if (times <= 0n) return { units: null, fault: text('console.quote.beyond') };
  const scaled: Price = {
    baseAmount: indicative.baseAmount * wholeBps,
    quoteAmount: indicative.quoteAmount * times,
  };
  // Rounded for the maker: its spread is never less than it typed.
  return { units: quoteAt(scaled, BigInt(rfq.baseAmount), !isGot), fault: null };
}
