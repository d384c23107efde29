// The facts of escrows at one tip of the chain. A secret that either source shows is known. The
// first reads all else that it missed itself, once the second says in which block it is.

import type { EscrowFacts } from '@parley/core/facts.ts';
import type { Heads, Look, WatchedEscrow } from '../interface/reading.ts';
import { escrowFacts } from './escrow-facts.ts';
import { historyOf, minedTransactions, takeSecrets } from './escrow-index.ts';
import { catchUp, type Follower, followOnce, followToEnd, takeBlocks } from './follower.ts';
import { timedOut } from './http.ts';

/** Reads at tips that somebody else follows on from meanwhile. */
const mostTries = 20;

/** For what the second source is asked in one look: one that hangs must not use up its time. */
const secondMs = 3_000;

export type Both = { readonly follower: Follower; readonly second: Follower | null };

function forSecond(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(secondMs)]);
}

/** One pass; the second source, which may be silent, is asked for secrets alone. */
export async function followChanges(
  { follower, second }: Both,
  signal: AbortSignal,
): Promise<Heads> {
  const passing = followOnce(follower, null, signal);
  const hearing = second && followOnce(second, null, forSecond(signal)).catch(() => null);
  const [{ heads }] = await Promise.all([passing, hearing]);
  if (second !== null) takeSecrets(follower.index, second.index);
  return heads;
}

/** One pass over the blocks alone, so that no look has to read them. */
export async function catchUpBoth({ follower, second }: Both, signal: AbortSignal): Promise<Heads> {
  const hearing = second && catchUp(second, forSecond(signal)).catch(() => null);
  const [heads] = await Promise.all([catchUp(follower, signal), hearing]);
  return heads;
}

/** Until everything about this escrow is known, by the second source too if it answers in time. */
export async function followBoth(
  { follower, second }: Both,
  address: string,
  signal: AbortSignal,
  until = forSecond(signal),
): Promise<Heads> {
  const heads = await followToEnd(follower, address, signal);
  // Once at each best block.
  if (second === null || until.aborted || follower.heardAt.get(address) === heads.hash) {
    return heads;
  }
  follower.heardAt.set(address, heads.hash);
  const heard = await followToEnd(second, address, until).catch(() => null);
  takeSecrets(follower.index, second.index);
  const known = minedTransactions(follower.index, address);
  const heights = [...(heard === null ? [] : minedTransactions(second.index, address))].flatMap(
    (txid) => (known.has(txid) ? [] : (second.index.records.get(txid)?.height ?? [])),
  );
  if (heights.length > 0) await takeBlocks(follower, new Set(heights), signal);
  return heads;
}

export function factsOf({ index }: Follower, escrow: WatchedEscrow): EscrowFacts {
  const { address, terms, requiredConfirmations } = escrow;
  return escrowFacts(historyOf(index, address), terms.amount, requiredConfirmations);
}

/** They are followed for at least as long as this takes. */
export async function look(
  both: Both,
  escrows: readonly WatchedEscrow[],
  signal: AbortSignal,
): Promise<Look> {
  const { follower } = both;
  const { index, backend } = follower;
  const [first, ...others] = escrows;
  if (first === undefined) return { heads: await backend.tip(signal), facts: [] };
  const until = forSecond(signal);
  for (let tries = 0; tries < mostTries; tries += 1) {
    let heads = await followBoth(both, first.address, signal, until);
    for (const { address } of others) heads = await followBoth(both, address, signal, until);
    // Somebody else may have followed on meanwhile.
    if (heads.hash !== index.blocks.at(-1)?.hash) continue;
    return { heads, facts: escrows.map((each) => factsOf(follower, each)) };
  }
  throw timedOut(backend.name);
}
