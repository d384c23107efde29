// Limits of following launchpads, each with its reason. docs/limits.md shows them to operators.

import { candidateForMs } from '../bounds.ts';

export const mostLaunchpads = 50;

/** Candidates of one launchpad in an hour, where the settings say nothing: each is looked at. */
export const defaultMostAnHour = 200;
/** Four looks at a time of some 30 calls each; above this they would never end. */
export const mostMostAnHour = 2_000;

/** What was launched before was given up by now, had it been seen. */
export const mostSecondsBack = candidateForMs / 1_000;

/** One look at a launchpad. */
export const readMs = 60_000;
/** After it, whoever took a launchpad in hand and did not give it back is dead. */
export const leaseMs = 2 * readMs;
/** After a look that brought nothing, because a chain was away. */
export const tryAgainMs = 10_000;
