// How fast a maker may quote: so many quotes and so many requests within a minute, and none for a
// while after the market has said that it is too many.

import type { Millis } from '@parley/core/nominal.ts';
import type { Limits } from './config/config.ts';

/** The maker quotes nothing for this time after the market has refused its pace. */
const windowMs = 60_000;
/** After the market has refused one as too many. */
const stoppedMs = windowMs / 4;

type Sent = { readonly at: Millis; readonly quotes: number };

export function createPace(
  { quotesAMinute, requestsAMinute }: Pick<Limits, 'quotesAMinute' | 'requestsAMinute'>,
  mostInBatch: number,
  now: () => Millis,
) {
  const sent: Sent[] = [];
  let stoppedUntil = 0;
  return {
    /** Whether one more quote may be sent beside so many that wait to be. */
    hasRoom: (waiting: number): boolean => {
      const at = now();
      while (sent.length > 0 && (sent[0]?.at ?? 0) <= at - windowMs) sent.shift();
      const quotes = sent.reduce((sum, each) => sum + each.quotes, waiting + 1);
      const requests = sent.length + Math.ceil((waiting + 1) / mostInBatch);
      return at >= stoppedUntil && quotes <= quotesAMinute && requests <= requestsAMinute;
    },
    /** One request with so many. */
    sent: (quotes: number): void => void sent.push({ at: now(), quotes }),
    stop: (): void => {
      stoppedUntil = now() + stoppedMs;
    },
  };
}
