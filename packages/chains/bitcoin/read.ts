// The facts of escrows at one tip of the chain.

import type { EscrowFacts } from '@parley/core/facts.ts';
import type { Look, WatchedEscrow } from '../interface/reading.ts';
import { escrowFacts } from './escrow-facts.ts';
import { historyOf } from './escrow-index.ts';
import { type Follower, followToEnd } from './follower.ts';
import { timedOut } from './http.ts';

/** Reads at tips that somebody else follows on from meanwhile. */
const mostTries = 20;

export function factsOf({ index }: Follower, escrow: WatchedEscrow): EscrowFacts {
  const { address, terms, requiredConfirmations } = escrow;
  return escrowFacts(historyOf(index, address), terms.amount, requiredConfirmations);
}

/** They are followed for at least as long as this takes. */
export async function look(
  follower: Follower,
  escrows: readonly WatchedEscrow[],
  signal: AbortSignal,
): Promise<Look> {
  const { index, backend } = follower;
  const [first, ...others] = escrows;
  if (first === undefined) return { heads: await backend.tip(signal), facts: [] };
  for (let tries = 0; tries < mostTries; tries += 1) {
    let heads = await followToEnd(follower, first.address, signal);
    for (const { address } of others) heads = await followToEnd(follower, address, signal);
    // Somebody else may have followed on meanwhile.
    if (heads.hash !== index.blocks.at(-1)?.hash) continue;
    return { heads, facts: escrows.map((each) => factsOf(follower, each)) };
  }
  throw timedOut(backend.name);
}
