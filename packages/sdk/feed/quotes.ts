// Quotes on their way: one of an RFQ at a time, each answered once, and sent again only while its
// price holds.

import { QuoteError } from '../errors.ts';
import type { ServerFrame } from './link.ts';

export type Quoted = { readonly rfqId: string; readonly threadId: string };

type Pending = {
  readonly rfqId: string;
  readonly terms: Terms;
  /** It is not sent after this. */
  readonly staleAt: number;
  /** Whether the market may have it. */
  sent: boolean;
  timer: NodeJS.Timeout;
  readonly resolve: (quoted: Quoted) => void;
  readonly reject: (error: QuoteError) => void;
};

type Terms = {
  readonly quoteAmount: string;
  readonly idempotencyKey: string;
  readonly validForSeconds?: number | undefined;
  readonly unlessAccepted?: boolean | undefined;
};
type Wanted = Terms & { readonly rfqId: string; readonly goodForMs: number };

const answerMs = 15_000;
const mostPending = 10_000;
const stillRunning = 'still_running';
const againMs = 200;

export function createQuotes(
  send: (frame: object) => boolean,
  now: () => number = () => performance.now(),
) {
  const pending = new Map<string, Pending>();
  /** The next price of an RFQ whose last one is not answered. */
  const next = new Map<string, Pending>();
  let over = false;

  const drop = (each: Pending, error: QuoteError) => {
    clearTimeout(each.timer);
    if (next.get(each.rfqId) === each) next.delete(each.rfqId);
    if (pending.get(each.rfqId) === each) pending.delete(each.rfqId);
    each.reject(error);
  };

  const go = (each: Pending) => {
    pending.set(each.rfqId, each);
    trySending(each);
  };

  const trySending = (each: Pending) => {
    if (now() > each.staleAt) return;
    if (send({ quote: { rfqId: each.rfqId, ...each.terms } })) each.sent = true;
  };

  const advance = (rfqId: string) => {
    const waiting = next.get(rfqId);
    next.delete(rfqId);
    if (waiting !== undefined) go(waiting);
  };

  const expire = (each: Pending) => {
    if (each.sent && now() <= each.staleAt + answerMs) {
      each.timer = setTimeout(() => expire(each), answerMs + 1);
      return;
    }
    const said = each.sent
      ? new QuoteError('unknown', `no answer to the quote on ${each.rfqId}: it may have been taken`)
      : new QuoteError('stale', `the quote on ${each.rfqId} could not be sent in time`);
    const wasPending = pending.get(each.rfqId) === each;
    drop(each, said);
    if (wasPending) advance(each.rfqId);
  };

  return {
    quote: ({ rfqId: given, goodForMs, ...terms }: Wanted) =>
      new Promise<Quoted>((resolve, reject) => {
        if (over) return reject(new QuoteError('closed', 'the feed was closed'));
        const rfqId = given.toLowerCase();
        if (pending.size + next.size >= mostPending) {
          const sentence = `${mostPending} quotes wait for their answers`;
          reject(new QuoteError('refused', sentence, 'overloaded'));
          return;
        }
        const each: Pending = {
          rfqId,
          terms,
          staleAt: now() + goodForMs,
          sent: false,
          timer: setTimeout(() => expire(each), goodForMs),
          resolve,
          reject,
        };
        const before = next.get(rfqId);
        const words = `another price for ${rfqId} came after it`;
        if (before !== undefined) drop(before, new QuoteError('superseded', words));
        const first = pending.get(rfqId);
        if (first === undefined) return go(each);
        if (!first.sent) {
          drop(first, new QuoteError('superseded', words));
          return go(each);
        }
        next.set(rfqId, each);
      }),
    /** Whether it was an answer of the market to one of these. */
    take: (frame: ServerFrame): boolean => {
      if (frame.type !== 'quoted' && frame.type !== 'error') return false;
      if (frame.rfqId === undefined) return false;
      const each = pending.get(frame.rfqId.toLowerCase());
      if (each === undefined) return false;
      // An answer to one that was given up, late.
      const own = each.terms.idempotencyKey;
      if ((frame.idempotencyKey ?? own) !== own) return true;
      if (frame.type === 'error' && frame.code === stillRunning) {
        // Its own first try, sent before the connection was lost.
        setTimeout(() => pending.get(each.rfqId) === each && trySending(each), againMs);
        return true;
      }
      clearTimeout(each.timer);
      pending.delete(each.rfqId);
      if (frame.type === 'quoted') {
        each.resolve({ rfqId: frame.rfqId, threadId: frame.threadId });
      } else {
        each.reject(new QuoteError('refused', frame.error, frame.code ?? null));
      }
      advance(each.rfqId);
      return true;
    },
    /** Sends what still holds. */
    connected: () => {
      for (const each of [...pending.values()]) {
        const newer = next.get(each.rfqId);
        if (newer !== undefined && each.sent) {
          const words = `another price for ${each.rfqId} came after it; it may have been taken`;
          drop(each, new QuoteError('superseded', words));
          advance(each.rfqId);
        } else trySending(each);
      }
    },
    end: () => {
      over = true;
      for (const each of [...pending.values(), ...next.values()]) {
        drop(each, new QuoteError('closed', 'the feed was closed'));
      }
    },
  };
}
