// What escrows show at one tip of the chain.

import type { Look, WatchedEscrow } from '../adapter.ts';
import { escrowFacts } from './escrow-facts.ts';
import { historyOf } from './escrow-index.ts';
import { type Follower, followToEnd } from './follower.ts';

/** They are followed for at least as long as this takes. */
export async function look(
  follower: Follower,
  escrows: readonly WatchedEscrow[],
  signal: AbortSignal,
): Promise<Look> {
  const { index, backend } = follower;
  const [first, ...others] = escrows;
  if (first === undefined) return { heads: await backend.tip(signal), facts: [] };
  for (;;) {
    let heads = await followToEnd(follower, first.address, signal);
    for (const { address } of others) heads = await followToEnd(follower, address, signal);
    // Somebody else may have followed on meanwhile.
    if (heads.hash !== index.blocks.at(-1)?.hash) continue;
    const facts = escrows.map(({ address, terms, requiredConfirmations }) =>
      escrowFacts(historyOf(index, address), terms.amount, requiredConfirmations),
    );
    return { heads, facts };
  }
}
