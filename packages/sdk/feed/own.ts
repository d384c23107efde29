// The feed's events of an account's own threads, and how long its quotes outlive its connections.
// Each connection goes on where the last one heard of an event.

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

const { least, most } = graceSeconds;

function mustBeGrace(seconds: number): void {
  if (Number.isInteger(seconds) && seconds >= least && seconds <= most) return;
  const bounds = `a whole number of seconds from ${least} to ${most}`;
  throw new RangeError(`cancelOnDisconnect is ${bounds}`);
}

export function createOwn(options: OwnOptions) {
  const { events, onEvent = () => {}, onGap = () => {}, cancelOnDisconnect } = options;
  if (cancelOnDisconnect !== undefined) mustBeGrace(cancelOnDisconnect);
  let since = options.sinceEvent ?? null;
  const heardEvent = ({ seq: _, ...event }: FeedEvent & { seq?: number }) => {
    since = event.eventSeq;
    onEvent(event as FeedEvent);
  };
  return {
    /** Fields of the first frame. */
    greeting: () => ({
      ...(events === undefined ? {} : { events }),
      ...(events === undefined || since === null ? {} : { sinceEvent: since }),
      ...(cancelOnDisconnect === undefined ? {} : { cancelOnDisconnect }),
    }),
    take: (frame: ServerFrame): void => {
      switch (frame.type) {
        case 'subscribed':
          since = frame.eventSeq;
          if (!frame.resumed) onGap();
          return;
        case 'quote.created':
        case 'thread.accepted':
        case 'thread.proposed':
        case 'thread.closed':
          heardEvent(frame);
          return;
        default:
      }
    },
  };
}
