// What must agree before anybody funds or reveals a secret: the nodes of the chain, where there are
// several, and the chain's clock with the wall's. Claims with a public secret and refunds go on:
// waiting can only lose money there. Nodes that do not answer are left out: they are there so that
// one may fail.

import type { WatchedEscrow } from '../adapter.ts';
import type { Rpc } from '../rpc.ts';
import { askEach, disagree, eachSource } from '../sources.ts';
import { blockhashAt, chainClock, slotAt } from './node.ts';
import { stateOf } from './read.ts';
import type { Watch } from './watch.ts';

/** A node that takes longer to name its head is left out, so that one alone cannot pause all. */
const mostHeadMs = 4_000;
/** A slot may have no block: so many below are tried. */
const slotsTried = 8;

/** The chain's clock must be near the wall's: all timelocks are in the chain's time. */
async function mustAgreeOnTime(watch: Watch, signal: AbortSignal): Promise<void> {
  const clock = await chainClock(watch.rpc, signal);
  const ahead = clock - watch.now();
  const most = watch.mostDriftSeconds;
  if (Math.abs(ahead) <= most) return;
  const which = ahead > 0 ? 'ahead of' : 'behind';
  throw disagree(
    watch.chain,
    `the chain's clock is ${Math.abs(ahead)} s ${which} wall time, and ${most} s are allowed`,
    { clock, ahead, most },
  );
}

/** All must have the same finalized block. Returns the sources that answered. */
export async function mustAgreeOnHeads(watch: Watch, signal: AbortSignal): Promise<Rpc[]> {
  if (watch.rpc.sources < 2) return [];
  const soon = AbortSignal.any([signal, AbortSignal.timeout(mostHeadMs)]);
  const heads = await eachSource(watch, watch.rpc, (one) =>
    slotAt(one, 'finalized', one === watch.rpc ? signal : soon),
  );
  const sources = heads.map(({ one }) => one);
  if (sources.length < 2) return sources;
  const lowest = Math.min(...heads.map(({ answer }) => answer));
  for (let slot = lowest; slot > lowest - slotsTried && slot >= 0; slot--) {
    const blocks = await askEach(watch, watch.rpc, sources, (one) =>
      blockhashAt(one, slot, signal),
    );
    const hashes = blocks.flatMap(({ answer }) => (answer === null ? [] : [answer]));
    if (new Set(hashes).size > 1) {
      throw disagree(watch.chain, `its nodes differ about the block of slot ${slot}`, { slot });
    }
    if (hashes.length > 1) return sources;
  }
  throw disagree(watch.chain, 'no two of its nodes have a finalized block in common', {
    slot: lowest,
  });
}

/** Clock, head and this escrow's funding. Throws `sources_disagree`. */
export async function mustAgree(
  watch: Watch,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<void> {
  await mustAgreeOnTime(watch, signal);
  const sources = await mustAgreeOnHeads(watch, signal);
  if (sources.length < 2) return;
  const shown = await askEach(watch, watch.rpc, sources, async (one) => {
    const { state } = await stateOf({ ...watch, rpc: one }, escrow, 'finalized', signal);
    return state === null ? 'no funding' : `${state.status}`;
  });
  const different = [...new Set(shown.map(({ answer }) => answer))];
  if (different.length < 2) return;
  const { address } = escrow;
  throw disagree(watch.chain, `for ${address} one node shows ${different.join(', another ')}`, {
    escrow: address,
  });
}
