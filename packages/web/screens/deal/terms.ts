// The terms to which a thread would commit its parties, as one of them sees them. Pure.

import type { Deadlines } from '@parley/core/deadlines.ts';
import { type ChainKey, type Family, has } from '@parley/core/families.ts';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import { funderOf, type LegName, otherLeg, type Party, type Role } from '@parley/core/trade.ts';
import { asTyped } from '@parley/core/typed.ts';
import { writeKept } from '@parley/sdk/stores/store.ts';
import type { Asset, Pair, Thread, WalletsOfFamily } from '@parley/sdk/types.ts';
import type { Deal, Examined } from '../../engine/types.ts';
import type { Payout } from '../../market/account.ts';
import {
  advantageBps,
  getsQuote,
  isFar,
  isTakenBack,
  type Price,
  quoteAt,
  sidesOf,
} from '../../market/prices.ts';
import { statusOf } from '../../parts/orders.ts';
import { assetAmountText, chainName } from '../../parts/words.ts';
import { formatPercent } from '../../texts/people.ts';
import { type TextKey, text } from '../../texts/texts.ts';

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

/** The own times of a swap. */
export type OwnTimes = {
  /** Until when this side pays in. */
  readonly fundBy: UnixSeconds;
  /** Until when the other side does before; null: this side is first. */
  readonly theirsBy: UnixSeconds | null;
  /** From when on it may take back what it gave. */
  readonly refundAt: UnixSeconds;
  /** Until when it may collect, once its secret is known. */
  readonly collectBy: UnixSeconds;
};

export function ownTimes(role: Role, gives: LegName, times: Deadlines): OwnTimes {
  const { initiatorFundBy, counterpartyFundBy, refundAt } = times;
  const isFirst = role === 'initiator';
  return {
    fundBy: isFirst ? initiatorFundBy : counterpartyFundBy,
    theirsBy: isFirst ? null : initiatorFundBy,
    refundAt: refundAt[gives],
    collectBy: refundAt[otherLeg(gives)],
  };
}

type Foretold = Pick<Pair, 'initiatorFundBySeconds' | 'counterpartyFundBySeconds'>;

/** By the market's word, as if both accepted now: what a page shows until its own checks are done. */
export function foretoldTimes({ role, gives, gets }: Terms, pair: Foretold, now: UnixSeconds) {
  const first = now + pair.initiatorFundBySeconds;
  const isFirst = role === 'initiator';
  const times: OwnTimes = {
    fundBy: isFirst ? first : now + pair.counterpartyFundBySeconds,
    theirsBy: isFirst ? null : first,
    refundAt: now + gives.timelockSeconds,
    collectBy: now + gets.timelockSeconds,
  };
  return times;
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

type Step = { readonly name: StepName; readonly at: UnixSeconds };

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

export type AddressNeed = {
  readonly chain: ChainKey;
  readonly family: Family;
  /**
   * `paid`: the own gain goes there. `refund`: only a refund does. `funder`: it pays in, and gets a
   * refund.
   */
  readonly use: 'paid' | 'refund' | 'funder';
  /** Addresses of this account, the likeliest first. */
  readonly options: readonly string[];
  /** Bitcoin: any other address may be named. */
  readonly isFree: boolean;
};

export type Known = {
  readonly families: ReadonlyMap<ChainKey, Family>;
  readonly payouts: readonly Pick<Payout, 'family' | 'paid' | 'receives'>[];
  readonly wallets: Readonly<Record<Family, WalletsOfFamily>>;
  /** Whether a wallet of this page has the address. */
  readonly isHeld: (family: Family, address: string) => boolean;
};

/** null: this app does not know one of the chains. */
export function needsOf(
  { gives, gets }: Pick<Terms, 'gives' | 'gets'>,
  { families, payouts, wallets, isHeld }: Known,
): readonly [gives: AddressNeed, gets: AddressNeed] | null {
  const from = families.get(gives.chain);
  const to = families.get(gets.chain);
  if (from === undefined || to === undefined) return null;
  const receiving = (family: Family) => {
    const known = payouts.find((each) => each.family === family);
    const all = unique([known?.paid ?? null, ...(known?.receives ?? [])]);
    // Others on Bitcoin may be keys of phrases, here or in another browser, and nobody is paid at those.
    return has(family, 'coins') ? all.filter((each) => isHeld(family, each)) : all;
  };
  const paying = (family: Family) => {
    const { login, proven } = wallets[family];
    return unique([login, ...proven]);
  };
  const isFree = (family: Family) => has(family, 'coins');
  // A refund on Solana goes to an address that may be paid; on EVM and TRON to whoever funds.
  const funding = has(from, 'namesFunder') ? paying(from) : receiving(from);
  return [
    {
      chain: gives.chain,
      family: from,
      options: funding,
      isFree: isFree(from),
      use: isFree(from) ? 'refund' : 'funder',
    },
    {
      chain: gets.chain,
      family: to,
      options: receiving(to),
      isFree: isFree(to),
      use: 'paid',
    },
  ];
}

function unique(addresses: readonly (string | null)[]): string[] {
  return [...new Set(addresses.filter((each) => each !== null))];
}

/** The chosen address, else the likeliest; '' where there is none. */
export function chosenAddress(
  { chain, options }: Pick<AddressNeed, 'chain' | 'options'>,
  chosen: Readonly<Record<ChainKey, string>>,
): string {
  return asTyped(chosen[chain] ?? options[0] ?? '').trim();
}

export type Unsure = {
  readonly use: 'paid' | 'refund';
  readonly chain: ChainKey;
  readonly address: string;
};

/**
 * Addresses that are the market's word alone: they were not typed here, and no wallet of this page
 * has them. A market could name its own. The funder's address is asked of its wallet in any case.
 */
export function unsureOf(
  needs: readonly AddressNeed[],
  chosen: Readonly<Record<ChainKey, string>>,
  isConnected: (family: Family, address: string) => boolean,
): Unsure[] {
  return needs.flatMap((need): Unsure[] => {
    const { use, chain, family, isFree } = need;
    const address = chosenAddress(need, chosen);
    const isTyped = isFree && chosen[chain] !== undefined;
    const isSure = isTyped || address === '' || isConnected(family, address);
    return use === 'funder' || isSure ? [] : [{ use, chain, address }];
  });
}

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
  const amount = assetAmountText(BigInt(thread.quoteAmount), quote);
  if (reference === null) return [text('deal.confirm.unknown', { amount })];
  if (!reference.isFar) return [];
  const { bps, from, expected } = reference;
  const how = bps > 0 ? 'better' : getsQuote(thread.rfq, party) ? 'worse' : 'dearer';
  const key: TextKey = from === 'ask' ? `deal.confirm.ask_${how}` : `deal.confirm.${how}`;
  const values = {
    percent: formatPercent(bps),
    amount,
    expected: assetAmountText(expected, quote),
  };
  return [text(key, values)];
}

/** An acceptance needs them first, in this order. */
export type FirstStep = 'phrase' | 'vouch' | 'address';

type Readiness = {
  /** null: all of them are done. */
  readonly step: FirstStep | null;
  /** undefined: the checks are not done yet. */
  readonly examined: Pick<Examined, 'isGood'> | undefined;
  /** The checks could not be made. */
  readonly isUnchecked: boolean;
  /** Every sentence is ticked. */
  readonly isConfirmed: boolean;
};

export type Obstacle =
  | `deal.first.${FirstStep}`
  | 'deal.accept.wait_checks'
  | 'deal.checks.failed'
  | 'deal.checks.refused'
  | 'deal.confirm.first';

/** Why nothing can be accepted yet; null: it can. */
export function obstacleOf(ready: Readiness): Obstacle | null {
  const { step, examined, isUnchecked, isConfirmed } = ready;
  if (step !== null) return `deal.first.${step}`;
  if (examined === undefined) {
    return isUnchecked ? 'deal.checks.failed' : 'deal.accept.wait_checks';
  }
  if (!examined.isGood) return 'deal.checks.refused';
  return isConfirmed ? null : 'deal.confirm.first';
}

/** Why a negotiation has ended. */
export type End = 'taken_back' | 'agreed' | 'cancelled' | 'expired' | 'closed';

export function endOf({ rfq, withdrawnAt }: Pick<Thread, 'rfq' | 'withdrawnAt'>, nowMs: number) {
  const status = statusOf(rfq, nowMs);
  const isLive = status === 'open' || status === 'negotiating';
  const end: End = !isLive ? status : isTakenBack({ rfq, withdrawnAt }) ? 'taken_back' : 'closed';
  return end;
}

/** Refusals of an acceptance after which nothing is agreed, by their code. */
const lost = ['terms_moved', 'quote_expired', 'rfq_gone', 'thread_closed', 'committed'] as const;

/** null: a refusal of another kind, in its own words. */
export function lostTo(code: string): (typeof lost)[number] | null {
  return lost.find((each) => each === code) ?? null;
}
