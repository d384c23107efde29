// The state of one simulated market: its servers, parties, deals and gas keys; the facts of a deal
// by the chains and by what the parties agreed on, whatever the market says of either; and what
// happens when. Only an event moves the clock, one at a time; those of one instant come in seeded
// order.

import type { Family } from '@parley/core/families.ts';
import type { Step } from '@parley/core/next.ts';
import { depthFor } from '@parley/core/policy.ts';
import { type LegName, otherLeg, type Role } from '@parley/core/trade.ts';
import type { Database } from '@parley/market/db/database.ts';
import type { Metrics } from '@parley/market/ports/metrics.ts';
import type { Swap, SwapLeg } from '@parley/sdk/types.ts';
import { heldIn, missing, type SimChain, type SimTransaction, tipOf } from './chain.ts';
import type { Chance } from './chance.ts';
import type { Post } from './gas.ts';
import type { Node } from './node.ts';
import type { MarketProcess, Receiver } from './process.ts';
import type { Doom, Line } from './wire.ts';

export type World = {
  readonly seed: number;
  readonly chance: Chance;
  readonly real: Database;
  readonly metrics: Metrics;
  /** The drill of the first swap; null = whatever chance brings. */
  readonly drill: Drill | null;
  /** All parties honest, no faults: then everything must settle. */
  readonly calm: boolean;
  readonly nodes: readonly Node[];
  readonly parties: Party[];
  readonly deals: Deal[];
  readonly receiver: Receiver;
  readonly story: string[];
  readonly counts: Map<string, number>;
  readonly violations: { readonly rule: string; readonly what: string }[];
  readonly agenda: Happening[];
  readonly servers: readonly Server[];
  readonly line: Line;
  readonly keeper: SimKeeper | null;
  readonly beside: Promise<unknown>[];
  /** Events begun so far: two equal numbers say that nothing began in between. */
  begun: number;
  /** No other event happens at the same time. */
  alone: boolean;
  /** Events that are near each other happen at once now and then. */
  readonly rushes: boolean;
  readonly startedAt: number;
  nowMs: number;
  /** Faults are over: the remaining money is to come home. */
  ending: boolean;
  readonly lied: Set<string>;
  /** Chains that something happened on since what is stored was held against them. */
  readonly unchecked: Set<string>;
  /** Since when each closed swap is closed, milliseconds. */
  readonly closedAt: Map<string, number>;
  /** The commit that the drill wants late was late. */
  wasLate: boolean;
  /** Until then nothing is delivered, milliseconds. */
  mutedUntil: number;
  /** Something may wait to be delivered. */
  hasNews: boolean;
};

export type Server = {
  readonly name: string;
  process: MarketProcess | null;
  /** Chains at which it is about to poll. */
  readonly planned: Set<string>;
  /** Chains at which its last poll failed, or that it never polled. */
  readonly unsure: Set<string>;
  /** Chains at which it is to poll together with others, and has not yet. */
  readonly polling: Set<string>;
  timePolledAt: number;
  readonly reopen: (world: World) => Promise<void>;
  /** Its planned ends; a process that dies leaves the rest to the next. */
  readonly dooms: Doom[];
};

type Happening = {
  readonly at: number;
  readonly order: number;
  readonly run: () => Promise<void> | void;
};

/** `hasty`: pays a Bitcoin escrow a second time, with a fee that nobody takes for hours. */
export type Kind = 'honest' | 'sleepy' | 'absent' | 'greedy' | 'hasty' | 'malicious';

export type Wallet = Readonly<{ chain: string; address: string; pubkey: string | null }>;

export type Party = {
  readonly name: string;
  readonly kind: Kind;
  readonly accountId: string;
  readonly key: string;
  /** By chain: the login's, then others that may be paid too. */
  readonly wallets: ReadonlyMap<string, readonly Wallet[]>;
  readonly usesKeys: boolean;
  readonly chance: Chance;
  webhook: string | null;
};

export type Side = {
  readonly party: Party;
  readonly role: Role;
  /** When it polls next, milliseconds; null = not before something stirs it. */
  wakesAt: number | null;
  plots: boolean;
  /** Until when a step that was taken is left alone, by its name. */
  readonly busyUntil: Map<string, number>;
  /** From when to when it does nothing, Unix seconds; null = not at all, and for ever. */
  goneAt: number | null;
  backAt: number | null;
  habits: Habits | null;
  wake: () => Promise<void>;
};

export type Deal = {
  readonly name: string;
  readonly secret: string;
  readonly hashlock: string;
  readonly taker: Party;
  readonly maker: Party;
  /** The initiator's first. */
  readonly sides: readonly [Side, Side];
  readonly chains: readonly [string, string];
  readonly base: { readonly id: string; readonly amount: bigint };
  readonly quote: { readonly id: string; readonly amount: bigint };
  readonly direction: 'sell_base' | 'buy_base';
  readonly long: LegName;
  id: string | null;
  stage: string;
  threadId: string | null;
  rfqId: string | null;
  closed: boolean;
  /** When a party last asked to accept, milliseconds, whatever came of it. */
  readonly acceptedAt: Map<Party, number>;
  /** Until when its RFQ may be agreed, milliseconds; null = it has none yet. */
  openUntil: number | null;
  /** Seconds that pass before its last acceptance; 0 = none to speak of. */
  pause: number;
  tries: number;
  /** Somebody was told that the secret is public. */
  revealed: boolean;
  view: View | null;
  /** Every escrow that a party was ever shown as one of its legs. */
  readonly escrows: Set<string>;
};

/** A swap as a party reads it. */
export type View = Omit<Swap, 'legs' | 'next'> & {
  legs: Record<LegName, SwapLeg & { formerEscrows: { escrow: string; balance: string }[] }>;
  next: StepView[];
};
export type StepView = Step & { readonly leg: LegName };
export type Agreed = Pick<View, 'deadlines' | 'legs'>;

export type Answer = {
  /** 0 = none came. */
  readonly status: number;
  readonly code: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: parties reach into answers of every shape
  readonly body: any;
};

export type Ask = {
  readonly method?: 'GET' | 'POST';
  readonly url: string;
  readonly body?: unknown;
  /** One for all tries of one write. */
  readonly once?: string;
};

export type Habits = {
  readonly relays: boolean;
  /** Asks for that in the last moment in which it may. */
  readonly late: boolean;
  /** From when it is gone for good: its leg is funded, or its secret public. */
  readonly vanishes: 'funded' | 'public' | null;
  /** Whether it does not ask yet. */
  readonly waits?: () => boolean;
};

/** The outcomes of the requests to relay the claim of one swap. */
export type Asked = {
  /** Without an answer yet, or with none that says what became of it. */
  open: number;
  refused: number;
  /** Transactions that were promised to land, and the leg of each. */
  readonly promised: Map<string, LegName>;
};

/** A gas key's transaction, as a node first took it. */
export type GasSent = {
  readonly chain: SimChain;
  readonly txid: string;
  readonly tx: SimTransaction;
  readonly at: number;
  lost: boolean;
};

export type SimKeeper = {
  readonly chance: Chance;
  readonly posts: ReadonlyMap<string, Post>;
  readonly on: ReadonlySet<string>;
  /** When it polls next, by chain. */
  readonly planned: Map<string, number>;
  readonly sent: Map<string, GasSent>;
  readonly asked: Map<string, Asked>;
  /** Whether all that was sent had been stored by then. */
  readonly storing: Promise<void>[];
  /** Passes at one chain, by one server or by several at once. */
  readonly keep: (world: World, on: string) => Promise<void>;
  /** How often what it has just sent may still be forgotten, or pay too little. */
  troubles: number;
};

export type Drill = {
  readonly name: string;
  readonly initiator: Kind;
  readonly counterparty: Kind;
  /** The plan of a malicious one, by its name. */
  readonly plan?: string;
  /** The families of the two chains, the long leg's last; any where it says nothing. */
  readonly families?: readonly [Family, Family];
  /** No other faults of chains and of ours: they would keep it from coming to its moment. */
  readonly alone: boolean;
  /** The swap's agreement commits late, after that of a second one was followed. */
  readonly lateAgreement?: true;
  /** The commit that tells the secret is late, while everybody polls. */
  readonly lateReveal?: true;
  /** The long leg is on the second of its families, whichever timelock is longer. */
  readonly isOrdered?: true;
  /** So many swaps; without, as the market draws them. */
  readonly deals?: number;
  /** Both swaps are those of the drill. */
  readonly isPair?: true;
  readonly servers?: 2;
  /** Gas keys on all chains, or none; without, as the market draws them. */
  readonly keys?: 'none' | 'rich' | 'capped';
  readonly isKeyed?: true;
  readonly settles?: true;
  /** Its EVM chain is a rollup: its clock stops with it. */
  readonly isRollup?: true;
  /** No chain takes anything back. */
  readonly isSteady?: true;
  /** Its counterparty leaves signed claims, funds, and is away until they are worth nothing. */
  readonly leaves?: true;
  /** The market is open, and nothing has happened yet. */
  open?(world: World): void;
  begin?(world: World, deal: Deal, swap: Agreed): void;
  revealed?(world: World, deal: Deal): void;
};

/** From which amount on the assets of these markets want the higher depth, base units. */
export const highValueFrom = 4_000_000n;

export const legOf = ({ long }: Pick<Deal, 'long'>, side: 'long' | 'short'): LegName =>
  side === 'long' ? long : otherLeg(long);

export const ownLeg = (deal: Deal, role: Role): LegName =>
  legOf(deal, role === 'initiator' ? 'long' : 'short');

/** A party's wallets on a chain; the login's is the first. */
export const walletsOn = ({ wallets }: Party, chain: string): readonly Wallet[] =>
  wallets.get(chain) ?? [];

export const isDrilled = ({ drill, deals }: World, deal: Deal): boolean =>
  drill !== null && (drill.isPair === true || deals[0] === deal);

export const isPublic = (world: World, { chains, hashlock }: Deal): boolean =>
  chains.some((name) => chainOf(world, name).shown.has(hashlock));

/** Every escrow under the deal's hashlock on a chain. */
export function escrowsOn(chain: SimChain, { hashlock }: Pick<Deal, 'hashlock'>): string[] {
  return [...chain.plans].filter(([, terms]) => terms.hashlock === hashlock).map(([at]) => at);
}

/** The amount that both said that they would pay on a chain. */
export const amountOn = ({ base, quote, chains }: Deal, chain: string): bigint =>
  (chains[0] === chain ? base : quote).amount;

/** Leg `a` is the maker's, who gives the base of an RFQ that buys it. */
export function chainOfLeg({ direction, chains: [base, quote] }: Deal, leg: LegName): string {
  return (direction === 'buy_base') === (leg === 'a') ? base : quote;
}

/** How many blocks more make such an amount final; 0 where it is. */
export function blocksToFinal(chain: SimChain, amount: bigint, height: number): number {
  const { confirmations } = depthFor(chain.policy, amount, highValueFrom);
  return Math.max(0, confirmations - (tipOf(chain).height - height + 1));
}

export const isFinalAt = (chain: SimChain, deal: Deal, height: number): boolean =>
  blocksToFinal(chain, amountOn(deal, chain.chain), height) === 0;

/** Whether one payment of a leg's amount is final, in any escrow of the deal, or in these. */
export function isFinal(world: World, deal: Deal, leg: LegName, among?: readonly string[]) {
  const chain = chainOf(world, chainOfLeg(deal, leg));
  const wanted = amountOn(deal, chain.chain);
  return (among ?? escrowsOn(chain, deal)).some((escrow) =>
    heldIn(chain, escrow).some(
      ({ amount, height }) => amount >= wanted && isFinalAt(chain, deal, height),
    ),
  );
}

/** The first leg of which that is not so. */
export const shallowLeg = (world: World, deal: Deal, among?: (leg: LegName) => string[]) =>
  (['a', 'b'] as const).find((name) => !isFinal(world, deal, name, among?.(name)));

/** A statement of nobody's but this one's. */
export const sql = <Row>(
  db: Pick<Database, 'rows'>,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> => db.rows<Row>({ name: '', text, values });

export const seconds = ({ nowMs }: Pick<World, 'nowMs'>): number => Math.floor(nowMs / 1_000);

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

/** Onto the agenda, whose next is its last. */
export function later(world: World, after: number, run: Happening['run']): void {
  const at = world.nowMs + Math.max(0, after) * 1_000;
  const order = world.chance.int(0, 2 ** 30);
  const { agenda } = world;
  const isSooner = (each: Happening) => each.at < at || (each.at === at && each.order <= order);
  const place = agenda.findIndex(isSooner);
  agenda.splice(place === -1 ? agenda.length : place, 0, { at, order, run });
}

const nearMs = 120_000;

function takeNext(world: World, atMs: number): Happening[] {
  const { agenda, chance, rushes, ending } = world;
  const first = agenda.at(-1);
  if (first === undefined || first.at > atMs) return [];
  const taken = [agenda.pop() as Happening];
  if (!rushes || ending || !chance.hits(0.05)) return taken;
  for (let more = chance.int(1, 3); more > 0; more -= 1) {
    const other = agenda.at(-1);
    if (other !== undefined && other.at <= Math.min(atMs, first.at + nearMs)) {
      taken.push(agenda.pop() as Happening);
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
    await Promise.all(next.map(async ({ run }) => run()));
    while (world.beside.length > 0) await Promise.all(world.beside.splice(0));
  }
}

export function nodeOf({ nodes }: Pick<World, 'nodes'>, chain: string): Node {
  const found = nodes.find((each) => each.chain.chain === chain);
  if (found === undefined) throw new Error(`no chain ${chain}`);
  return found;
}

export const chainOf = (world: Pick<World, 'nodes'>, chain: string): SimChain =>
  nodeOf(world, chain).chain;

/** Both sides of every deal, or of those on a chain, poll it soon. */
export function stirAll(world: World, chain?: string): void {
  for (const deal of world.deals) {
    if (chain === undefined || deal.chains.includes(chain)) stir(world, deal);
  }
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

/** The keeper polls then, if it does not poll sooner. */
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

/** At once, on all chains: a promised relay rings for it. */
export function ringKeeper(world: World): void {
  for (const on of world.keeper?.posts.keys() ?? []) planKeep(world, on, 1);
}

/** Soon, on all chains: something was told that may be news to it. */
export function stirKeeper(world: World): void {
  const { keeper } = world;
  if (keeper === null) return;
  for (const on of keeper.posts.keys()) planKeep(world, on, keeper.chance.int(5, 60));
}
