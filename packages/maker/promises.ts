// All that the maker has promised on one market: quotes that may be accepted, and swaps that are
// not settled. Here a decision is taken, by what is known now and was promised on other markets, and what it
// promises is noted at once.

import { larger } from '@parley/core/amounts.ts';
import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import type { Rfq } from '@parley/sdk/types.ts';
import type { AssetConfig, Limits, PairConfig } from './config/config.ts';
import type { Deal } from './journal.ts';
import type { Prices } from './prices/sources.ts';
import {
  capsRefusal,
  type HeldOf,
  type Mode,
  type Refusal,
  type Step,
  takesOfTerms,
  tiltOf,
  type Verdict,
  verdictOn,
} from './rules/decide.ts';
import { balanceGoodMs, type Commitment, holdingOf, type Takes } from './rules/inventory.ts';
import type { Match } from './rules/matching.ts';
import { type Motion, nothingYet, positionOf, type Seen } from './rules/position.ts';
import { marginBps, type Terms } from './rules/price.ts';
import { quoteAt, spreadOf } from './rules/spread.ts';
import type { Stock } from './stock.ts';

export type OpenQuote = {
  readonly rfq: Rfq;
  readonly match: Match<PairConfig>;
  readonly terms: Terms;
  readonly takes: Takes;
  /** It counts until then. */
  readonly untilMs: Millis;
  /** null: the market has not answered yet. */
  readonly threadId: string | null;
};

/** A swap that is not settled, or an acceptance that may become one. */
export type OpenDeal = {
  readonly deal: Deal;
  /** null: it was agreed before this process began. */
  readonly takes: Takes | null;
  readonly fundedAtMs: Millis | null;
  /** `null`: its legs were not looked at. */
  readonly seen: Seen | null;
};

/** An ended deal that the balances may not show yet. */
type Leaving = { readonly deal: Deal; readonly seen: Seen; readonly endedAtMs: Millis };

/** The legs of a deal that a block has. */
export type Legs = Readonly<Record<'funded' | 'back' | 'paid', boolean>>;

const mostLeaving = 1_000;
const daySeconds = 86_400;
/** The market's clock of a quote begins when it hears of it. */
const heardMs = 2_000;

/** The promises of another market. */
type Beside = {
  readonly quotes: { readonly size: number };
  readonly open: { readonly size: number };
  own(): readonly Commitment[];
  motions(): readonly Motion[];
  quotedOf(holding: string, counting: 'sold' | 'bought'): BaseUnits;
};

export type Promises = ReturnType<typeof createPromises>;

export type PromisesInput = {
  readonly assets: readonly AssetConfig[];
  readonly limits: Limits;
  readonly prices: Prices;
  readonly stock: Stock;
  readonly mode: () => Mode;
  readonly now: () => Millis;
  /** Every deal of the last days. */
  readonly deals: ReadonlyMap<string, Deal>;
  /** The promises on other markets: a coin is promised once in all. */
  readonly others?: () => readonly Beside[];
  /** Withdrawals that are not seen in a block, or whose balance was not read since. By id. */
  readonly withdrawals?: ReadonlyMap<string, Commitment>;
};

export function createPromises(input: PromisesInput) {
  const { assets, limits, prices, stock, mode, now, deals, others = () => [] } = input;
  const { withdrawals = new Map<string, Commitment>() } = input;
  /** By RFQ. */
  const quotes = new Map<string, OpenQuote>();
  /** By thread. */
  const open = new Map<string, OpenDeal>();
  const leaving = new Map<string, Leaving>();

  const byName = new Map(assets.map((each) => [each.name, each]));
  /** By the fees of now; where they are not known, the amount at least. */
  const takesOf = (deal: Deal): Takes => {
    const names = namesOf(deal);
    const base = byName.get(names.base);
    const quote = byName.get(names.quote);
    const whole = base && quote && takesOfTerms({ base, quote }, deal, stock.costsOf);
    if (whole) return whole;
    const given = byName.get(names[deal.gives]);
    const before = new Map(given && [[holdingOf(given), deal[deal.gives]]]);
    return { before, after: new Map() };
  };
  /** Without the quote on an RFQ, and the deal of a thread: both have the place of what comes. */
  const ownOf = (exceptRfq: string | null, exceptThread: string | null): Commitment[] => {
    const all: Commitment[] = [];
    for (const [rfqId, { match, terms, takes, threadId }] of quotes) {
      if (rfqId === exceptRfq) continue;
      const asset = match.pair[terms.gives].name;
      const what = { asset, amount: terms[terms.gives], fundedAtMs: null };
      all.push({ id: threadId ?? rfqId, kind: 'quote', ...what, ...takes });
    }
    for (const { deal, takes, fundedAtMs } of open.values()) {
      if (deal.threadId === exceptThread) continue;
      const what = { asset: namesOf(deal)[deal.gives], amount: deal[deal.gives], fundedAtMs };
      all.push({ id: deal.threadId, kind: 'swap', ...what, ...(takes ?? takesOf(deal)) });
    }
    return all;
  };
  const commitments = (exceptRfq: string | null, exceptThread: string | null): Commitment[] => [
    ...withdrawals.values(),
    ...ownOf(exceptRfq, exceptThread),
    ...others().flatMap((each) => each.own()),
  ];
  const givenToday = (exceptThread: string | null): Map<string, BaseUnits> => {
    const since = Math.floor(now() / 1_000) - daySeconds;
    const sums = new Map<string, BaseUnits>();
    for (const deal of deals.values()) {
      if (deal.acceptedAt < since || !countsToday(deal)) continue;
      if (deal.threadId === exceptThread) continue;
      const asset = namesOf(deal)[deal.gives];
      sums.set(asset, (sums.get(asset) ?? 0n) + deal[deal.gives]);
    }
    return sums;
  };

  /** How many may stand side by side; the rules of money come after. */
  const crowdRefusal = (rfq: Rfq, step: Step, thread: string | null): Refusal | null => {
    const beside = [...open.values()].filter(({ deal }) => deal.threadId !== thread);
    const own = beside.filter(({ deal }) => deal.takerId === rfq.creatorId);
    const swaps = others().reduce((sum, each) => sum + each.open.size, beside.length);
    if (swaps >= limits.mostSwaps) {
      return {
        code: 'most_swaps',
        sentence: `${swaps} swaps are open: as many as may be`,
      };
    }
    if (own.length >= limits.mostSwapsATaker) {
      const sentence = `${own.length} swaps are open with this taker: as many as may be`;
      return { code: 'taker_swaps', sentence };
    }
    // An account costs nothing, so the bounds of one hold nobody who makes many.
    const settled = rfq.creatorStanding?.settled ?? 0;
    if (settled < limits.leastSettledOfTaker) {
      const sentence = `the taker has ${settled} settled swaps, ${limits.leastSettledOfTaker} at least`;
      return { code: 'taker_unknown', sentence };
    }
    if (step === 'acceptance') return null;
    if (quotes.has(rfq.id)) return null;
    const quoted = others().reduce((sum, each) => sum + each.quotes.size, quotes.size);
    if (quoted >= limits.mostQuotes) {
      return { code: 'most_quotes', sentence: `${quoted} quotes are open: as many as may be` };
    }
    const its = [...quotes.values()].filter((each) => each.rfq.creatorId === rfq.creatorId);
    if (its.length < limits.mostQuotesATaker) return null;
    const sentence = `${its.length} quotes are open to this taker: as many as may be`;
    return { code: 'taker_quotes', sentence };
  };

  const motionOf = (deal: Deal, seen: Seen): Motion | null => {
    const names = namesOf(deal);
    const getting = deal.gives === 'base' ? 'quote' : 'base';
    const gives = byName.get(names[deal.gives]);
    const gets = byName.get(names[getting]);
    if (gives === undefined || gets === undefined) return null;
    const amounts = { given: deal[deal.gives], got: deal[getting] };
    const isOff = deal.end !== null && deal.end !== 'received';
    return { ...seen, ...amounts, gives: holdingOf(gives), gets: holdingOf(gets), isOff };
  };
  /** Once both balances were read after the end they have all of it. */
  const forgetLeft = () => {
    for (const [threadId, { deal, endedAtMs }] of leaving) {
      const isRead = Object.values(namesOf(deal)).every((name) => {
        const asset = byName.get(name);
        const readAtMs = asset && stock.balances.get(holdingOf(asset))?.readAtMs;
        return readAtMs === undefined || readAtMs >= endedAtMs;
      });
      if (isRead || leaving.size > mostLeaving) leaving.delete(threadId);
    }
  };
  const motionsBut = (exceptThread: string | null): Motion[] => {
    forgetLeft();
    return [...open.values(), ...leaving.values()]
      .filter(({ deal }) => deal.threadId !== exceptThread)
      .flatMap(({ deal, seen }) => motionOf(deal, seen ?? nothingYet) ?? []);
  };
  /** Below zero: open quotes sell it. */
  const quotedBut = (
    exceptRfq: string | null,
    holding: string,
    counting: 'sold' | 'bought',
  ): BaseUnits => {
    let sum = 0n;
    for (const [rfqId, { match, terms }] of quotes) {
      if (rfqId === exceptRfq) continue;
      const getting = terms.gives === 'base' ? 'quote' : 'base';
      const side = counting === 'sold' ? terms.gives : getting;
      if (holdingOf(match.pair[side]) !== holding) continue;
      sum += counting === 'sold' ? -terms[side] : terms[side];
    }
    return sum;
  };
  const heldOf =
    (exceptRfq: string | null, exceptThread: string | null): HeldOf =>
    (asset, counting) => {
      const holding = holdingOf(asset);
      const balance = stock.balances.get(holding);
      if (balance === undefined || now() - balance.readAtMs > balanceGoodMs) return null;
      const beside = others();
      const motions = [...motionsBut(exceptThread), ...beside.flatMap((each) => each.motions())];
      let held = positionOf(holding, balance, motions, counting);
      for (const each of withdrawals.values()) {
        const isInBalance = each.fundedAtMs !== null && balance.readAtMs >= each.fundedAtMs;
        if (!isInBalance) held -= each.before.get(holding) ?? 0n;
      }
      if (counting === 'agreed') return held;
      held += quotedBut(exceptRfq, holding, counting);
      return beside.reduce((sum, each) => sum + each.quotedOf(holding, counting), held);
    };
  /** The margin of now beyond the spread of now, basis points; null: no price. */
  const offOf = ({ pair }: Match<PairConfig>, terms: Terms): bigint | null => {
    const price = prices.of(pair.price);
    const tilt = tiltOf(pair, agreed);
    if (price === null || tilt === null) return null;
    return marginBps(terms, price, pair) - spreadOf(pair, terms, tilt);
  };
  /** How far a quote was off when it was said: a taker may have offered more than was asked. */
  const saidAt = new WeakMap<Terms, bigint>();
  /** Without a deal of the past: quotes and levels are of all that was agreed. */
  const agreed = heldOf(null, null);

  return {
    /** Basis points (rules/spread.ts); null: a balance that it goes by is missing. */
    tiltOf: (pair: PairConfig): bigint | null => tiltOf(pair, agreed),
    /** The amount that is held of an asset once all that is agreed is settled; null: no balance is known. */
    heldOf: (asset: AssetConfig): BaseUnits | null => agreed(asset, 'agreed'),
    /** The maker's own quote, by price, size and what it holds. */
    termsFor: ({ pair, asked }: Match<PairConfig>): Terms | Refusal => {
      const price = prices.of(pair.price);
      if (price === null) return { code: 'no_price', sentence: 'no price that is new enough' };
      const tilt = tiltOf(pair, agreed);
      if (tilt === null) {
        return { code: 'unread', sentence: `no balance of ${pair.name} that is new enough` };
      }
      const terms = quoteAt(asked, price, pair, tilt);
      return terms ?? { code: 'size', sentence: 'it comes to nothing at the price of now' };
    },
    offOf,
    /**
     * Whether a quote is not the maker's any more: price and spread of now have left it too little,
     * or more than when it was said.
     */
    hasMoved: ({ match, terms }: OpenQuote): boolean => {
      const off = offOf(match, terms);
      const most = match.pair.slipBps / 2n;
      const said = saidAt.get(terms) ?? 0n;
      return off === null || off < -most || off > most + larger(said, 0n);
    },
    quotes: quotes as ReadonlyMap<string, OpenQuote>,
    open: open as ReadonlyMap<string, OpenDeal>,
    /** Those on this market alone. */
    own: () => ownOf(null, null),
    motions: () => motionsBut(null),
    quotedOf: (holding: string, counting: 'sold' | 'bought') => quotedBut(null, holding, counting),
    /** Those on all markets. */
    commitments: () => commitments(null, null),
    /** Until when what is said now may be accepted. */
    untilMs: (): Millis => now() + limits.quoteSeconds * 1_000 + heardMs,
    /**
     * By what is known now, the own quote on this RFQ left out, and of an acceptance what was
     * promised on its `thread`. A market may name one RFQ for many threads.
     */
    verdict: (
      rfq: Rfq,
      { pair }: Match<PairConfig>,
      terms: Terms,
      step: Step,
      thread: string | null = null,
    ): Verdict => {
      const crowded = crowdRefusal(rfq, step, thread);
      if (crowded !== null) return { refused: crowded };
      return verdictOn(pair, terms, step, {
        mode: mode(),
        nowMs: now(),
        price: prices.of(pair.price),
        commitments: commitments(rfq.id, thread),
        givenToday: givenToday(thread),
        balances: stock.balances,
        reserves: stock.reserves,
        costsOf: stock.costsOf,
        heldOf: heldOf(rfq.id, thread),
      });
    },
    /** Why one more of these would be too many; null: the caps allow it. */
    overCaps: (deal: Deal): Refusal | null => {
      const asset = byName.get(namesOf(deal)[deal.gives]);
      const { threadId } = deal;
      const beside = commitments(deal.rfqId, threadId);
      const exposure = { commitments: beside, givenToday: givenToday(threadId) };
      return asset === undefined ? null : capsRefusal(asset, deal[deal.gives], exposure);
    },
    quoted: (quote: OpenQuote): void => {
      const { match, terms } = quote;
      if (!saidAt.has(terms)) saidAt.set(terms, offOf(match, terms) ?? 0n);
      quotes.set(quote.rfq.id, quote);
    },
    unquoted: (rfqId: string): void => void quotes.delete(rfqId),
    /** It takes the place of the quote that it came of. */
    dealt: (deal: Deal, takes: Takes | null): void => {
      quotes.delete(deal.rfqId);
      leaving.delete(deal.threadId);
      open.set(deal.threadId, { deal, takes, fundedAtMs: null, seen: null });
    },
    changed: (deal: Deal): void => {
      const before = open.get(deal.threadId);
      if (before !== undefined) open.set(deal.threadId, { ...before, deal });
    },
    /** A look at the chains of a deal. */
    shown: (threadId: string, legs: Legs): void => {
      const before = open.get(threadId);
      if (before === undefined) return;
      const { takes, seen, fundedAtMs } = before;
      // A leg that the first look of a process shows was there before it read a balance.
      const since = seen === null && takes === null ? 0 : now();
      const at = (isThere: boolean, was: Millis | null = null) => was ?? (isThere ? since : null);
      open.set(threadId, {
        ...before,
        fundedAtMs: fundedAtMs ?? (legs.funded ? now() : null),
        seen: {
          fundedAtMs: at(legs.funded, seen?.fundedAtMs),
          backAtMs: at(legs.back, seen?.backAtMs),
          paidAtMs: at(legs.paid, seen?.paidAtMs),
        },
      });
    },
    /** `deal` has its end. */
    ended: (deal: Deal): void => {
      const before = open.get(deal.threadId);
      open.delete(deal.threadId);
      if (before === undefined) return;
      const { fundedAtMs, backAtMs, paidAtMs } = before.seen ?? nothingYet;
      const isBack = deal.end === 'refunded' && fundedAtMs !== null;
      const seen = {
        fundedAtMs,
        backAtMs: isBack ? (backAtMs ?? now()) : backAtMs,
        paidAtMs: deal.end === 'received' ? (paidAtMs ?? now()) : paidAtMs,
      };
      leaving.set(deal.threadId, { deal, seen, endedAtMs: now() });
      forgetLeft();
    },
  };
}

function namesOf({ pair }: Pick<Deal, 'pair'>) {
  const [base = '', quote = ''] = pair.split('/');
  return { base, quote };
}

/** A deal that came to nothing has given nothing. */
function countsToday({ end }: Deal): boolean {
  return end === null || end === 'received';
}
