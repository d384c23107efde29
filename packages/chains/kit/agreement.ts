// Where nodes disagree nobody funds or reveals. Claims with a public secret and refunds go on. A
// node that stands still, of three or more, is left out, as it would be if it were silent.

import type { Fact } from '@parley/core/errors.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { askEach, type Client, disagree, type Said, wellSources } from '../nodes/sources.ts';

export type Compared<Watch, Node> = {
  nodesOf(watch: Watch): Node;
  headOf(one: Node, signal: AbortSignal): Promise<number>;
  /** The heights at which they are compared, in turn, until two have a block there. */
  heights(lowestHead: number): readonly number[];
  hashAt(one: Node, height: number, signal: AbortSignal): Promise<string | null>;
  /** Whether two must have a block in common, at one of these heights. */
  readonly mustMeet: boolean;
  readonly unit: 'height' | 'slot';
  /** The state of an escrow's funding where it is deep at one node, in words. */
  fundingBy(watch: Watch, one: Node, escrow: WatchedEscrow, signal: AbortSignal): Promise<string>;
};

/** A node that takes longer to name its head is left out, so that one alone cannot pause all. */
const mostHeadMs = 4_000;

export async function mustAgreeOnHeads<Node extends Client, Watch extends Said>(
  watch: Watch,
  by: Compared<Watch, Node>,
  signal: AbortSignal,
): Promise<Node[]> {
  const nodes = by.nodesOf(watch);
  if (nodes.sources < 2) return [];
  const soon = AbortSignal.any([signal, AbortSignal.timeout(mostHeadMs)]);
  const asked = await wellSources(nodes, signal);
  const heads = await askEach(watch, nodes, asked, (one) =>
    by.headOf(one, one === nodes ? signal : soon),
  );
  const sources = heads.map(({ one }) => one);
  if (sources.length < 2) return sources;
  const heights = by.heights(Math.min(...heads.map(({ answer }) => answer)));
  for (const height of heights) {
    const answers = await askEach(watch, nodes, sources, (one) => by.hashAt(one, height, signal));
    const hashes = answers.flatMap(({ answer }) => (answer === null ? [] : [answer]));
    const facts = { [by.unit]: height };
    if (new Set(hashes).size > 1) {
      const block = by.unit === 'slot' ? `the block of slot ${height}` : `block ${height}`;
      throw disagree(watch.chain, `its nodes differ about ${block}`, facts);
    }
    if (hashes.length > 1) return sources;
  }
  if (!by.mustMeet) return sources;
  const facts: Record<string, Fact> = { [by.unit]: heights[0] ?? 0 };
  throw disagree(watch.chain, 'no two of its nodes have a finalized block in common', facts);
}

export async function mustAgree<Node extends Client, Watch extends Said>(
  watch: Watch,
  by: Compared<Watch, Node>,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<void> {
  const sources = await mustAgreeOnHeads(watch, by, signal);
  if (sources.length < 2) return;
  const shown = await askEach(watch, by.nodesOf(watch), sources, (one) =>
    by.fundingBy(watch, one, escrow, signal),
  );
  const different = [...new Set(shown.map(({ answer }) => answer))];
  if (different.length < 2) return;
  const { address } = escrow;
  throw disagree(watch.chain, `for ${address} one node shows ${different.join(', another ')}`, {
    escrow: address,
  });
}
