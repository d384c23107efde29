// Limits of listing tokens, each with its reason. docs/limits.md shows them to customers.

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A candidate is looked at this often, for so long. */
export const candidateEveryMs = hourMs;
export const candidateForMs = 7 * dayMs;

/** A rejection within a token's first day is confirmed by a later look. In SQL too. */
export const openingForMs = dayMs;

export const assetEveryMs = dayMs;

export const closedEveryMs = hourMs;

/** From the look that closes a token to the one that delists it: a halt of hours ends. */
export const confirmAfterMs = dayMs;

/** A listed token that no look could be made at for so long closes, where its chain answers. */
export const unseenForMs = 2 * dayMs;

/** The time for which a rejected or expired token is remembered, so that no process looks again. */
export const forgottenAfterMs = 90 * dayMs;

/** After a look that brought no answer, because a chain or a source of market data was away. */
export const tryAgainMs = 600_000;

/** Candidates of one account that wait: each costs a look every hour. */
export const mostPending = 100;

/** Looks at a time, for requests and in the background: each is some 30 calls of a node. */
export const mostLooks = { asked: 8, ofAnAccount: 2, background: 4 } as const;

/** A look in the background may take so long; one that a request waits for, its share of that. */
export const lookMs = 60_000;

export const batch = 20;

/** The most of them that launchpads get while others are due, which are taken before theirs. */
export const batchOfLaunchpads = batch / 2;

const ordinaryLookMs = 3_600;

/** 4 lanes make 4 000 looks of 3.6 s an hour; launchpads get half, each an equal share. */
export const mostLaunched =
  (mostLooks.background * candidateEveryMs * batchOfLaunchpads) / (ordinaryLookMs * batch);

/** A listed symbol has at most 32 characters. A longer one is refused. */
export const mostSymbolLength = 32;

/** A request that waits holds one of ten connections; ten thousand orders take half a second. */
export const mostLockMs = 500;
