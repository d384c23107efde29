// The maker feed: the book kept true through lost connections, and quotes down the same socket.

import { sleep } from '@parley/chains/nodes/turn.ts';
import { withResolvers } from '@parley/core/engines.ts';
import { pageLimit } from '@parley/core/limits.ts';
import { type ParleyClient, parleyClient } from './client.ts';
import { type Book, type BookChange, createBook } from './feed/book.ts';
import { createLevels } from './feed/levels.ts';
import { createLink, type Link, type LinkState, type ServerFrame } from './feed/link.ts';
import { createOwn } from './feed/own.ts';
import { createQuotes, type Quoted } from './feed/quotes.ts';
import { type HttpOptions, keyText } from './http.ts';
import type { FeedEvent, Page, PublishedLevels, PublishLevels, Rfq } from './types.ts';

export type { BookChange } from './feed/book.ts';
export type { Quoted } from './feed/quotes.ts';
export type { FeedEvent } from './types.ts';

export type MakerFeedOptions = HttpOptions & {
  /** Instead of a key with the scope `maker`: asks for a ticket, of whoever `fetch` signs in. */
  readonly ticket?: () => Promise<string>;
  /** An RFQ came, or left the book. */
  readonly onChange?: (change: BookChange) => void;
  /** `live`: the book is whole and changes are heard. */
  readonly onState?: (state: LinkState) => void;
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
  /** Refusals that answer no quote, lost connections, the reason why it was given up. */
  readonly onError?: (sentence: string) => void;
  /** From 0 to 1: the part of its longest wait after which it connects again. */
  readonly random?: () => number;
  /** How often private RFQs are read anew, for wallets proven or removed meanwhile: a minute. */
  readonly renewMs?: number;
  /** Instead of the runtime's WebSocket. */
  readonly open?: (url: string) => WebSocket;
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
  /**
   * Sets how long your quotes outlive this feed, from now on; null = they stay when you go.
   * Resolves when the market has stored it; rejects where the feed is closed before.
   */
  cancelOnDisconnect(seconds: number | null): Promise<void>;
  close(): void;
};

const defaultGoodForMs = 5_000;
/** The most entries of a snapshot: the rest is read by REST. */
const snapshotSize = pageLimit.most;
const mostPages = 1_000;
const againMs = 1_000;
/** How late a wallet that was proven or removed elsewhere shows in private RFQs. */
const renewMs = 60_000;

export function makerFeed(options: MakerFeedOptions): MakerFeed {
  const { onChange = () => {}, onState = () => {}, onError = () => {} } = options;
  const client = parleyClient(options);
  const book = createBook(() => Date.now());
  const first = withResolvers<void>();
  first.promise.catch(() => {});
  const stop = new AbortController();
  let state: LinkState = 'connecting';
  /** Counts snapshots: a page that was being read for an earlier one is of no use. */
  let filling = 0;
  let whole = false;

  const tell = (changes: readonly BookChange[]) => {
    for (const each of changes) onChange(each);
  };
  const move = (next: LinkState) => {
    if (next === state) return;
    state = next;
    onState(next);
  };
  const live = () => {
    whole = true;
    move('live');
    first.resolve();
  };

  const quotes = createQuotes((frame) => link.send(frame));
  const levels = createLevels((frame) => link.send(frame));
  const own = createOwn(options, (frame) => link.send(frame));
  const link: Link = createLink({
    url: `${options.baseUrl.replace(/^http/, 'ws').replace(/\/$/, '')}/v1/ws`,
    key: options.ticket ?? keyText(options.key ?? ''),
    ...(options.random === undefined ? {} : { random: options.random }),
    ...(options.open === undefined ? {} : { open: options.open }),
    greeting: own.greeting,
    heard: (frame) => {
      own.take(frame);
      tell(book.take(frame));
      if (frame.type === 'snapshot') begin(frame);
      const isAnswer = quotes.take(frame) || levels.take(frame);
      if (!isAnswer && frame.type === 'error') onError(frame.error);
    },
    changed: (next) => {
      if (next === 'live') quotes.connected();
      if (next === 'live') own.connected();
      else levels.lost();
      if (next !== 'live') move(next);
      else if (whole) live();
    },
    troubled: onError,
    ended: (sentence) => {
      clearInterval(renewing);
      quotes.end();
      levels.end();
      own.end();
      stop.abort();
      first.reject(new Error(sentence));
      onError(sentence);
    },
  });

  /** A snapshot that is full is the newest part of the book. */
  const begin = (frame: ServerFrame & { type: 'snapshot' }) => {
    filling += 1;
    const lists = [frame.rfqs, frame.addressed ?? []];
    whole = lists.every(({ length }) => length < snapshotSize);
    if (whole) tell(book.settle());
    else fill(filling).catch(() => {}); // Stopped.
  };

  const isLive = () => state === 'live';
  const renew = async () => {
    if (!isLive()) return;
    const { signal } = stop;
    const turn = filling;
    const there = await readAll(client, { addressed: true }, () => turn === filling, signal);
    if (turn === filling && isLive()) tell(book.renew(there));
  };
  const renewing = setInterval(() => {
    renew().catch(() => {}); // Again in a minute.
  }, options.renewMs ?? renewMs);
  (renewing as Partial<NodeJS.Timeout>).unref?.();

  const fill = async (turn: number) => {
    for (;;) {
      try {
        await fillFrom(client, book, tell, () => turn === filling, stop.signal);
        break;
      } catch (error) {
        stop.signal.throwIfAborted();
        onError(`the rest of the book could not be read: ${(error as Error).message}`);
        await sleep(againMs, stop.signal);
      }
    }
    if (turn !== filling) return;
    tell(book.settle());
    whole = true;
    if (link.isLive()) live();
  };

  return {
    book: book.rfqs,
    ready: first.promise,
    state: () => state,
    quote: (rfqId, quoteAmount, { goodForMs = defaultGoodForMs, ...how } = {}) =>
      quotes.quote({
        ...how,
        rfqId,
        quoteAmount: quoteAmount.toString(),
        idempotencyKey: how.idempotencyKey ?? crypto.randomUUID(),
        goodForMs,
      }),
    publishLevels: levels.publish,
    cancelOnDisconnect: own.cancelOnDisconnect,
    close: () => {
      clearInterval(renewing);
      stop.abort();
      quotes.end();
      levels.end();
      own.end();
      link.close();
      first.reject(new Error('the feed was closed'));
    },
  };
}

async function fillFrom(
  client: ParleyClient,
  book: Book,
  tell: (changes: readonly BookChange[]) => void,
  wanted: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  const { userId } = await client.me({ signal });
  for (const list of [{}, { addressed: true }]) {
    const rfqs = await readAll(client, list, wanted, signal);
    if (!wanted()) return;
    tell(book.fill(rfqs.filter(({ creatorId }) => creatorId !== userId)));
  }
}

async function readAll(
  client: ParleyClient,
  list: { addressed?: boolean },
  wanted: () => boolean,
  signal: AbortSignal,
): Promise<Rfq[]> {
  const all: Rfq[] = [];
  let next: { cursor?: string } | null = {};
  for (let pages = 0; pages < mostPages && next !== null && wanted(); pages += 1) {
    const query = { limit: snapshotSize, ...list, ...next };
    const { rfqs, nextCursor }: Page<'rfqs', Rfq> = await client.rfqs(query, { signal });
    all.push(...rfqs);
    next = nextCursor === null ? null : { cursor: nextCursor };
  }
  return all;
}
