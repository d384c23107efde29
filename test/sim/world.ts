// The state of one simulated market, and what happens when: an agenda of events in simulated time.
// Only an event moves the clock, one event at a time; those of one instant come in seeded order.

import type { Database } from '../../server/db/database.ts';
import type { Metrics } from '../../server/ports/metrics.ts';
import type { Settings } from '../../server/settings/config.ts';
import { clockAt, missing, type SimChain, tipOf } from './chain.ts';
import type { Chance } from './chance.ts';
import type { Drill } from './drills.ts';
import type { Node } from './facts.ts';
import type { SimKeeper } from './keeper.ts';
import type { Line } from './line.ts';
import type { Deal, Party, Side } from './people.ts';
import type { MarketProcess } from './process.ts';
import type { Receiver } from './receiver.ts';
import type { Doom } from './wire.ts';

export type Violation = { readonly rule: string; readonly what: string };

export type World = {
  readonly seed: number;
  readonly chance: Chance;
  readonly real: Database;
  readonly settings: Settings;
  readonly metrics: Metrics;
  /** What the first swap is to meet; null = what chance brings. */
  readonly drill: Drill | null;
  /** All parties honest, no faults: then everything must settle. */
  readonly calm: boolean;
  readonly nodes: readonly Node[];
  readonly parties: Party[];
  readonly deals: Deal[];
  readonly receiver: Receiver;
  readonly story: string[];
  readonly counts: Map<string, number>;
  readonly violations: Violation[];
  readonly agenda: Agenda;
  /** On one database, side by side. */
  readonly servers: readonly Server[];
  readonly line: Line;
  /** null = no gas keys. */
  readonly keeper: SimKeeper | null;
  /** What runs besides the events of the agenda. */
  readonly beside: Promise<unknown>[];
  /** Events begun so far: two equal numbers say that nothing began in between. */
  begun: number;
  /** Nothing else happens at the same time. */
  alone: boolean;
  /** Events that are near each other happen at once now and then. */
  readonly rushes: boolean;
  readonly startedAt: number;
  nowMs: number;
  /** Faults are over: what is left is to come home. */
  ending: boolean;
  /** Escrows about which a node ever lied. */
  readonly lied: Set<string>;
  /** Chains that something happened on since what is stored was held against them. */
  readonly unchecked: Set<string>;
  /** Since when each closed swap is closed, milliseconds. */
  readonly closedAt: Map<string, number>;
  /** The commit that the drill wants late was late. */
  wasLate: boolean;
  /** Until then nothing is delivered, milliseconds. */
  mutedUntil: number;
  /** What happens while it is. */
  readonly overtake: (world: World) => Promise<void>;
  /** Something may wait to be delivered. */
  hasNews: boolean;
};

/** Where a process of the market runs, if it runs. */
export type Server = {
  readonly name: string;
  process: MarketProcess | null;
  /** Chains at which it is about to look. */
  readonly planned: Set<string>;
  /** Chains at which its last look failed, or that it never looked at. */
  readonly unsure: Set<string>;
  /** Chains at which it is to look together with others, and has not yet. */
  readonly looking: Set<string>;
  lookedAtTimeAt: number;
  /** Connections to the database that it lost. */
  cuts: number;
  /** What is to happen to it; a process that dies leaves the rest to the next. */
  readonly dooms: Doom[];
};

type Event = { readonly at: number; readonly order: number; readonly run: () => Promise<void> };
export type Agenda = { readonly events: Event[] };

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

/** Something happens this many seconds from now. */
export function later(world: World, after: number, run: () => Promise<void> | void): void {
  const at = world.nowMs + Math.max(0, after) * 1_000;
  const event = { at, order: world.chance.int(0, 2 ** 30), run: async () => run() };
  const { events } = world.agenda;
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = events[middle] as Event;
    if (other.at > at || (other.at === at && other.order > event.order)) low = middle + 1;
    else high = middle;
  }
  events.splice(low, 0, event);
}

/** Near enough to happen at once. */
const nearMs = 120_000;

/** The next event, and those that happen at once with it. */
function takeNext(world: World, atMs: number): Event[] {
  const { agenda, chance, rushes, ending } = world;
  const { events } = agenda;
  const first = events.at(-1);
  if (first === undefined || first.at > atMs) return [];
  const taken = [events.pop() as Event];
  if (!rushes || ending || !chance.hits(0.05)) return taken;
  for (let more = chance.int(1, 3); more > 0; more -= 1) {
    const other = events.at(-1);
    if (other !== undefined && other.at <= Math.min(atMs, first.at + nearMs)) {
      taken.push(events.pop() as Event);
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

/** The chain's clock now. */
export const chainClock = (chain: SimChain): number => clockAt(chain, tipOf(chain).height);

/** Both sides of every deal on the chain look at it soon, as if they polled. */
export function stirChain(world: World, chain: string): void {
  for (const deal of world.deals) if (deal.chains.includes(chain)) stir(world, deal);
}

export function stirAll(world: World): void {
  for (const deal of world.deals) stir(world, deal);
}

/** A party takes at most this long to look, well within what the deadlines leave it. */
const mostReactSeconds = 540;

export function stir(world: World, deal: Deal): void {
  if (deal.id === null || deal.closed) return;
  for (const side of deal.sides) wakeIn(world, side, world.chance.int(1, mostReactSeconds));
}

/** The side looks then, if it does not look sooner. */
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
