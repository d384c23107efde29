// Several nodes of one chain: where they disagree, nobody funds or reveals a secret by them. Claims
// with a public secret and refunds go on: waiting can only lose money there. Nodes that do not
// answer are left out: they are there so that one may fail.

import type { WatchedEscrow } from '../adapter.ts';
import { askEach, disagree, eachSource } from '../sources.ts';
import type { Http } from './http.ts';
import { blockAt, headBlock } from './node.ts';
import { recordAt } from './read.ts';
import type { Watch } from './watch.ts';

/** A node that takes longer to name its block is left out, so that one alone cannot pause all. */
const mostHeadMs = 4_000;

/**
 * All must have the same block where the one that is least far has its newest solid one. Throws
 * `sources_disagree`. Returns the sources that answered.
 */
export async function mustAgreeOnHeads(watch: Watch, signal: AbortSignal): Promise<Http[]> {
  if (watch.http.sources < 2) return [];
  const soon = AbortSignal.any([signal, AbortSignal.timeout(mostHeadMs)]);
  const solids = await eachSource(watch, watch.http, (one) =>
    headBlock(one, 'solid', one === watch.http ? signal : soon),
  );
  const height = Math.min(...solids.map(({ answer }) => answer.number));
  const sources = solids.map(({ one }) => one);
  const blocks = await askEach(watch, watch.http, sources, (one) => blockAt(one, height, signal));
  const ids = new Set(blocks.flatMap(({ answer }) => (answer === null ? [] : [answer.id])));
  if (ids.size > 1) {
    throw disagree(watch.chain, `its nodes differ about block ${height}`, { height });
  }
  return sources;
}

/** All must be on one chain and show the same solid record. Throws `sources_disagree`. */
export async function mustAgree(
  watch: Watch,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<void> {
  const sources = await mustAgreeOnHeads(watch, signal);
  if (sources.length < 2) return;
  const shown = await askEach(watch, watch.http, sources, async (one) => {
    const record = await recordAt({ ...watch, http: one }, escrow, 'solid', signal);
    const { status, changedAt, covered } = record;
    if (status === 'never') return 'no funding';
    return `${status} at ${changedAt}${covered ? '' : ', without its tokens'}`;
  });
  const different = [...new Set(shown.map(({ answer }) => answer))];
  if (different.length < 2) return;
  const { address } = escrow;
  throw disagree(watch.chain, `for ${address} one node shows ${different.join(', another ')}`, {
    escrow: address,
  });
}
