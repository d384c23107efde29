// Several nodes of one chain: where they disagree, nobody funds or reveals a secret by them. Claims
// with a public secret and refunds go on: waiting can only lose money there. Nodes that do not
// answer are left out: they are there so that one may fail.

import type { WatchedEscrow } from '../adapter.ts';
import type { Rpc } from '../rpc.ts';
import { askEach, disagree, eachSource } from '../sources.ts';
import { blockAt, headBlock } from './node.ts';
import { deepestBlock, deepState, stateAt } from './read.ts';
import type { Watch } from './watch.ts';

/** Blocks below the lowest head at which sources are compared: the last ones may still change. */
const agreementDepth = 6;

/** A node that takes longer to name its head is left out, so that one alone cannot pause all. */
const mostHeadMs = 4_000;

/**
 * All must have the same block, some blocks below the lowest head. Throws `sources_disagree`.
 * Returns the sources that answered.
 */
export async function mustAgreeOnHeads(watch: Watch, signal: AbortSignal): Promise<Rpc[]> {
  if (watch.rpc.sources < 2) return [];
  const soon = AbortSignal.any([signal, AbortSignal.timeout(mostHeadMs)]);
  const heads = await eachSource(watch, watch.rpc, (one) =>
    headBlock(one, one === watch.rpc ? signal : soon),
  );
  const lowest = Math.min(...heads.map(({ answer }) => answer.number));
  const height = Math.max(0, lowest - agreementDepth);
  const sources = heads.map(({ one }) => one);
  const blocks = await askEach(watch, watch.rpc, sources, (one) =>
    blockAt(one, height, false, signal),
  );
  const hashes = new Set(blocks.flatMap(({ answer }) => (answer === null ? [] : [answer.hash])));
  if (hashes.size > 1) {
    throw disagree(watch.chain, `its nodes differ about block ${height}`, { height });
  }
  return sources;
}

/** All must be on one chain and show the same funding at depth. Throws `sources_disagree`. */
export async function mustAgree(
  watch: Watch,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<void> {
  const sources = await mustAgreeOnHeads(watch, signal);
  if (sources.length < 2) return;
  const shown = await askEach(watch, watch.rpc, sources, (one) =>
    fundingOf({ ...watch, rpc: one }, escrow, signal),
  );
  const different = [...new Set(shown.map(({ answer }) => answer))];
  if (different.length < 2) return;
  const { address } = escrow;
  throw disagree(watch.chain, `for ${address} one node shows ${different.join(', another ')}`, {
    escrow: address,
  });
}

/** What one source shows at the depth that the escrow wants, in words. */
async function fundingOf(
  watch: Watch,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<string> {
  const head = await headBlock(watch.rpc, signal);
  const deepest = await deepestBlock(watch, escrow, head, signal);
  // Without state that old, what it shows now must do.
  const state =
    (await deepState(watch, escrow, deepest, signal)) ??
    (await stateAt(watch, escrow, head.number, signal));
  const { state: shown, changedAt, covered } = state;
  if (shown === 'never' || shown === 'void') return 'no funding';
  return `${shown} at ${changedAt}${covered ? '' : ', without its tokens'}`;
}
