// Two sources of one chain: where they disagree, nobody funds or reveals a secret by them. Claims
// with a public secret and refunds go on: waiting can only lose money there.

import type { Fact } from '../../core/errors.ts';
import { ParleyError } from '../../core/errors.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { escrowFacts } from './escrow-facts.ts';
import { historyOf } from './escrow-index.ts';
import { type Follower, followToEnd } from './follower.ts';

/** Blocks by which one source may be ahead: two arrive within a minute now and then. */
const mostAhead = 2;

function disagree(sentence: string, facts: Record<string, Fact>): ParleyError {
  return new ParleyError(
    'sources_disagree',
    `two sources of the chain disagree, so nothing is funded or revealed: ${sentence}`,
    facts,
  );
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
  const hashes = await Promise.all(
    [first, second].map(({ backend }) => backend.blockHash(height, signal)),
  );
  if (hashes[0] !== hashes[1]) throw disagree(`their blocks ${height} differ`, facts);
}

/** Both must show the same payment at depth. Throws `sources_disagree`. */
export async function mustAgreeOnFunding(
  first: Follower,
  second: Follower,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<void> {
  const { address, terms, requiredConfirmations } = escrow;
  const [a, b] = await Promise.all(
    [first, second].map(async (follower) => {
      await followToEnd(follower, address, signal);
      return escrowFacts(historyOf(follower.index, address), terms.amount, requiredConfirmations);
    }),
  );
  const [fundedA, fundedB] = [a?.funded ?? null, b?.funded ?? null];
  if (fundedA?.txid === fundedB?.txid && fundedA?.deep === fundedB?.deep) return;
  const shown = [fundedA, fundedB].map((funded) =>
    funded === null ? 'no payment' : `${funded.txid} at ${funded.confirmations} confirmations`,
  );
  throw disagree(`for ${address} one shows ${shown.join(', the other ')}`, { escrow: address });
}
