// The feed of one market, by a key that is replaced once where it ends.

import { threadTopics } from '@parley/core/events.ts';
import type { Millis } from '@parley/core/nominal.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { type BookChange, type FeedEvent, type MakerFeed, makerFeed } from '@parley/sdk/feed.ts';
import type { MarketConfig } from './config/config.ts';
import type { Log } from './log.ts';
import type { MarketMetrics } from './metrics.ts';
import type { Session } from './session.ts';
import { openSocket } from './socket.ts';

/** Between two tries to connect to the feed with a new key. */
const againMs = 5_000;
/** The limit of a frame of the feed: the newest 200 RFQs are a tenth of it. */
const mostFrameBytes = 8_388_608;

export type FeedDesk = {
  readonly market: Pick<MarketConfig, 'url' | 'shortName'>;
  /** null: the connection stands for no quotes. */
  readonly cancelSeconds: number | null;
  readonly session: Pick<Session, 'key' | 'renew'>;
  readonly metrics: Pick<MarketMetrics, 'feedLive'>;
  readonly log: Log;
  readonly signal: AbortSignal;
};

export type Hearing = {
  readonly changed: (change: BookChange) => void;
  readonly heard: (event: FeedEvent) => void;
  /** With the key of then. */
  readonly again: () => void;
};

export function openFeed(
  { market, cancelSeconds, session, metrics, log, signal }: FeedDesk,
  { changed, heard, again }: Hearing,
  pauseMs: Millis = againMs,
): MakerFeed {
  const { shortName, url: baseUrl } = market;
  const key = session.key();
  let isOver = false;
  /** The key was revoked. Where another took its place, whoever minted that opens a feed. */
  const renew = () => {
    if (signal.aborted || session.key() !== key) return;
    session.renew(Number.POSITIVE_INFINITY).then(again, (error: unknown) => {
      log.error('no_key', { error: messageOf(error) });
      setTimeout(renew, pauseMs * 12).unref();
    });
  };
  return makerFeed({
    baseUrl,
    key,
    ...(shortName === undefined ? {} : { shortName }),
    ...(cancelSeconds === null ? {} : { events: threadTopics, cancelOnDisconnect: cancelSeconds }),
    open: (address) => openSocket(address, mostFrameBytes),
    onChange: changed,
    onEvent: heard,
    onState: (state) => {
      metrics.feedLive.set(state === 'live' ? 1 : 0);
      log.info('feed', { state });
    },
    onError: (error) => {
      log.warn('feed_error', { error });
      // It is said in a frame and again at the end: two mints would revoke each other's key.
      if (isOver || !/^the API key/.test(error)) return;
      isOver = true;
      setTimeout(renew, pauseMs).unref();
    },
  });
}
