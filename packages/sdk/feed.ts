// The maker feed: the book kept true through lost connections, and quotes down the same socket.

import { parleyClient } from './client.ts';
import { type KeepOptions, keepBook } from './feed/keeping.ts';
import { createLevels } from './feed/levels.ts';
import { createLink, type Link, type LinkState, type LinkTo, linkOf } from './feed/link.ts';
import { createOwn } from './feed/own.ts';
import { createQuotes, type Quoted } from './feed/quotes.ts';
import type { HttpOptions } from './http.ts';
import type { FeedEvent, PublishedLevels, PublishLevels, Rfq } from './types.ts';

export type { AssetPair, BookChange } from './feed/entries.ts';
export type { Quoted } from './feed/quotes.ts';
export type { FeedEvent } from './types.ts';

export type MakerFeedOptions = HttpOptions &
  LinkTo &
  KeepOptions & {
    /** Events of your own threads, and of quotes on your RFQs, that `onEvent` is told of. */
    readonly events?: readonly FeedEvent['type'][];
    /** In order, and none twice; those that were missed when a connection is there again. */
    readonly onEvent?: (event: FeedEvent) => void;
    /** The last `eventSeq` that an earlier run gave to `onEvent`. */
    readonly sinceEvent?: number;
    /**
     * Earlier entries are not emitted: at the beginning, or when too much was missed. Read `quotes`.
     */
    readonly onGap?: () => void;
    /** Your open quotes and levels are withdrawn when you were gone for so many seconds, 5 to 60. */
    readonly cancelOnDisconnect?: number;
  };

export type QuoteHow = {
  readonly goodForMs?: number;
  readonly idempotencyKey?: string;
  /** How long the price holds, from its receipt: 5 to 604 800. */
  readonly validForSeconds?: number;
  /** Refused while the taker's acceptance of the price before stands. */
  readonly unlessAccepted?: boolean;
};

export type MakerFeed = {
  /** RFQs of others, public or for this account, by id; while `live` as the market has them. */
  readonly book: ReadonlyMap<string, Rfq>;
  /** Resolves when the book is whole for the first time; rejects where it never can be. */
  readonly ready: Promise<void>;
  state(): LinkState;
  /**
   * Sent again only within `goodForMs` (default 5 000), under one idempotency key, and never after
   * another price.
   */
  quote(rfqId: string, quoteAmount: string | bigint, how?: QuoteHow): Promise<Quoted>;
  /**
   * In place of your levels of the pair; an empty list withdraws them. Sent once, and only while
   * there is a connection. Rejects with a QuoteError.
   */
  publishLevels(levels: PublishLevels): Promise<PublishedLevels>;
  close(): void;
};

const defaultGoodForMs = 5_000;

export function makerFeed(options: MakerFeedOptions): MakerFeed {
  const { onError = () => {} } = options;
  const client = parleyClient(options);
  const kept = keepBook(client, options);
  const quotes = createQuotes((frame) => link.send(frame));
  const levels = createLevels((frame) => link.send(frame));
  const own = createOwn(options);
  const end = (why: string) => {
    quotes.end();
    levels.end();
    kept.end(why);
  };
  const link: Link = createLink({
    ...linkOf(options, client),
    greeting: own.greeting,
    heard: (frame) => {
      own.take(frame);
      kept.take(frame);
      const isAnswer = quotes.take(frame) || levels.take(frame);
      if (!isAnswer && frame.type === 'error') onError(frame.error);
    },
    changed: (next) => {
      if (next === 'live') quotes.connected();
      else levels.lost();
      kept.moved(next);
    },
    ended: (why) => {
      end(why);
      onError(why);
    },
  });

  return {
    book: kept.rfqs,
    ready: kept.ready,
    state: kept.state,
    quote: (rfqId, quoteAmount, { goodForMs = defaultGoodForMs, ...how } = {}) =>
      quotes.quote({
        ...how,
        rfqId,
        quoteAmount: quoteAmount.toString(),
        idempotencyKey: how.idempotencyKey ?? crypto.randomUUID(),
        goodForMs,
      }),
    publishLevels: levels.publish,
    close: () => {
      end('the feed was closed');
      link.close();
    },
  };
}
