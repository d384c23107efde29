// Several nodes of one chain: where they disagree, nobody funds or reveals a secret by them. Claims
// with a public secret and refunds go on: waiting can only lose money there. Nodes that do not
// answer are left out: they are there so that one may fail.

import { type Fact, ParleyError } from '../../core/errors.ts';
import type { WatchedEscrow } from '../adapter.ts';
import type { Rpc } from '../rpc.ts';
import { blockAt, headBlock } from './node.ts';
import { deepestBlock, deepState, stateAt } from './read.ts';
import { once, type Watch } from './watch.ts';

/** Blocks below the lowest head at which sources are compared: the last ones may still change. */
const agreementDepth = 6;

/** A node that takes longer to name its head is left out, so that one alone cannot pause all. */
const mostHeadMs = 4_000;

/** A source by itself: no other is asked when it fails. */
function sourceAt({ rpc }: Watch, at: number): Rpc {
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
  const answers = (await Promise.all(asking)).flat();
  // None answered: say why, as a plain call does.
  return answers.length > 0 ? answers : [{ one: watch.rpc, answer: await ask(watch.rpc) }];
}

/** Asks every source by itself. Throws as a plain call does when none answers. */
export function eachSource<T>(watch: Watch, ask: (one: Rpc) => Promise<T>): Promise<Answer<T>[]> {
  const sources = Array.from({ length: watch.rpc.sources }, (_, at) => sourceAt(watch, at));
  return askEach(watch, sources, ask);
}

function disagree(watch: Watch, sentence: string, facts: Record<string, Fact>): ParleyError {
  return new ParleyError(
    'sources_disagree',
    `the nodes of ${watch.chain} disagree, so nothing is funded or revealed: ${sentence}`,
    { chain: watch.chain, ...facts },
  );
}

/**
 * All must have the same block, some blocks below the lowest head. Throws `sources_disagree`.
 * Returns the sources that answered.
 */
export async function mustAgreeOnHeads(watch: Watch, signal: AbortSignal): Promise<Rpc[]> {
  if (watch.rpc.sources < 2) return [];
  const soon = AbortSignal.any([signal, AbortSignal.timeout(mostHeadMs)]);
  const heads = await eachSource(watch, (one) => headBlock(one, one === watch.rpc ? signal : soon));
  const lowest = Math.min(...heads.map(({ answer }) => answer.number));
  const height = Math.max(0, lowest - agreementDepth);
  const sources = heads.map(({ one }) => one);
  const blocks = await askEach(watch, sources, (one) => blockAt(one, height, false, signal));
  const hashes = new Set(blocks.flatMap(({ answer }) => (answer === null ? [] : [answer.hash])));
  if (hashes.size > 1) throw disagree(watch, `their blocks ${height} differ`, { height });
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
  const shown = await askEach(watch, sources, (one) =>
    fundingOf({ ...watch, rpc: one }, escrow, signal),
  );
  const different = [...new Set(shown.map(({ answer }) => answer))];
  if (different.length < 2) return;
  const { address } = escrow;
  throw disagree(watch, `for ${address} one shows ${different.join(', another ')}`, {
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
  if (!state.code) return 'no funding';
  return state.balance >= escrow.terms.amount ? 'the whole amount' : 'less than the amount';
}
