// Nodes that answer every estimate and trial with an error, while they read and send as ever. Until
// the secret is public that may put a reveal off; a claim with a public secret waits for none. From
// a random stream of its own.

import type { Chance } from './chance.ts';
import type { Node } from './facts.ts';
import { type Deal, legOf, type Side } from './people.ts';
import { inHalf, type Market } from './streams.ts';
import type { SimTransaction } from './transaction.ts';
import { count, later, nodeOf, tell, type World } from './world.ts';

/** null = every node answers its estimates. */
export const estimatesOf = (market: Market): Chance | null => inHalf(market, 2 ** 44);

/** Of the outage that the policy plans for: what is left beside all other troubles. */
const shareOfOutage = 0.25;

function refuse(world: World, node: Node, lasts: number): void {
  node.refuses = true;
  count(world, 'node refuses estimates (spells)');
  tell(world, `${node.chain.chain}: its node refuses every estimate for ${lasts} s`);
  if (lasts === Number.POSITIVE_INFINITY) return;
  later(world, lasts, () => {
    node.refuses = false;
  });
}

/** At any time, once a node. */
export function planEstimates(world: World, span: number): void {
  const { estimates } = world;
  if (estimates === null) return;
  for (const node of world.nodes) {
    const lasts = estimates.int(60, node.chain.policy.normal.outageSeconds * shareOfOutage);
    later(world, estimates.int(0, span), () => {
      if (!world.ending && !node.refuses) refuse(world, node, lasts);
    });
  }
}

/** The long chain's node, from a reveal on; for good where no gas key has to try its claims. */
export function refusesFromNow(world: World, deal: Deal, side: Side, tx: SimTransaction): void {
  const { estimates, keeper, ending } = world;
  const { view } = deal;
  const isReveal = tx.verb === 'claim' && side.role === 'initiator';
  if (view === null || !isReveal || estimates === null || ending || !estimates.hits(0.5)) return;
  const node = nodeOf(world, view.legs[legOf(deal, 'long')].chain);
  if (node.refuses) return;
  const most = node.chain.policy.normal.outageSeconds * shareOfOutage;
  refuse(world, node, keeper === null ? Number.POSITIVE_INFINITY : estimates.int(60, most));
}
