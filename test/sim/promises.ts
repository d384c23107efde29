// What the market promises beside money, held against the chains: the same even where nobody
// happened to lose by it.

import type { LegName } from '../../core/trade.ts';
import { chainClock, heldIn, type SimChain } from './chain.ts';
import type { Deal, View, World } from './state.ts';
import { chainOf, nodeOf, seconds, violate } from './world.ts';

/** No reorganisation, lagging node or late poll reaches further. */
const certainBlocks = 8;

/** The newest block that there was at an instant, by the wall. */
const heightAt = ({ blocks }: SimChain, at: number): number =>
  blocks.findLast(({ wall }) => wall <= at)?.height ?? -1;

type Closed = {
  readonly id: string;
  readonly chain: string;
  readonly leg: LegName;
  /** Null where the leg never had one. */
  readonly address: string | null;
  /** The later of its timelocks, Unix seconds. */
  readonly last: number;
};

/** For so long a swap is followed that was not carried through. */
const watchSeconds = 7 * 86_400;

/** A swap is followed until every escrow it ever had is empty at depth, and nothing can come. */
export async function checkClosed(world: World): Promise<void> {
  const rows = await world.real.rows<Closed>({
    name: '',
    text: `select s.id, l.chain, l.leg, e.address,
        (select max(timelock)::float8 from legs where swap_id = s.id) as last
      from swaps s join legs l on l.swap_id = s.id
        left join escrows e on e.swap_id = s.id and e.leg = l.leg
      where s.done`,
    values: [],
  });
  const ended = new Set<string>();
  const closedAt = (id: string) => (world.closedAt.get(id) as number) / 1_000;
  for (const { id, chain: on, leg, address } of rows) {
    const chain = chainOf(world, on);
    const then = heightAt(chain, closedAt(id));
    const held = heldIn(chain, address);
    const holds = held.some(({ height, spentBy }) => {
      return height <= then - certainBlocks && (spentBy?.height ?? Infinity) > then;
    });
    if (held.some(({ spentBy }) => (spentBy?.height ?? Infinity) <= then)) ended.add(id + leg);
    if (holds) violate(world, 'followed until it is empty', `${nameOf(world, id)} ${address}`);
  }
  for (const { id, leg, last } of rows) {
    if (ended.has(id + leg) || closedAt(id) >= last + watchSeconds) continue;
    violate(world, 'followed until nothing can come', `${nameOf(world, id)}, leg ${leg}`);
  }
}

const nameOf = ({ deals }: World, id: string) => deals.find((each) => each.id === id)?.name ?? id;

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

/** By then, with no faults left, the market knows what the chain's clock shows. */
const knownSeconds = 7_200;

/** What a party reads of its swap, whatever the party is like. */
export function checkRead(world: World, deal: Deal, view: View): void {
  const legs = (['a', 'b'] as const).map((name) => ({ name, ...view.legs[name] }));
  if (view.status === 'expired' && legs.some(({ status }) => status !== 'unfunded')) {
    violate(world, 'nothing is paid in a swap that expired', deal.name);
  }
  for (const { name, chain: on, timelock, formerEscrows } of legs) {
    const known = Math.min(seconds(world), chainClock(chainOf(world, on))) - knownSeconds;
    const isKnown = world.ending && known >= timelock;
    for (const { escrow, balance } of isKnown ? formerEscrows : []) {
      const isOffered = view.next.some(
        ({ action, leg, why }) => action === 'refund' && leg === name && why.includes(escrow),
      );
      if (BigInt(balance) === 0n || isOffered) continue;
      violate(world, 'what is in a former escrow may be taken back', `${deal.name} ${escrow}`);
    }
  }
}

/**
 * Whether one payment of its amount lies in an escrow that a leg moved off, for all to see. One
 * that was planned for an agreement that never came about is no escrow of the swap.
 */
export function isStrayed(world: World, deal: Deal): boolean {
  const { view } = deal;
  if (view === null) return false;
  return [view.legs.a, view.legs.b].some(({ chain: on, escrow, amount }) => {
    const { chain, lag } = nodeOf(world, on);
    if (lag > 0) return false;
    return [...deal.escrows].some((address) => {
      if (address === escrow || world.lied.has(address)) return false;
      return heldIn(chain, address).some(
        (each) => each.spentBy === null && each.amount >= BigInt(amount),
      );
    });
  });
}
