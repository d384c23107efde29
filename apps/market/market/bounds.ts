// Limits of the market that no client asks for by name, each with its reason: those are in
// packages/core/limits.ts. docs/limits.md shows them to customers.

/**
 * Live RFQs of one account: PARLEY_LIVE_RFQS, so many more for each settled swap, and the most of
 * any. Else a few accounts of nobody would fill the book for nothing: docs/griefing.md.
 */
export const rfqsOfSettled = 10;
export const mostLiveRfqs = 1_000;

/** Makers that may quote one RFQ: an agreement closes all other threads in one transaction. */
export const mostThreads = 2_000;

/** Pairs of an account with indicative levels. */
export const mostLevelPairs = 100;

/** Open quotes that one request withdraws. */
export const mostWithdrawn = 500;

/** Prices that a thread remembers, newest last: a thread is one row and is read whole. */
export const mostMessages = 100;

/** Threads of one RFQ on a page, and its default. */
export const threadsPage = 100;

/** Agreements that a price is taken of: how far back, how many, and of how many at least. */
export const priceWindowSeconds = 86_400;
export const priceAgreements = 50;
export const leastAgreements = 3;
/** Agreed RFQs that are walked for them: an account may agree and never fund. */
export const mostWalked = 2_000;

/** Points of a history at most, and the RFQs that are walked for one of them, of each orientation. */
export const historyPoints = 200;
export const walkedOfPoint = 50;
export const historyDays = 30;

/**
 * The list of pairs: how many it has; the market's newest swaps that are walked for it, and pairs
 * with levels; and the levels of one side that are weighed. The walk over pairs is by id, the oldest
 * asset first: a few accounts that fill it hide pairs of newer assets that nobody traded for a day.
 */
export const mostPairsShown = 100;
export const mostSwapsWalked = 2_000;
export const mostPairsWalked = 500;
export const levelsWeighed = 20;

/** Swaps that an account's standing counts, of each side; fundings that tell its time. */
export const mostRecorded = 5_000;
export const leastFundings = 3;

/**
 * Swaps agreed to and not funded: one more for so many settled ones, so many less for an abandoned
 * one, and the most there may be. Why these: docs/griefing.md.
 */
export const settledOfPlace = 4;
export const placesOfAbandoned = 2;
export const mostUnfunded = 100;
/**
 * Newest unsettled swaps of each side that it is counted of, at each acceptance: 0.015 ms each. So
 * many newer ones take a thousand accounts of the market, whose own places are worth more.
 */
export const mostWeighed = 5_000;

/**
 * The age of RFQs and swaps that ended with nothing at stake: RFQs without a swap, swaps that
 * nobody funded.
 */
export const endedDays = 30;

/** How far back an account's standing is counted: an unfunded swap is kept a day longer. */
export const standingSeconds = (endedDays - 1) * 86_400;

/** Replies that are kept under an Idempotency-Key: refusals an account a day, bytes of each. */
export const mostKeptRefusals = 10_000;
export const mostReplyBytes = 32_768;
/**
 * Bytes of replies of success, for each request that PARLEY_RATE_LIMIT gives an account in a day:
 * 518 MB. With its row an RFQ takes 860 and a new thread 950, so a maker at its limit has room.
 */
export const keptBytesOfRequest = 1_200;
/** The size of a stored reply beside itself: row, hash, index entries and room left in pages. */
export const replyRowBytes = 450;
/** How long an event waits for its deliveries. */
export const outboxDays = 7;

/** How long it is known that a job was given up, and why; not what a message said. */
export const jobDays = 30;

/** How far back the feed's log reaches: a day, and so many entries (some 10 MB). */
export const feedLogDays = 1;
export const feedLogEntries = 20_000;

/** The entries that a returning maker may have missed: more of it is told by a fresh snapshot. */
export const mostReplayed = 2_000;

/** Sessions in the browser: one that nobody uses ends; an ended one is known for so long. */
export const idleDays = 30;
export const endedSessionDays = 30;
/** A browser that was not seen for so long is new again, and forgotten. */
export const deviceDays = 365;
/** Codes for sign-ins by mail: as long as they are counted. */
export const codeDays = 1;

/** Halted assets that the status names: an operator that halts more halts chains. */
export const mostHaltedShown = 100;
