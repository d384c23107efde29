// An escrow whose lane went on to later ones is unknown where no log tells of it: a node that keeps
// its logs back shows the same as one that has none. What several nodes say alike, each by all of
// its own logs, is believed: then it was never funded.

import { type EscrowFacts, isUnknown, nothingSeen } from '../../core/facts.ts';
import type { Look, WatchedEscrow } from '../adapter.ts';
import { askEach, type Client, type Said } from '../sources.ts';
import { type Heads, mustAgreeOnHeads } from './agreement.ts';

/** How many nodes have to say it. */
const leastNodes = 2;
/** Less than a builder of the market may take in all: what takes longer stays unknown. */
const askingMs = 2_000;

/** How a family asks one node. */
export type Asking<Watch, Node> = {
  readonly heads: Heads<Watch, Node>;
  /**
   * Whether the escrow can be funded no more where this node has it deep, and none of its logs
   * since the swap was agreed is about it. Relies on nothing that another node said. Throws where
   * it does not give them all.
   */
  wasNever(watch: Watch, one: Node, escrow: WatchedEscrow, signal: AbortSignal): Promise<boolean>;
};

/** `look`, with what its nodes together know of escrows that are unknown. */
export function lookOfAll<Node extends Client, Watch extends Said>(
  look: (watch: Watch, escrows: readonly WatchedEscrow[], signal: AbortSignal) => Promise<Look>,
  asking: Asking<Watch, Node>,
): typeof look {
  return async (watch, escrows, signal) => {
    const shown = await look(watch, escrows, signal);
    const known = shown.facts.map(async (facts, at) => {
      const isOpen = isUnknown(facts) && (facts.funded ?? facts.claimed ?? facts.refunded) === null;
      const escrow = escrows[at];
      if (!isOpen || escrow === undefined) return facts;
      const until = AbortSignal.any([signal, AbortSignal.timeout(askingMs)]);
      return (await wasNever(watch, asking, escrow, until)) ? neverFunded(facts) : facts;
    });
    return { ...shown, facts: await Promise.all(known) };
  };
}

/** A secret that is public stays so. */
const neverFunded = ({ secret }: EscrowFacts): EscrowFacts => ({ ...nothingSeen, secret });

async function wasNever<Node extends Client, Watch extends Said>(
  watch: Watch,
  { heads, wasNever: by }: Asking<Watch, Node>,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const nodes = await mustAgreeOnHeads(watch, heads, signal);
    if (nodes.length < leastNodes) return false;
    const asked = (one: Node) => by(watch, one, escrow, signal);
    const said = await askEach(watch, heads.nodesOf(watch), nodes, asked);
    return said.length >= leastNodes && said.every(({ answer }) => answer);
  } catch {
    // Nodes that differ, or do not answer, say nothing: it stays unknown.
    return false;
  }
}
