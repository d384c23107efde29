// What the market promises beside money, held against the chains: the same even where nobody
// happened to lose by it.

import type { LegName } from '../../core/trade.ts';
import { type SimChain, tipOf } from './chain.ts';
import type { Deal, View } from './people.ts';
import { chainOf, nodeOf, violate, type World } from './world.ts';

/** No reorganisation, lagging node or late look reaches further. */
const certainBlocks = 8;

/** The newest block that there was at an instant, by the wall. */
function heightAt({ blocks, drift }: SimChain, at: number): number {
  const newest = blocks.findLast(({ time }) => time - drift <= at);
  return newest?.height ?? -1;
}

/** A swap is followed until every escrow it ever had is empty at depth. */
export async function checkClosed(world: World): Promise<void> {
  const rows = await world.real.rows<{ id: string; chain: string; address: string; at: Date }>({
    name: '',
    text: `select s.id, e.chain, e.address, s.updated_at as at
      from swaps s join escrows e on e.swap_id = s.id where s.done`,
    values: [],
  });
  for (const { id, chain: on, address, at } of rows) {
    const chain = chainOf(world, on);
    const then = heightAt(chain, at.getTime() / 1_000);
    const holds = (chain.holdings.get(address) ?? []).some(({ height, spentBy }) => {
      return height <= then - certainBlocks && (spentBy?.height ?? Infinity) > then;
    });
    const name = world.deals.find((each) => each.id === id)?.name ?? id;
    if (holds) violate(world, 'followed until it is empty', `${name} with ${address}`);
  }
}

/** What is asked twice under one key is done once. */
export async function checkOnce(world: World): Promise<void> {
  const rows = await world.real.rows<{ creator_id: string; made: number }>({
    name: '',
    text: 'select creator_id, count(*)::int as made from rfqs group by creator_id',
    values: [],
  });
  for (const { creator_id, made } of rows) {
    const party = world.parties.find(({ accountId }) => accountId === creator_id);
    const wanted = world.deals.filter(({ taker }) => taker === party).length;
    if (party?.usesKeys && made > wanted) {
      violate(world, 'a request under one key runs once', `${party.name} has ${made} RFQs`);
    }
  }
}

/** An acceptance binds for so long, and a price on an RFQ that has ended not at all. */
export function checkAgreed(world: World, deal: Deal, agreedAt: number): void {
  const { acceptTtlSeconds } = world.settings;
  for (const party of [deal.taker, deal.maker]) {
    const since = (agreedAt - (deal.acceptedAt.get(party) ?? 0)) / 1_000;
    if (since < acceptTtlSeconds) continue;
    violate(world, 'an acceptance lapses', `${deal.name}: of ${party.name}, ${since} s before`);
  }
  if (deal.openUntil !== null && agreedAt >= deal.openUntil) {
    violate(world, 'an RFQ ends', `${deal.name} is agreed after its RFQ`);
  }
}

/** Whether one payment of its amount lies in an escrow that a leg moved off, for all to see. */
export function isStrayed(world: World, deal: Deal): boolean {
  const { view } = deal;
  if (view === null) return false;
  return [view.legs.a, view.legs.b].some(({ chain: on, escrow, amount }) => {
    const { chain, lag } = nodeOf(world, on);
    if (lag > 0) return false;
    return [...chain.plans].some(([address, { hashlock }]) => {
      if (hashlock !== deal.hashlock || address === escrow || world.lied.has(address)) return false;
      return (chain.holdings.get(address) ?? []).some(
        (each) => each.spentBy === null && each.amount >= BigInt(amount),
      );
    });
  });
}

/** Whether one payment of the amount, in whichever escrow, has the least depth that there is. */
export function isDeep(world: World, view: View, leg: LegName): boolean {
  const { chain: on, amount } = view.legs[leg];
  const chain = chainOf(world, on);
  const deepest = tipOf(chain).height - chain.policy.normal.confirmations + 1;
  return [...chain.holdings.values()].some((all) =>
    all.some((each) => each.amount >= BigInt(amount) && each.height <= deepest),
  );
}
