// The short chain's node falls silent right after the reveal, before the market has seen it; the
// counterparty reads the secret elsewhere and claims by the market all the same. In half of the
// markets that have no drill, and drawn from a random stream of its own.

import { refusal } from './chain.ts';
import type { Chance } from './chance.ts';
import { type Answer, type Deal, legOf, type Side, type StepView, type View } from './people.ts';
import { inHalf, type Market } from './streams.ts';
import type { SimTransaction } from './transaction.ts';
import { count, later, nodeOf, seconds, tell, violate, type World, wakeIn } from './world.ts';

export type SimSilences = {
  readonly chance: Chance;
  /** Whose secret was shown so. */
  readonly deals: Set<Deal>;
};

export function silencesOf(market: Market): SimSilences | null {
  const chance = inHalf(market, 2 ** 43);
  return chance === null ? null : { chance, deals: new Set() };
}

/** Of the outage that the policy plans for: what is left beside all other troubles. */
const shareOfOutage = 0.25;

/** True where this reveal is to be sent past the market: its node is silent from now on. */
export function fallsSilent(world: World, deal: Deal, side: Side, tx: SimTransaction): boolean {
  const { silences } = world;
  const node = nodeOf(world, tx.chain);
  const { chain } = node;
  const isReveal =
    tx.verb === 'claim' && side.role === 'initiator' && !chain.shown.has(deal.hashlock);
  if (silences === null || !isReveal || world.ending || node.down) return false;
  if (refusal(chain, tx, seconds(world)) !== null) return false;
  const lasts = silences.chance.int(400, chain.policy.normal.outageSeconds * shareOfOutage);
  node.down = true;
  silences.deals.add(deal);
  count(world, 'node silent after the reveal');
  tell(world, `${tx.chain}: its node is silent for ${lasts} s, from this reveal on`);
  later(world, lasts, () => {
    node.down = false;
  });
  for (const each of deal.sides) wakeIn(world, each, silences.chance.int(10, 120));
  return true;
}

const isRead = ({ silences }: World, deal: Deal, view: View): boolean =>
  view.secret !== null || silences?.deals.has(deal) === true;

/** What next[] cannot offer yet to a counterparty that has the secret from elsewhere. */
export function readElsewhere(world: World, side: Side, deal: Deal, view: View): StepView[] {
  const leg = legOf(deal, 'long');
  const { status, timelock } = view.legs[leg];
  const isOpen = side.role === 'counterparty' && status === 'funded' && view.secret === null;
  if (!isOpen || !isRead(world, deal, view)) return [];
  const why = 'the secret was read elsewhere';
  return [{ by: side.role, action: 'claim', leg, before: timelock, why }];
}

/** Of an answer to a claim by who knows the secret as everybody may. */
export function checkClaimed(
  world: World,
  deal: Deal,
  {
    view,
    leg,
    role,
  }: { readonly view: View; readonly leg: 'a' | 'b'; readonly role: Side['role'] },
  { code, body }: Answer,
): void {
  const isKnown = view.secret !== null || (role === 'counterparty' && isRead(world, deal, view));
  if (!isKnown) return;
  if (code === 'sources_disagree') {
    violate(world, 'a public secret waits for no source', deal.name);
  }
  if (code === 'payout_would_fail') {
    violate(world, 'a public secret waits for no estimate', deal.name);
  }
  const { chain: other } = view.legs[leg === 'a' ? 'b' : 'a'];
  const isAway = code === 'chain_unavailable' || code === 'chain_timeout';
  if (isAway && String(body?.error).includes(`the node of ${other} `)) {
    violate(world, 'a public secret waits for no other chain', `${deal.name}, leg ${leg}`);
  }
}
