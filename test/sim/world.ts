// The state of one simulated market, and what happens when: an agenda of events in simulated time.
// Only an event moves the clock, one event at a time; those of one instant come in seeded order.

import type { Settings } from '../../server/config.ts';
import type { Database } from '../../server/db/database.ts';
import type { Metrics } from '../../server/metrics.ts';
import { clockAt, missing, type SimChain, submit, tipOf } from './chain.ts';
import type { Chance } from './chance.ts';
import type { Node } from './facts.ts';
import type { Deal, Party, Side } from './people.ts';
import { type MarketProcess, startProcess, unlessDead } from './process.ts';
import type { Receiver } from './receiver.ts';
import type { SimTransaction } from './transaction.ts';

export type Violation = { readonly rule: string; readonly what: string };

export type World = {
  readonly seed: number;
  readonly chance: Chance;
  readonly real: Database;
  readonly settings: Settings;
  readonly metrics: Metrics;
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
  market: MarketProcess | null;
  readonly startedAt: number;
  nowMs: number;
  /** Faults are over: what is left is to come home. */
  ending: boolean;
  /** Escrows about which a node ever lied. */
  readonly lied: Set<string>;
  /** Something may wait to be delivered. */
  hasNews: boolean;
  lookedAtTimeAt: number;
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

/** Runs the agenda up to an instant, or until `over`. */
export async function runUntil(world: World, atMs: number, over: () => boolean): Promise<void> {
  for (;;) {
    const next = world.agenda.events.at(-1);
    if (next === undefined || next.at > atMs || over()) break;
    world.agenda.events.pop();
    world.nowMs = Math.max(world.nowMs, next.at);
    await next.run();
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

export async function openMarket(world: World): Promise<void> {
  const { real, settings, metrics, nodes, chance } = world;
  world.market = await startProcess({
    real,
    settings,
    metrics,
    nodes,
    chance,
    now: () => world.nowMs,
    send: (sending) => world.receiver.take(sending),
    onFate: (fate, where) => {
      count(world, fate === 'crash' ? 'crash' : 'connection lost');
      tell(world, `${fate === 'crash' ? 'the market dies' : 'a connection is lost'} ${where}`);
    },
    onSent: (chain) => noteActivity(world, chain),
    count: (fault) => count(world, fault),
  });
}

/** A market that died in an event is started anew after a while, on the same database. */
export function noteDeath(world: World): void {
  const dead = world.market;
  if (dead === null || !dead.wire.isDead()) return;
  world.market = null;
  void dead.app.close().catch(() => {});
  later(world, world.chance.int(1, 150), async () => {
    await openMarket(world);
    tell(world, 'the market is started again');
    await lookAtAll(world);
    stirAll(world);
  });
}

/** A transaction reached a mempool or block: whoever follows the chain looks soon. */
export function noteActivity(world: World, chain: SimChain): void {
  const state = followed(world, chain);
  state.activeAt = tipOf(chain).height;
  planLook(world, chain);
}

type Followed = { activeAt: number; planned: boolean };
const following = new WeakMap<SimChain, Followed>();

function followed(_world: World, chain: SimChain): Followed {
  let state = following.get(chain);
  if (state === undefined) {
    state = { activeAt: -100, planned: false };
    following.set(chain, state);
  }
  return state;
}

export function isActive(world: World, chain: SimChain): boolean {
  const since = tipOf(chain).height - followed(world, chain).activeAt;
  return since <= chain.policy.high.confirmations;
}

/** Within the time that the service is allowed to notice. */
export function planLook(world: World, chain: SimChain): void {
  const state = followed(world, chain);
  if (state.planned) return;
  state.planned = true;
  const within = Math.floor(chain.policy.detectSeconds * 0.8);
  later(world, world.chance.int(1, within), async () => {
    state.planned = false;
    // Now and then all of them move at once.
    if (world.chance.hits(0.1)) await lookAtAll(world);
    else await look(world, chain.chain);
  });
}

/** One pass over a chain, and what it says that time changed; then the deliveries. */
export async function look(world: World, chain: string): Promise<void> {
  const { market } = world;
  if (market === null) return;
  const pass = async () => {
    const { touched, left, reconciled } = await market.settlement.pass(chain);
    return { touched, reconciled, left };
  };
  try {
    const looked = await unlessDead(market, pass);
    if (looked === 'dead') return noteDeath(world);
    if (looked.left > 0) later(world, 2, () => look(world, chain));
    if (looked.touched > 0) stirChain(world, chain);
    if (looked.reconciled > 0) world.hasNews = true;
  } catch (error) {
    tell(world, `a look at ${chain} fails: ${(error as Error).message.slice(0, 60)}`);
    later(world, 30, () => look(world, chain));
  }
  if (world.nowMs - world.lookedAtTimeAt > timeEveryMs) await lookAtTime(world);
  if (world.hasNews) await deliver(world);
}

/** Nothing that time alone changes is urgent. */
const timeEveryMs = 600_000;

export async function lookAtTime(world: World): Promise<void> {
  const { market } = world;
  if (market === null) return;
  world.lookedAtTimeAt = world.nowMs;
  try {
    const done = await unlessDead(market, () => market.settlement.passDue());
    world.hasNews = true;
    if (done === 'dead') noteDeath(world);
  } catch (error) {
    tell(world, `a look at what is due fails: ${(error as Error).message.slice(0, 60)}`);
    later(world, 30, () => lookAtTime(world));
  }
}

/** When a delivery that failed comes again: 15, 30, 60, 120 and 240 s later. */
const againAfter = [16, 31, 61, 121, 241];

export async function deliver(world: World, tries = 0): Promise<void> {
  const { market } = world;
  if (market === null) return;
  world.hasNews = false;
  try {
    const done = await unlessDead(market, () => market.delivering.pass());
    if (done === 'dead') return noteDeath(world);
  } catch (error) {
    tell(world, `deliveries fail: ${(error as Error).message.slice(0, 60)}`);
    if (tries < 5) later(world, 10, () => deliver(world, tries + 1));
  }
  for (const after of againAfter) {
    if (world.receiver.failedSince()) later(world, after, () => deliver(world, 5));
  }
}

/** A process follows all its chains side by side. */
export async function lookAtAll(world: World): Promise<void> {
  if (world.calm || world.chance.hits(0.5)) {
    await Promise.all(world.nodes.map(({ chain }) => look(world, chain.chain)));
    return;
  }
  for (const { chain } of world.nodes) await look(world, chain.chain);
}

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

/** A party hands a transaction to a node of its own. */
export function sendDirect(world: World, chain: SimChain, tx: SimTransaction): string {
  const txid = submit(chain, tx);
  noteActivity(world, chain);
  return txid;
}

export function checkMoney(world: World): void {
  for (const { chain } of world.nodes) {
    const gone = missing(chain);
    if (gone !== 0n) violate(world, 'money is conserved', `${gone} are missing on ${chain.chain}`);
  }
}
