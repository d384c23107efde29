// One market as paper trading sees it: its book, the quotes that a maker would have there, and the
// RFQs that it may have won. It decides as a live maker does, by the same rules, and posts nothing.

import type { BaseUnits, Millis, UnixSeconds } from '@parley/core/nominal.ts';
import type { Rfq } from '@parley/sdk/types.ts';
import type { Config, PairConfig } from '../config/config.ts';
import type { Deal } from '../journal.ts';
import { type Log, logWith } from '../log.ts';
import { type Metrics, metricsAt } from '../metrics.ts';
import type { Prices } from '../prices/sources.ts';
import { createPromises, type Promises, type PromisesInput } from '../promises.ts';
import { createQuoting } from '../quoting.ts';
import type { CostsOf, Mode } from '../rules/decide.ts';
import { type Match, quoteAmountOf } from '../rules/matching.ts';
import type { Price } from '../rules/price.ts';
import type { Stock } from '../stock.ts';
import { createTurns } from '../turns.ts';
import type { Fill } from './book.ts';
import { decidedBy, isAsGood, type Left } from './fills.ts';
import type { Gone, ListedAsset, Observed } from './lines.ts';

const daySeconds = 86_400;
/** As long as the market shows agreements. */
const shownMs = daySeconds * 1_000;
/** Agreements of a market that are remembered. */
const mostAgreements = 20_000;
/** RFQs that may have been won and are not decided. */
const mostPending = 10_000;

export type Counts = {
  seen: number;
  /** Prices, new ones of the same RFQ too. */
  quotes: number;
  /** RFQs that were agreed elsewhere while a quote of one's own stood. */
  agreed: number;
  won: number;
  lost: number;
  /** One's own acceptance would have been refused by then. */
  declined: number;
  /** No agreement was shown within a day. */
  unknown: number;
};

/** The markets of a desk share these. */
export type PaperShared = {
  readonly config: Config;
  readonly now: () => Millis;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  readonly mode: () => Mode;
  readonly prices: Prices;
  readonly stock: Stock;
  readonly counts: Counts;
  /** Every deal of paper that is open or was won. */
  readonly deals: Map<string, Deal>;
  /** null: trades are not booked. */
  readonly filled: ((fill: Fill) => void) | null;
};

/** One that waits until the market shows at what it was agreed. */
type Pending = Left & {
  readonly match: Match<PairConfig>;
  readonly deal: Deal;
  readonly price: Price;
};

type Shown = Extract<Observed, { readonly is: 'agreement' }>;

export type PaperMarket = ReturnType<typeof createPaperMarket>;

export function createPaperMarket(
  shared: PaperShared,
  name: string,
  others: NonNullable<PromisesInput['others']>,
) {
  const { config, now, counts, prices, stock, mode, deals } = shared;
  const { limits, assets } = config;
  const ids = new Map<string, string>();
  const book = new Map<string, Rfq>();
  const link = { isLive: false, lostAtMs: null as Millis | null };
  const promises = createPromises({ assets, limits, prices, stock, mode, now, deals, others });
  const { quoting, turns } = quotingOf(shared, { name, promises, book, link, ids });
  const fills = createFills(shared, name, promises);

  /** As a market does after `cancel_seconds` without a connection. */
  const dropLost = () => {
    const { lostAtMs } = link;
    if (lostAtMs === null || now() - lostAtMs < limits.cancelSeconds * 1_000) return;
    for (const rfqId of promises.quotes.keys()) promises.unquoted(rfqId);
  };

  return {
    promises: promises as Pick<Promises, 'own' | 'quotes' | 'open' | 'motions' | 'quotedOf'>,
    pendings: fills.count,
    isBusy: () => turns.size() > 0,
    isWatching: () => book.size > 0,
    /** The market's ids of the assets that it lists as the settings pin them. */
    named: (listed: readonly ListedAsset[]): void => {
      for (const { name: own, chain, token, decimals } of assets) {
        const found = listed.find(
          (each) => each.chain === chain && each.token === token && each.decimals === decimals,
        );
        if (found === undefined) ids.delete(own);
        else ids.set(own, found.id);
      }
    },
    came: (rfq: Rfq): void => {
      if (!book.has(rfq.id)) counts.seen += 1;
      book.set(rfq.id, rfq);
      quoting.changed({ kind: 'created', rfq });
    },
    left: (rfqId: string, why: Gone): void => {
      dropLost();
      const rfq = book.get(rfqId);
      book.delete(rfqId);
      if (rfq === undefined) return;
      if (why === 'agreed') fills.agreed(rfq);
      quoting.changed({ kind: why, rfq });
    },
    connected: (isLive: boolean): void => {
      dropLost();
      link.isLive = isLive;
      link.lostAtMs = isLive ? null : (link.lostAtMs ?? now());
    },
    shown: fills.shown,
    look: (): void => {
      quoting.look();
      fills.giveUp();
    },
  };
}

type Own = {
  readonly name: string;
  readonly promises: Promises;
  readonly book: ReadonlyMap<string, Rfq>;
  readonly link: { readonly isLive: boolean };
  readonly ids: ReadonlyMap<string, string>;
};

function quotingOf(shared: PaperShared, { name, promises, book, link, ids }: Own) {
  const { config, now, log, signal, mode, prices, counts } = shared;
  const { limits, pairs } = config;
  const turns = createTurns();
  const metrics = metricsAt(shared.metrics, name);
  const quotes = {
    inc: (labels: { readonly pair?: string }) => {
      counts.quotes += 1;
      metrics.quotes.inc(labels);
    },
  };
  const quoting = createQuoting({
    promises,
    turns,
    prices,
    limits,
    pairs,
    mode,
    now,
    signal,
    log: wouldQuote(logWith(log, { market: name })),
    metrics: { ...metrics, quotes },
    client: silentClient,
    feed: () => ({ book, state: () => (link.isLive ? 'live' : 'connecting') }),
    idOf: (asset) => ids.get(asset),
  });
  return { quoting, turns };
}

/** A quote of paper is on no thread. */
function wouldQuote(log: Log): Log {
  return {
    ...log,
    info: (event, { threadId, ...facts } = {}) => {
      if (event === 'quoted') log.info('would_quote', facts);
      else if (event !== 'withdrawn') log.info(event, { threadId, ...facts });
    },
  };
}

/** Answers every quote at once, as a market that takes it. It sends no request. */
const silentClient: Parameters<typeof createQuoting>[0]['client'] = {
  quoteMany: async (quotes) =>
    quotes.map(({ rfqId }) => ({ status: 201, rfqId, threadId: `paper-${rfqId}` })),
  withdrawQuote: async (id) => ({ id }) as never,
  withdrawQuotes: async () => ({ withdrawn: 0, committed: 0, next: null }) as never,
};

function createFills(shared: PaperShared, market: string, promises: Promises) {
  const { now, prices, stock, counts, deals, filled } = shared;
  const log = logWith(shared.log, { market });
  const pending = new Map<string, Pending>();
  /** By what they are of (`keyOf`), those that decided no RFQ yet. */
  const agreements = new Map<string, Shown[]>();
  let remembered = 0;

  const decide = (each: Pending) => {
    const key = keyOf(each.rfq);
    const shown = agreements.get(key) ?? [];
    const by = decidedBy(each, shown);
    if (by === null) return;
    // An agreement is that of one RFQ.
    const others = shown.filter((one) => one !== by);
    remembered -= 1;
    if (others.length === 0) agreements.delete(key);
    else agreements.set(key, others);
    conclude(each, BigInt(by.agreement.quoteAmount));
  };

  /** The oldest come first. */
  const giveUp = () => {
    for (const each of pending.values()) {
      if (now() - each.leftAtMs <= shownMs) return;
      conclude(each, null);
    }
  };

  const forget = () => {
    for (const [key, shown] of agreements) {
      if (remembered <= mostAgreements) return;
      remembered -= shown.length;
      agreements.delete(key);
    }
  };

  /** `theirs`: at what it was agreed; null: no agreement was shown. */
  const conclude = (
    { rfq, ours, deal, match, price, leftAtMs }: Pending,
    theirs: bigint | null,
  ) => {
    pending.delete(rfq.id);
    const isWon = theirs !== null && isAsGood(rfq.direction, ours, theirs);
    const endedAt = Math.floor(now() / 1_000);
    const ended: Deal = { ...deal, end: isWon ? 'received' : 'lapsed', endedAt };
    forgetOld(deals, endedAt);
    if (isWon) deals.set(deal.threadId, ended);
    else deals.delete(deal.threadId);
    promises.ended(ended);
    const how = theirs === null ? 'unknown' : isWon ? 'won' : 'lost';
    counts[how] += 1;
    const { gives, base, quote, pair } = deal;
    log.info(`paper_${how}`, { rfqId: rfq.id, pair, gives, base, quote, ours, theirs });
    if (!isWon) return;
    const fees = feesOf(match.pair, gives, stock.costsOf);
    const amounts = { gives, base, quote };
    filled?.({ atMs: leftAtMs, market, rfqId: rfq.id, pair, ...amounts, price, fees });
  };

  return {
    giveUp,
    count: () => pending.size,
    shown: (line: Shown): void => {
      const { baseAssetId, quoteAssetId, agreement } = line;
      const key = keyOf({ ...agreement, baseAssetId, quoteAssetId });
      agreements.set(key, [...(agreements.get(key) ?? []), line]);
      remembered += 1;
      forget();
      for (const each of pending.values()) if (keyOf(each.rfq) === key) decide(each);
    },
    /** The moment at which a live maker would have been asked to accept. */
    agreed: (rfq: Rfq): void => {
      const quote = promises.quotes.get(rfq.id);
      if (quote === undefined || quote.threadId === null || quote.untilMs <= now()) return;
      const { match, terms } = quote;
      counts.agreed += 1;
      const facts = { rfqId: rfq.id, pair: match.pair.name, ...terms };
      const verdict = promises.verdict(rfq, match, terms, 'acceptance');
      const price = prices.of(match.pair.price);
      if (verdict.refused !== null || price === null) {
        const { code = 'no_price', sentence = 'no price' } = verdict.refused ?? {};
        counts.declined += 1;
        log.info('would_not_accept', { ...facts, code, why: sentence });
        return;
      }
      log.info('would_accept', facts);
      if (filled === null) return;
      if (pending.size >= mostPending) {
        counts.unknown += 1;
        return;
      }
      const ours = quoteAmountOf(match, terms);
      const deal = dealOf(market, rfq, { pair: match.pair.name, ...terms }, now());
      deals.set(deal.threadId, deal);
      promises.dealt(deal, verdict.takes);
      const left = { rfq, ours, leftAtMs: now(), match, deal, price };
      pending.set(rfq.id, left);
      decide(left);
    },
  };
}

/** The limits of a day count deals of a day. The oldest come first. */
function forgetOld(deals: Map<string, Deal>, nowSeconds: UnixSeconds): void {
  for (const [threadId, { end, acceptedAt }] of deals) {
    if (end === null || nowSeconds - acceptedAt <= 2 * daySeconds) return;
    deals.delete(threadId);
  }
}

type Of = Pick<Rfq, 'direction' | 'baseAssetId' | 'quoteAssetId' | 'baseAmount'>;

const keyOf = ({ direction, baseAssetId, quoteAssetId, baseAmount }: Of) =>
  [direction, baseAmount, baseAssetId, quoteAssetId].join(' ');

type Amounts = Pick<Deal, 'pair' | 'gives' | 'base' | 'quote'>;

function dealOf(market: string, rfq: Rfq, amounts: Amounts, nowMs: Millis): Deal {
  return {
    market,
    threadId: `paper-${rfq.id}`,
    rfqId: rfq.id,
    takerId: rfq.creatorId,
    ...amounts,
    acceptedAt: Math.floor(nowMs / 1_000),
    swapId: null,
    end: null,
    endedAt: null,
  };
}

/** The most that the own funding and claim cost, by chain. */
function feesOf(pair: PairConfig, gives: Deal['gives'], costsOf: CostsOf) {
  const given = pair[gives];
  const got = pair[gives === 'base' ? 'quote' : 'base'];
  const { fund = 0n } = costsOf(given) ?? {};
  const { claim = 0n, settlesFromAmount = false } = costsOf(got) ?? {};
  const fees: Record<string, BaseUnits> = { [given.chain]: fund };
  fees[got.chain] = (fees[got.chain] ?? 0n) + (settlesFromAmount ? 0n : claim);
  return fees;
}
