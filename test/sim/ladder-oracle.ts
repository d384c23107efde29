// What must hold of signed refunds that the market keeps, judged by the chain and by what the
// market answered.

import type { SimChain } from './chain.ts';
import type { Ladder } from './ladders.ts';
import type { View } from './people.ts';
import { chainClock, count, later, nodeOf, violate, type World } from './world.ts';

const hour = 3_600;

/** Of the timelock: median time past trails by one or two hours, a stuck refund is raised twice. */
export const landsWithin = 6 * hour;
/** By the chain's own clock, if that stood still. */
const chainHours = 3 * hour;

/** In the moment in which a node is given one. */
export function checkHanded(world: World, chain: SimChain, escrow: string): void {
  const terms = chain.plans.get(escrow);
  if (terms !== undefined && chain.latest <= terms.timelock) {
    violate(world, 'no signed refund is sent before it is due', escrow);
  }
}

function unspentOf({ chain, escrow, coins }: Ladder) {
  const held = chain.holdings.get(escrow) ?? [];
  return held.filter(({ txid, spentBy }) => coins.includes(txid) && spentBy === null);
}

/** Whoever left signed refunds is refunded or paid, with nothing that it does itself. */
export function checkLanded(world: World, ladder: Ladder): void {
  const { chain, terms, rungs, deal, by, escrow } = ladder;
  if (unspentOf(ladder).length === 0 || world.ladders?.stored.get(escrow) !== ladder) return;
  const { down, slow, lag, lies } = nodeOf(world, chain.chain);
  const isMoving = chainClock(chain) > terms.timelock + chainHours;
  const isPaid = chain.feeFloor <= (rungs.at(-1)?.rate ?? 0);
  const isAnswered = !down && !slow && lag === 0 && lies.size === 0;
  if (!isMoving || !isPaid || !isAnswered) {
    later(world, hour, () => checkLanded(world, ladder));
    return;
  }
  violate(world, 'a stored refund lands', `${by.name}, ${deal.name}, ${escrow}`);
}

/** In the end, once the market has looked at all of them again. */
export async function checkLadders(world: World): Promise<void> {
  const { ladders } = world;
  if (ladders === null) return;
  const rows = await world.real.rows<{ escrow: string }>({
    name: '',
    text: 'select escrow from scheduled_refunds where due_at is not null',
    values: [],
  });
  const open = new Set(rows.map(({ escrow }) => escrow));
  for (const ladder of ladders.stored.values()) {
    const { chain, escrow, coins, deal, by } = ladder;
    const held = (chain.holdings.get(escrow) ?? []).filter(({ txid }) => coins.includes(txid));
    const left = held.filter(({ spentBy }) => spentBy === null);
    if (left.length > 0) violate(world, 'a stored refund lands', `${by.name}, ${deal.name}`);
    const isOver = held.length === coins.length && left.length === 0;
    if (isOver && open.has(escrow)) violate(world, 'a ladder ends', `${deal.name}, ${escrow}`);
    const landed = held.some(({ spentBy }) => spentBy?.tx.own !== undefined);
    if (landed) count(world, 'ladders landed');
    if (deal.view !== null) checkTold(world, ladder, deal.view);
  }
}

/** What its funder reads of it. */
function checkTold(world: World, { chain, escrow, leg, rungs, coins, deal }: Ladder, view: View) {
  const { [leg]: own } = view.legs;
  const former = own.formerEscrows.find((each) => each.escrow === escrow);
  const told = own.escrow === escrow ? own.scheduledRefunds : (former?.scheduledRefunds ?? null);
  const complain = (what: string) =>
    violate(world, 'what is told of signed refunds is true', `${deal.name}: ${what}`);
  if (told === null) return complain('nothing is told');
  const { handed, brokenOff } = world.ladders as NonNullable<World['ladders']>;
  const { sentTxid } = told;
  const mayBeUnsent = brokenOff.has(escrow);
  if (sentTxid !== null && !mayBeUnsent && !handed.has(sentTxid)) complain('it was never sent');
  const held = (chain.holdings.get(escrow) ?? []).filter(({ txid }) => coins.includes(txid));
  const mined = held.find(({ spentBy }) => spentBy?.tx.own !== undefined)?.spentBy;
  if (mined?.tx.own === undefined) return;
  if (!rungs.some(({ txid }) => txid === mined.txid)) complain('another than these landed');
  const rateOf = (txid: string) => rungs.find((each) => each.txid === txid)?.rate ?? -1;
  if (sentTxid === null || rateOf(sentTxid) < mined.tx.own.rate)
    complain('what landed is not told');
  const isLegs = own.escrow === escrow && own.status === 'refunded';
  if (isLegs && held.every(({ spentBy }) => spentBy === mined) && own.refundTx !== mined.txid) {
    complain(`${own.refundTx} refunded`);
  }
}
