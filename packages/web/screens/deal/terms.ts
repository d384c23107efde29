// The terms to which a thread would commit its parties, as one of them sees them. Pure.

import type { Deadlines } from '@parley/core/deadlines.ts';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import { funderOf, type LegName, otherLeg, type Party, type Role } from '@parley/core/trade.ts';
import { writeKept } from '@parley/sdk/stores/store.ts';
import type { Asset, Thread } from '@parley/sdk/types.ts';
import type { Deal } from '../../engine/types.ts';
import {
  advantageBps,
  getsQuote,
  isFar,
  type Price,
  quoteAt,
  sidesOf,
} from '../../market/prices.ts';

export type DealProps = {
  readonly thread: Thread;
  readonly party: Party;
  readonly base: Asset;
  readonly quote: Asset;
};

export type TermsLeg = {
  readonly leg: LegName;
  readonly chain: string;
  readonly assetId: string;
  readonly amount: BaseUnits;
  /** From the agreement to the refund. */
  readonly timelockSeconds: number;
};

export type Terms = {
  readonly role: Role;
  readonly gives: TermsLeg;
  readonly gets: TermsLeg;
};

export function partyIn(
  { makerId, takerId }: Pick<Thread, 'makerId' | 'takerId'>,
  userId: string,
): Party | null {
  if (userId === takerId) return 'taker';
  return userId === makerId ? 'maker' : null;
}

/**
 * Amounts and assets are those of order and price, which the acceptance names: a market could show
 * other legs here than it shows the engine.
 */
export function termsOf(
  thread: Pick<Thread, 'legs' | 'initiator' | 'rfq' | 'quoteAmount'>,
  party: Party,
): Terms {
  const given: LegName = funderOf('a') === party ? 'a' : 'b';
  const { gives, gets } = sidesOf(thread.rfq, BigInt(thread.quoteAmount), party);
  const of = (leg: LegName): TermsLeg => {
    const { chain, timelockSeconds } = thread.legs[leg];
    return { leg, chain, timelockSeconds, ...(leg === given ? gives : gets) };
  };
  return {
    role: thread.initiator === party ? 'initiator' : 'counterparty',
    gives: of(given),
    gets: of(otherLeg(given)),
  };
}

/** All that a person saw before it said yes, without the parts that move on by themselves. */
export function lookOf(
  { rfq, priceEndsAt: _, ...deal }: Deal,
  { terms, base, quote }: Pick<DealProps, 'base' | 'quote'> & { readonly terms: Terms },
): string {
  const { id, direction, baseAmount } = rfq;
  const order = { id, direction, baseAmount };
  const named = [base, quote].map(({ symbol, verified }) => ({ symbol, verified }));
  return writeKept({ order, deal, terms, named });
}

type StepName =
  | 'you_fund_first'
  | 'they_fund_second'
  | 'you_reveal'
  | 'they_fund_first'
  | 'you_fund_second'
  | 'they_reveal'
  | 'you_claim'
  | 'refund';

export type Step = { readonly name: StepName; readonly at: UnixSeconds };

/** How a swap goes on, each with until when; the last one is what happens where it does not. */
export function stepsOf(role: Role, gives: LegName, times: Deadlines): Step[] {
  const { initiatorFundBy, counterpartyFundBy, revealBy, refundAt } = times;
  const refund: Step = { name: 'refund', at: refundAt[gives] };
  if (role === 'initiator') {
    return [
      { name: 'you_fund_first', at: initiatorFundBy },
      { name: 'they_fund_second', at: counterpartyFundBy },
      { name: 'you_reveal', at: revealBy },
      refund,
    ];
  }
  return [
    { name: 'they_fund_first', at: initiatorFundBy },
    { name: 'you_fund_second', at: counterpartyFundBy },
    { name: 'they_reveal', at: revealBy },
    { name: 'you_claim', at: refundAt[otherLeg(gives)] },
    refund,
  ];
}

/** The reference of a price: recent agreements, else the own asking price. */
export type Reference = {
  readonly from: 'recent' | 'ask';
  /** Base units of the quote asset. */
  readonly expected: BaseUnits;
  /** How much better the price is than that; negative is worse. */
  readonly bps: number;
  readonly isFar: boolean;
};

/**
 * Recent swaps before the own asking price, but where the price is far worse than that: recent ones
 * are the market's word. null: there is nothing to hold it against.
 */
export function referenceOf(
  { rfq, quoteAmount }: Pick<Thread, 'rfq' | 'quoteAmount'>,
  party: Party,
  indicative: Price | null,
): Reference | null {
  const isGot = getsQuote(rfq, party);
  const against = (from: Reference['from'], expected: BaseUnits | null): Reference[] => {
    const bps = expected === null ? null : advantageBps(BigInt(quoteAmount), expected, isGot);
    if (expected === null || bps === null) return [];
    return [{ from, expected, bps, isFar: isFar(bps) }];
  };
  const asked = party === 'taker' && rfq.askAmount !== null ? BigInt(rfq.askAmount) : null;
  const known = indicative && quoteAt(indicative, BigInt(rfq.baseAmount), isGot);
  const all = [...against('recent', known), ...against('ask', asked)];
  const [worst] = all.toSorted((one, other) => one.bps - other.bps);
  return worst?.isFar && worst.bps < 0 ? worst : (all[0] ?? null);
}
