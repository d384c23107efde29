// The feed's events of an account's own threads, and how long its quotes outlive its connections.
// Each connection goes on where the last one heard of an event.

import { withResolvers } from '@parley/core/engines.ts';
import { graceSeconds } from '@parley/core/limits.ts';
import type { FeedEvent } from '../types.ts';
import type { ServerFrame } from './link.ts';

type OwnOptions = {
  readonly events?: readonly FeedEvent['type'][];
  readonly onEvent?: (event: FeedEvent) => void;
  readonly sinceEvent?: number;
  readonly onGap?: () => void;
  readonly cancelOnDisconnect?: number;
};

type Wanted = {
  readonly seconds: number | null;
  readonly stored: ReturnType<typeof withResolvers<void>>;
};

const { least, most } = graceSeconds;
const bounds = `cancelOnDisconnect is a whole number of seconds from ${least} to ${most}`;
/** The cause of a refused grace passes, such as an exhausted budget. */
const askAgainMs = 2_000;
const isGrace = (seconds: number) =>
  Number.isInteger(seconds) && seconds >= least && seconds <= most;

export function createOwn(options: OwnOptions, send: (frame: object) => boolean) {
  const { events, onEvent = () => {}, onGap = () => {} } = options;
  let since = options.sinceEvent ?? null;
  let seconds = options.cancelOnDisconnect ?? null;
  let wanted: Wanted | null = null;
  let isOver = false;
  let again: ReturnType<typeof setTimeout> | undefined;
  if (seconds !== null && !isGrace(seconds)) throw new RangeError(bounds);

  const ask = () => wanted !== null && send({ cancelOnDisconnect: wanted.seconds });
  const askLater = () => {
    again ??= setTimeout(() => {
      again = undefined;
      ask();
    }, askAgainMs);
  };
  const heardEvent = ({ seq: _, ...event }: FeedEvent & { seq?: number }) => {
    since = event.eventSeq;
    onEvent(event as FeedEvent);
  };

  return {
    /** Fields of the first frame. */
    greeting: () => ({
      ...(events === undefined ? {} : { events }),
      ...(events === undefined || since === null ? {} : { sinceEvent: since }),
      ...(seconds === null ? {} : { cancelOnDisconnect: seconds }),
    }),
    /** A grace that was set while there was no connection, or not answered by it. */
    connected: () => void ask(),
    take: (frame: ServerFrame): void => {
      switch (frame.type) {
        case 'subscribed':
          since = frame.eventSeq;
          if (!frame.resumed) onGap();
          return;
        case 'cancelOnDisconnect':
          if (wanted === null || frame.seconds !== wanted.seconds) return;
          wanted.stored.resolve();
          wanted = null;
          return;
        case 'quote.created':
        case 'thread.accepted':
        case 'thread.proposed':
        case 'thread.closed':
          heardEvent(frame);
          return;
        case 'error':
          // That of a quote or of levels names them.
          if (frame.idempotencyKey !== undefined || frame.baseAssetId !== undefined) return;
          if (wanted !== null) askLater();
          return;
        default:
      }
    },
    cancelOnDisconnect: (next: number | null): Promise<void> => {
      if (isOver) return Promise.reject(new Error('the feed was closed'));
      if (next !== null && !isGrace(next)) return Promise.reject(new RangeError(bounds));
      wanted?.stored.reject(new Error('something else was asked for since'));
      const stored = withResolvers<void>();
      stored.promise.catch(() => {});
      seconds = next;
      wanted = { seconds: next, stored };
      ask();
      return stored.promise;
    },
    end: (): void => {
      isOver = true;
      clearTimeout(again);
      wanted?.stored.reject(new Error('the feed was closed'));
      wanted = null;
    },
  };
}
