// What must agree before anybody funds or reveals a secret: the nodes of the chain, where there are
// several, and the chain's clock with the wall's. Claims with a public secret and refunds go on:
// waiting can only lose money there. Nodes that do not answer are left out: they are there so that
// one may fail.

import { type Fact, ParleyError } from '../../core/errors.ts';
import type { WatchedEscrow } from '../adapter.ts';
import type { Rpc } from '../rpc.ts';
import { blockhashAt, chainClock, slotAt } from './node.ts';
import { stateOf } from './read.ts';
import { once, type Watch } from './watch.ts';

/** A node that takes longer to name its head is left out, so that one alone cannot pause all. */
const mostHeadMs = 4_000;
/** A slot may have no block: so many below are tried. */
const slotsTried = 8;

/** A source by itself: no other is asked when it fails. */
function sourceAt(rpc: Rpc, at: number): Rpc {
  return { ...rpc, call: (method, params, signal) => rpc.ask(at, method, params, signal) };
}

type Answer<T> = { readonly one: Rpc; readonly answer: T };

async function askEach<T>(
  watch: Watch,
  sources: readonly Rpc[],
  ask: (one: Rpc) => Promise<T>,
): Promise<Answer<T>[]> {
  const { chain } = watch;
  const asking = sources.map(async (one, at): Promise<Answer<T>[]> => {
    try {
      return [{ one, answer: await ask(one) }];
    } catch (error) {
      once(watch, `source_${at}_silent`, { chain, source: at, why: String(error) });
      return [];
    }
  });
  return (await Promise.all(asking)).flat();
}

/** Asks every source by itself; those that do not answer are not among the answers. */
export function eachSource<T>(watch: Watch, ask: (one: Rpc) => Promise<T>): Promise<Answer<T>[]> {
  const { rpc } = watch;
  return askEach(
    watch,
    Array.from({ length: rpc.sources }, (_, at) => sourceAt(rpc, at)),
    ask,
  );
}

function disagree(watch: Watch, sentence: string, facts: Record<string, Fact>): ParleyError {
  return new ParleyError(
    'sources_disagree',
    `${watch.chain}: nothing is funded or revealed: ${sentence}`,
    { chain: watch.chain, ...facts },
  );
}

/** The chain's clock must be near the wall's: all timelocks are in the chain's time. */
export async function mustAgreeOnTime(watch: Watch, signal: AbortSignal): Promise<void> {
  const clock = await chainClock(watch.rpc, signal);
  const ahead = clock - watch.now();
  const most = watch.mostDriftSeconds;
  if (Math.abs(ahead) <= most) return;
  const which = ahead > 0 ? 'ahead of' : 'behind';
  throw disagree(
    watch,
    `the chain's clock is ${Math.abs(ahead)} s ${which} wall time, and ${most} s are allowed`,
    { clock, ahead, most },
  );
}

/** All must have the same finalized block. Returns the sources that answered. */
export async function mustAgreeOnHeads(watch: Watch, signal: AbortSignal): Promise<Rpc[]> {
  if (watch.rpc.sources < 2) return [];
  const soon = AbortSignal.any([signal, AbortSignal.timeout(mostHeadMs)]);
  const heads = await eachSource(watch, (one) => slotAt(one, 'finalized', soon));
  const sources = heads.map(({ one }) => one);
  if (sources.length < 2) return sources;
  const lowest = Math.min(...heads.map(({ answer }) => answer));
  for (let slot = lowest; slot > lowest - slotsTried && slot >= 0; slot--) {
    const blocks = await askEach(watch, sources, (one) => blockhashAt(one, slot, signal));
    const hashes = blocks.flatMap(({ answer }) => (answer === null ? [] : [answer]));
    if (new Set(hashes).size > 1) {
      throw disagree(watch, `its nodes differ about the block of slot ${slot}`, { slot });
    }
    if (hashes.length > 1) return sources;
  }
  throw disagree(watch, 'no two of its nodes have a finalized block in common', { slot: lowest });
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
  const shown = await askEach(watch, sources, async (one) => {
    const { state } = await stateOf({ ...watch, rpc: one }, escrow, 'finalized', signal);
    return state === null ? 'no funding' : `${state.status}`;
  });
  const different = [...new Set(shown.map(({ answer }) => answer))];
  if (different.length < 2) return;
  const { address } = escrow;
  throw disagree(watch, `for ${address} one node shows ${different.join(', another ')}`, {
    escrow: address,
  });
}
