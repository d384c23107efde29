// All that the maker has promised: quotes that may be accepted, and swaps that are not settled.
// Here a decision is taken, by what is known now, and what it promises is noted at once.

import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import type { Rfq } from '@parley/sdk/types.ts';
import type { AssetConfig, Limits, PairConfig } from './config/config.ts';
import type { Deal } from './journal.ts';
import type { Prices } from './prices/sources.ts';
import {
  capsRefusal,
  type Mode,
  type Refusal,
  type Step,
  takesOfTerms,
  type Verdict,
  verdictOn,
} from './rules/decide.ts';
import { type Commitment, holdingOf, type Takes } from './rules/inventory.ts';
import type { Match } from './rules/matching.ts';
import type { Terms } from './rules/price.ts';
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
};

const daySeconds = 86_400;
/** The market's clock of a quote begins when it hears of it. */
const heardMs = 2_000;

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
};

export function createPromises({ assets, limits, prices, stock, mode, now, deals }: PromisesInput) {
  /** By RFQ. */
  const quotes = new Map<string, OpenQuote>();
  /** By thread. */
  const open = new Map<string, OpenDeal>();

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
  const commitments = (exceptRfq: string | null, exceptThread: string | null): Commitment[] => {
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
    const others = [...open.values()].filter(({ deal }) => deal.threadId !== thread);
    const own = others.filter(({ deal }) => deal.takerId === rfq.creatorId);
    if (others.length >= limits.mostSwaps) {
      return {
        code: 'most_swaps',
        sentence: `${others.length} swaps are open: as many as may be`,
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
    if (quotes.size >= limits.mostQuotes) {
      return { code: 'most_quotes', sentence: `${quotes.size} quotes are open: as many as may be` };
    }
    const its = [...quotes.values()].filter((each) => each.rfq.creatorId === rfq.creatorId);
    if (its.length < limits.mostQuotesATaker) return null;
    const sentence = `${its.length} quotes are open to this taker: as many as may be`;
    return { code: 'taker_quotes', sentence };
  };

  return {
    quotes: quotes as ReadonlyMap<string, OpenQuote>,
    open: open as ReadonlyMap<string, OpenDeal>,
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
      });
    },
    /** Why one more of these would be too many; null: the caps allow it. */
    overCaps: (deal: Deal): Refusal | null => {
      const asset = byName.get(namesOf(deal)[deal.gives]);
      const { threadId } = deal;
      const others = commitments(deal.rfqId, threadId);
      const exposure = { commitments: others, givenToday: givenToday(threadId) };
      return asset === undefined ? null : capsRefusal(asset, deal[deal.gives], exposure);
    },
    quoted: (quote: OpenQuote): void => void quotes.set(quote.rfq.id, quote),
    unquoted: (rfqId: string): void => void quotes.delete(rfqId),
    /** It takes the place of the quote that it came of. */
    dealt: (deal: Deal, takes: Takes | null): void => {
      quotes.delete(deal.rfqId);
      open.set(deal.threadId, { deal, takes, fundedAtMs: null });
    },
    changed: (deal: Deal): void => {
      const before = open.get(deal.threadId);
      if (before !== undefined) open.set(deal.threadId, { ...before, deal });
    },
    /** A chain shows the own funding. */
    funded: (threadId: string): void => {
      const before = open.get(threadId);
      if (before === undefined || before.fundedAtMs !== null) return;
      open.set(threadId, { ...before, fundedAtMs: now() });
    },
    ended: (threadId: string): void => void open.delete(threadId),
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
