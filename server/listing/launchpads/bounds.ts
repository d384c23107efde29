// Limits of following launchpads, each with its reason. docs/limits.md shows them to operators.

import { candidateEveryMs, candidateForMs, mostLaunched } from '../bounds.ts';

export const mostLaunchpads = 50;

/**
 * Candidates of one launchpad in an hour, where the settings say nothing. One that is never listed
 * nor refused waits for 168 hours: of 11 an hour 1 848 wait at a time, and 2 000 may.
 */
export const defaultMostAnHour = Math.floor((mostLaunched * candidateEveryMs) / candidateForMs);
/** No more may wait, whatever the hour brings. */
export const mostMostAnHour = mostLaunched;

/** What was launched before was given up by now, had it been seen. */
export const mostSecondsBack = candidateForMs / 1_000;

/** One look at a launchpad. */
export const readMs = 60_000;
/** After it, whoever took a launchpad in hand and did not give it back is dead. */
export const leaseMs = 2 * readMs;
/** After a look that brought nothing, because a chain was away. */
export const tryAgainMs = 10_000;
