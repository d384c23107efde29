// What escrows show at one tip of the chain, and whether two sources of it agree. Where they differ
// nobody funds or reveals by them. Refunds and public claims go on: waiting only loses money there.
// What one source has missed it reads once the other says in which block it is.

import { type Fact, ParleyError } from '../../core/errors.ts';
import type { Heads, Look, WatchedEscrow } from '../interface/reading.ts';
import { escrowFacts } from './escrow-facts.ts';
import { historyOf, minedTransactions } from './escrow-index.ts';
import { type Follower, followToEnd, takeBlocks } from './follower.ts';
import { timedOut } from './http.ts';

/** Reads at tips that somebody else follows on from meanwhile. */
const mostTries = 20;

/** For what the second source is asked about one escrow. */
const secondMs = 3_000;

export type Both = { readonly follower: Follower; readonly second: Follower | null };

/** Until everything about this escrow is known, by the second source too if it answers in time. */
export async function followBoth(
  { follower, second }: Both,
  address: string,
  signal: AbortSignal,
): Promise<Heads> {
  const heads = await followToEnd(follower, address, signal);
  // Once at each best block.
  if (second === null || follower.heardAt.get(address) === heads.hash) return heads;
  follower.heardAt.set(address, heads.hash);
  const until = AbortSignal.any([signal, AbortSignal.timeout(secondMs)]);
  const heard = await followToEnd(second, address, until).catch(() => null);
  const known = minedTransactions(follower.index, address);
  const heights = [...(heard === null ? [] : minedTransactions(second.index, address))].flatMap(
    (txid) => (known.has(txid) ? [] : (second.index.records.get(txid)?.height ?? [])),
  );
  if (heights.length > 0) await takeBlocks(follower, new Set(heights), signal);
  return heads;
}

function factsOf({ index }: Follower, { address, terms, requiredConfirmations }: WatchedEscrow) {
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
  for (let tries = 0; tries < mostTries; tries += 1) {
    let heads = await followBoth(both, first.address, signal);
    for (const { address } of others) heads = await followBoth(both, address, signal);
    // Somebody else may have followed on meanwhile.
    if (heads.hash !== index.blocks.at(-1)?.hash) continue;
    return { heads, facts: escrows.map((each) => factsOf(follower, each)) };
  }
  throw timedOut(backend.name);
}

/** Blocks by which one source may be ahead: two arrive within a minute now and then. */
const mostAhead = 2;

function disagree(sentence: string, facts: Record<string, Fact>): ParleyError {
  const start = 'two sources of the chain disagree, so nothing is funded or revealed';
  return new ParleyError('sources_disagree', `${start}: ${sentence}`, facts);
}

/** Both must stand on one chain. Throws `sources_disagree`. */
export async function mustAgreeOnHeads(
  first: Follower,
  second: Follower,
  signal: AbortSignal,
): Promise<void> {
  const [a, b] = await Promise.all([first.backend.tip(signal), second.backend.tip(signal)]);
  const facts = { first: a.height, second: b.height };
  if (Math.abs(a.height - b.height) > mostAhead) {
    throw disagree(`one is at block ${a.height}, the other at ${b.height}`, facts);
  }
  const height = Math.min(a.height, b.height);
  const asking = [first, second].map(({ backend }) => backend.blockHash(height, signal));
  const hashes = await Promise.all(asking);
  if (hashes[0] !== hashes[1]) throw disagree(`their blocks ${height} differ`, facts);
}

/** Both must show the same payment at depth. Throws `sources_disagree`. */
export async function mustAgreeOnFunding(
  first: Follower,
  second: Follower,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<void> {
  const { address } = escrow;
  const [a, b] = await Promise.all(
    [first, second].map(async (follower) => {
      await followToEnd(follower, address, signal);
      return factsOf(follower, escrow).funded;
    }),
  );
  if (a?.txid === b?.txid && a?.deep === b?.deep) return;
  const shown = [a, b].map((funded) =>
    funded ? `${funded.txid} at ${funded.confirmations} confirmations` : 'no payment',
  );
  throw disagree(`for ${address} one shows ${shown.join(', the other ')}`, { escrow: address });
}
