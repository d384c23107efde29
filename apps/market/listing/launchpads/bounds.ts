// Limits of following launchpads, each with its reason. docs/limits.md shows them to operators.

import { candidateEveryMs, candidateForMs, mostLaunched } from '../bounds.ts';

/** Launchpads that a setting may name. The start refuses more. */
export const mostLaunchpads = 50;

/** The limit follows from 11 an hour: 1 848 wait at a time (168 hours each), and 2 000 may. */
export const defaultMostAnHour = Math.floor((mostLaunched * candidateEveryMs) / candidateForMs);
/** No more may wait, whatever the hour brings. */
export const mostMostAnHour = mostLaunched;

/** An earlier launch would have been given up by now, had it been seen. */
export const mostSecondsBack = candidateForMs / 1_000;

export const readMs = 60_000;
/** After it, whoever took a launchpad in hand and did not give it back is dead. */
export const leaseMs = 2 * readMs;
/** After a look that brought nothing, because a chain was away. */
export const tryAgainMs = 10_000;
