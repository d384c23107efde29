// One market as anybody sees it: its assets, its book, and the agreements that both sides funded.

import type { Millis } from '@parley/core/nominal.ts';
import type { BookChange, MakerFeed } from '@parley/sdk/feed.ts';
import type { Agreement } from '@parley/sdk/types.ts';
import type { Config, MarketConfig } from '../config/config.ts';
import type { Log } from '../log.ts';
import { openFeed } from '../market-feed.ts';
import type { MarketMetrics } from '../metrics.ts';
import { repeating } from '../repeating.ts';
import { type Session, signedIn } from '../session.ts';
import type { Observed } from './lines.ts';
import { strangerOn } from './stranger.ts';

const renewMs = 3_600_000;
const agreementsMs = 20_000;
const answerMs = 10_000;
/** How long the market shows an agreement. */
const shownMs = 86_400_000;
/** Pairs that are asked about in one go. */
const mostAsked = 30;
/** Pairs of which an RFQ was agreed within a day. */
const mostPairs = 500;
/** Agreements that are known to have been told. */
const mostTold = 100_000;

type WithoutTime<Line> = Line extends unknown ? Omit<Line, 'at'> : never;
export type Emit = (line: WithoutTime<Observed>) => void;

type Watching = {
  readonly config: Config;
  readonly folder: string;
  readonly market: MarketConfig;
  readonly log: Log;
  readonly metrics: MarketMetrics;
  readonly signal: AbortSignal;
  readonly emit: Emit;
};

/** Begins once the market answers; ends with the signal. */
export async function watchMarket(watching: Watching): Promise<void> {
  const { config, folder, market, log, metrics, signal, emit } = watching;
  const session = await strangerOn(market, config.chains, folder, log);
  const given = { assets: config.assets, log, signal, needsAll: false, ends: () => false };
  const pinned = await signedIn(session, given);
  const assets = [...pinned.assets.values()].map(({ id, chain, token, decimals }) => {
    return { id, chain, token, decimals };
  });
  emit({ is: 'market', market: market.name, assets });
  const agreements = createAgreements(market.name, emit);
  const shown = new Set<string>();
  const link: { feed: MakerFeed | null } = { feed: null };
  const open = () => {
    link.feed?.close();
    const changed = ({ kind, rfq }: BookChange) => {
      if (kind === 'created') {
        shown.add(rfq.id);
        emit({ is: 'rfq', market: market.name, rfq });
        return;
      }
      if (!shown.delete(rfq.id)) return;
      emit({ is: 'gone', market: market.name, rfqId: rfq.id, why: kind });
      if (kind === 'agreed') agreements.expect(rfq.baseAssetId, rfq.quoteAssetId);
    };
    // An RFQ that left between two feeds is in neither.
    const settled = () => {
      for (const rfqId of shown) {
        if (link.feed?.book.has(rfqId) === true) continue;
        shown.delete(rfqId);
        emit({ is: 'gone', market: market.name, rfqId, why: 'cancelled' });
      }
    };
    const feedLive = {
      set: (value: number) => {
        metrics.feedLive.set(value);
        if (value === 1) settled();
        emit({ is: 'feed', market: market.name, isLive: value === 1 });
      },
    };
    const own = { market, session, log, signal, metrics: { feedLive }, cancelSeconds: null };
    link.feed = openFeed(own, { changed, heard: () => {}, again: open });
  };
  open();
  signal.addEventListener('abort', () => link.feed?.close());
  const every = repeating({ log, failures: metrics.failures, signal });
  every('agreements', agreementsMs, () => agreements.ask(session, signal));
  every('key', renewMs, async () => {
    if (await session.renew(Date.now())) open();
  });
}

type Pair = { readonly baseAssetId: string; readonly quoteAssetId: string };

/** Asks for agreements of pairs on which one may come, and tells each once. */
export function createAgreements(market: string, emit: Emit, now: () => Millis = Date.now) {
  const expected = new Map<string, { readonly pair: Pair; untilMs: Millis }>();
  /** How many of each were told: two may be the same to the unit. */
  const told = new Map<string, { count: number; readonly agreedMs: Millis }>();

  const tell = (pair: Pair, agreements: readonly Agreement[]) => {
    const counts = new Map<string, number>();
    for (const agreement of agreements) {
      const { direction, baseAmount, quoteAmount, agreedAt } = agreement;
      const key = JSON.stringify([pair, direction, baseAmount, quoteAmount, agreedAt]);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      const before = told.get(key);
      if (before !== undefined && before.count >= count) continue;
      told.set(key, { count, agreedMs: Date.parse(agreedAt) });
      emit({ is: 'agreement', market, ...pair, agreement });
    }
  };

  const forget = () => {
    for (const [key, { untilMs }] of expected) if (untilMs < now()) expected.delete(key);
    for (const [key, { agreedMs }] of told) {
      if (told.size > mostTold || agreedMs < now() - 2 * shownMs) told.delete(key);
    }
  };

  return {
    expect: (baseAssetId: string, quoteAssetId: string): void => {
      const key = `${baseAssetId} ${quoteAssetId}`;
      expected.delete(key);
      expected.set(key, { pair: { baseAssetId, quoteAssetId }, untilMs: now() + shownMs });
      const [oldest = ''] = expected.keys();
      if (expected.size > mostPairs) expected.delete(oldest);
    },
    /** The pairs that have waited longest. */
    ask: async ({ client }: Pick<Session, 'client'>, signal: AbortSignal): Promise<void> => {
      forget();
      for (const [key, waiting] of [...expected].slice(0, mostAsked)) {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
        const { agreements } = await client.keyless.pairPrice(waiting.pair, { signal: limit });
        if (expected.delete(key)) expected.set(key, waiting);
        // The market lists the newest first.
        tell(waiting.pair, agreements.toReversed());
      }
    },
  };
}
