// The cost of a transaction of an operator's gas key, by every node of its chain: one alone could
// say any number, and what is counted too low undoes the bounds of a day.

import { saidInTime } from '../nodes/sources.ts';
import type { Paid } from './account.ts';

/** Once one has said it the others have so long: a node that hangs holds up no job. */
export const othersMs = 1_000;

/** The highest of what they say; a failure or an impossible word is none. */
export async function paidByAll(
  sources: number,
  ask: (at: number, signal: AbortSignal) => Promise<bigint | null>,
  signal: AbortSignal,
): Promise<Paid | null> {
  const said = await saidInTime(sources, ask, othersMs, signal);
  signal.throwIfAborted();
  if (said.length === 0) return null;
  let cost = 0n;
  for (const each of said) if (each > cost) cost = each;
  return { cost, said: said.length };
}
