// Limits of the API that a market, its clients and its pages share. docs/limits.md has all of them.

/** Items of a page that a client asks for. */
export const pageLimit = { least: 1, most: 100, otherwise: 20 } as const;

/** Lifetime of an RFQ in seconds: long enough to be quoted, short enough for prices to mean it. */
export const ttlSeconds = { least: 30, most: 604_800 } as const;

/** Lifetime of a price in seconds: a program can accept within it, and no RFQ lives longer. */
export const validForSeconds = { least: 5, most: ttlSeconds.most } as const;

/** Quotes of one request or frame: 6 KB of body, 15 KB of answer, 10 ms of their RFQs' locks. */
export const mostQuotesAtOnce = 50;

/**
 * Indicative levels: the most of an account on a pair, and how long one lasts. A price that nobody
 * has looked at for an hour indicates nothing.
 */
export const mostLevels = 20;
export const levelSeconds = { least: 10, most: 3_600 } as const;

/** Settled swaps that an RFQ may want of an account that quotes it. */
export const minSettled = { least: 1, most: 1_000 } as const;

/** Cancel on disconnect: for how many seconds a maker may be gone and keep its quotes. */
export const graceSeconds = { least: 5, most: 60 } as const;

/** How long a funding waits for the payee's signature of its lane: a few polls of its driver. */
export const laneGraceSeconds = 15;

/** Characters of the URL of a webhook. */
export const longestUrl = 2_048;
