// What happens when in a simulated market: an agenda of events in simulated time.
// Only an event moves the clock, one event at a time; those of one instant come in seeded order.

import { missing, type SimChain } from './chain.ts';
import type { Node } from './facts.ts';
import type { Deal, Happening, Side, World } from './state.ts';

export const seconds = (world: World): number => Math.floor(world.nowMs / 1_000);

export function count(world: World, what: string, by = 1): void {
  world.counts.set(what, (world.counts.get(what) ?? 0) + by);
}

export function tell(world: World, what: string): void {
  const after = Math.round((world.nowMs - world.startedAt) / 1_000);
  const time = new Date(after * 1_000).toISOString().slice(11, 19);
  const day = Math.floor(after / 86_400);
  world.story.push(`${world.story.length + 1}. ${day}d ${time} ${what}`);
}

export function violate(world: World, rule: string, what: string): void {
  if (world.violations.some((each) => each.rule === rule && each.what === what)) return;
  world.violations.push({ rule, what });
  tell(world, `BROKEN ${rule}: ${what}`);
}

export function later(world: World, after: number, run: () => Promise<void> | void): void {
  const at = world.nowMs + Math.max(0, after) * 1_000;
  const event = { at, order: world.chance.int(0, 2 ** 30), run: async () => run() };
  const { agenda: events } = world;
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = events[middle] as Happening;
    if (other.at > at || (other.at === at && other.order > event.order)) low = middle + 1;
    else high = middle;
  }
  events.splice(low, 0, event);
}

const nearMs = 120_000;

function takeNext(world: World, atMs: number): Happening[] {
  const { agenda: events, chance, rushes, ending } = world;
  const first = events.at(-1);
  if (first === undefined || first.at > atMs) return [];
  const taken = [events.pop() as Happening];
  if (!rushes || ending || !chance.hits(0.05)) return taken;
  for (let more = chance.int(1, 3); more > 0; more -= 1) {
    const other = events.at(-1);
    if (other !== undefined && other.at <= Math.min(atMs, first.at + nearMs)) {
      taken.push(events.pop() as Happening);
    }
  }
  if (taken.length > 1) count(world, 'events at once');
  return taken;
}

/** Runs the agenda up to an instant, or until `over`. */
export async function runUntil(world: World, atMs: number, over: () => boolean): Promise<void> {
  while (!over()) {
    const next = takeNext(world, atMs);
    const last = next.at(-1);
    if (last === undefined) break;
    world.nowMs = Math.max(world.nowMs, last.at);
    world.begun += next.length;
    world.alone = next.length === 1;
    await Promise.all(next.map(({ run }) => run()));
    while (world.beside.length > 0) await Promise.all(world.beside.splice(0));
  }
}

export function nodeOf(world: World, chain: string): Node {
  const found = world.nodes.find((each) => each.chain.chain === chain);
  if (found === undefined) throw new Error(`no chain ${chain}`);
  return found;
}

export const chainOf = (world: World, chain: string): SimChain => nodeOf(world, chain).chain;

/** Both sides of every deal on the chain poll it soon. */
export function stirChain(world: World, chain: string): void {
  for (const deal of world.deals) if (deal.chains.includes(chain)) stir(world, deal);
}

export function stirAll(world: World): void {
  for (const deal of world.deals) stir(world, deal);
}

/** A party takes at most this long to poll, well within what the deadlines leave it. */
const mostReactSeconds = 540;

export function stir(world: World, deal: Deal): void {
  if (deal.id === null || deal.closed) return;
  for (const side of deal.sides) wakeIn(world, side, world.chance.int(1, mostReactSeconds));
}

/** The side polls then, if it does not poll sooner. */
export function wakeIn(world: World, side: Side, after: number): void {
  const at = world.nowMs + after * 1_000;
  if (side.wakesAt !== null && side.wakesAt <= at) return;
  side.wakesAt = at;
  later(world, after, async () => {
    if (side.wakesAt !== at) return;
    side.wakesAt = null;
    await side.wake();
  });
}

export function checkMoney(world: World): void {
  for (const { chain } of world.nodes) {
    const gone = missing(chain);
    if (gone !== 0n) violate(world, 'money is conserved', `${gone} are missing on ${chain.chain}`);
  }
}

/** It polls then, if it does not poll sooner. */
export function planKeep(world: World, on: string, after: number): void {
  const { keeper } = world;
  if (!keeper?.posts.has(on)) return;
  const at = world.nowMs + after * 1_000;
  const planned = keeper.planned.get(on);
  if (planned !== undefined && planned <= at) return;
  keeper.planned.set(on, at);
  later(world, after, async () => {
    if (keeper.planned.get(on) !== at) return;
    keeper.planned.delete(on);
    await keeper.keep(world, on);
  });
}

/** Soon, on all chains: something was told that may be news to it. */
export function stirKeeper(world: World): void {
  const { keeper } = world;
  if (keeper === null) return;
  for (const on of keeper.posts.keys()) planKeep(world, on, keeper.chance.int(5, 60));
}
