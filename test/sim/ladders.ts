// Refunds that Bitcoin funders sign beforehand and leave with the market: who does, when the market
// looks at them, and what happens to what it sends. In markets with Bitcoin and no drill, and drawn
// from a random stream of its own: a market without tells the same story as ever.

import { depthFor } from '../../core/policy.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { LegName } from '../../core/trade.ts';
import { forget, type Holding, type SimChain, tipOf } from './chain.ts';
import { type Chance, chanceOf } from './chance.ts';
import { type Drill, highValueFrom } from './drills.ts';
import type { Node } from './facts.ts';
import { reorganise } from './faults.ts';
import { checkHanded, checkLanded, landsWithin } from './ladder-oracle.ts';
import {
  ask,
  type Deal,
  keyOf,
  mayPass,
  ownLeg,
  type Party,
  type Side,
  type View,
} from './people.ts';
import { unlessDead } from './process.ts';
import { type Rung, signLadder } from './rungs.ts';
import { isActive, killServer, noteActivity, noteDeaths } from './servers.ts';
import { isKeptAsItWas } from './streams.ts';
import type { SimTransaction } from './transaction.ts';
import { isExcused, type Leaving, troubleMet } from './trouble.ts';
import {
  chainClock,
  chainOf,
  count,
  later,
  nodeOf,
  type Server,
  seconds,
  tell,
  violate,
  type World,
  wakeIn,
} from './world.ts';

/** What the market has said that it keeps. */
export type Ladder = {
  readonly chain: SimChain;
  readonly escrow: string;
  readonly terms: EscrowTerms;
  readonly deal: Deal;
  readonly leg: LegName;
  readonly by: Party;
  readonly rungs: readonly Rung[];
  /** Payments that it spends. */
  readonly coins: readonly string[];
};

export type SimLadders = {
  readonly chance: Chance;
  /** By escrow, the last that was taken. */
  readonly stored: Map<string, Ladder>;
  /** Signed refunds that a node was given, and what each offers a vbyte. */
  readonly handed: Map<string, number>;
  /** Those that one took. */
  readonly taken: Set<string>;
  /** Escrows of which a look that was broken off may have noted what it never sent. */
  readonly brokenOff: Set<string>;
  /** Requests under way that leave some. */
  readonly leaving: Set<Leaving>;
  /** When the market looks next, milliseconds. */
  planned: number | null;
  /** How often what it has just sent may still get into trouble. */
  troubles: number;
};

/** What keeps them apart from all else that is drawn from a seed. */
const ownStream = 2 ** 41;

export function laddersOf(
  about: { readonly seed: number; readonly calm: boolean; readonly drill: Drill | null },
  nodes: readonly Node[],
): SimLadders | null {
  const { seed, calm, drill } = about;
  const chance = chanceOf(seed + ownStream);
  const hasBitcoin = nodes.some(({ chain }) => chain.family === 'bitcoin');
  if (calm || drill !== null || !hasBitcoin || isKeptAsItWas(seed)) return null;
  const maps = { stored: new Map(), handed: new Map() };
  const sets = { taken: new Set<string>(), brokenOff: new Set<string>() };
  const leaving = new Set<Leaving>();
  return { chance, ...maps, ...sets, leaving, planned: null, troubles: chance.int(0, 3) };
}

/** `vanishes`: it is gone for good once the market keeps its refunds. */
export type Presigning = 'stays' | 'vanishes' | null;

export function presigningOf({ ladders }: World, { party, role }: Side): Presigning {
  if (ladders === null || role !== 'initiator') return null;
  const { chance } = ladders;
  const posts = chance.hits(0.9);
  const vanishes = chance.hits(0.75);
  if (!posts || party.kind === 'malicious') return null;
  return vanishes && party.kind === 'honest' ? 'vanishes' : 'stays';
}

export const asOutput = ({ txid, amount }: Holding) => ({ txid, vout: 0, amount });

/** What a refund that is signed now may spend. */
export function deepCoins(chain: SimChain, escrow: string): Holding[] {
  const amount = chain.plans.get(escrow)?.amount ?? 0n;
  const { confirmations } = depthFor(chain.policy, amount, highValueFrom);
  const deepest = tipOf(chain).height - confirmations + 1;
  const held = chain.holdings.get(escrow) ?? [];
  return held.filter(({ height, spentBy }) => height <= deepest && spentBy === null);
}

/** Until it asks again. */
const againSeconds = 900;

/** Leaves signed refunds of its leg with the market. True: it has gone. */
export async function presigns(world: World, side: Side, deal: Deal, view: View): Promise<boolean> {
  const leg = ownLeg(deal, side.role);
  const { chain: on, escrow, status } = view.legs[leg];
  const chain = chainOf(world, on);
  if (world.ending || side.presigns === null || chain.family !== 'bitcoin') return false;
  const name = `presign ${escrow}`;
  if (escrow === null || status !== 'funded') return false;
  if ((side.busyUntil.get(name) ?? 0) > seconds(world)) return false;
  side.busyUntil.set(name, seconds(world) + againSeconds);
  const terms = chain.plans.get(escrow);
  const coins = deepCoins(chain, escrow);
  if (terms === undefined || coins.length === 0) return false;
  const key = keyOf(terms.refund.pubkey ?? '');
  const rungs = signLadder(chain, terms, coins.map(asOutput), key);
  const stateOf = () => `${tipOf(chain).hash} ${chain.feeFloor}`;
  const before = stateOf();
  const met = troubleMet(world);
  const answer = await ask(world, side.party, {
    method: 'POST',
    url: `/v1/swaps/${deal.id}/legs/${leg}/refund/scheduled`,
    once: `${name} ${seconds(world)}`,
    body: { transactions: rungs.map(({ raw }) => raw) },
  });
  const { code } = answer;
  tell(world, `${side.party.name} leaves refunds of ${deal.name}: ${code ?? answer.status}`);
  if (answer.status !== 200) {
    const { lag, otherLag, lies } = nodeOf(world, chain.chain);
    const isPlain = lag === 0 && otherLag === 0 && lies.size === 0 && stateOf() === before;
    if (isPlain && !isExcused(world, met, answer)) {
      violate(world, 'a right ladder is kept', `${deal.name}: ${code ?? answer.status}`);
    }
    if (mayPass(answer)) side.busyUntil.delete(name);
    wakeIn(world, side, world.chance.int(20, 120));
    return false;
  }
  side.busyUntil.set(name, Number.POSITIVE_INFINITY);
  noteStored(world, {
    ...{ chain, escrow, terms, deal, leg, by: side.party, rungs },
    coins: coins.map(({ txid }) => txid),
  });
  const isShown = chain.shown.has(deal.hashlock) || deal.revealed || view.secret !== null;
  const claims = [...side.busyUntil.keys()].some((each) => each.startsWith('claim '));
  if (side.presigns !== 'vanishes' || isShown || claims) return false;
  side.goneAt = seconds(world);
  count(world, 'ladders left by who vanished');
  tell(world, `${side.party.name} vanishes: the market has its refunds`);
  return true;
}

export function noteStored(world: World, ladder: Ladder): void {
  const ladders = world.ladders as SimLadders;
  count(world, 'ladders stored');
  ladders.stored.set(ladder.escrow, ladder);
  planPass(world, ladders.chance.int(5, 600));
  // One that is left after its timelock is due from then on.
  const dueIn = Math.max(0, ladder.terms.timelock - seconds(world));
  later(world, dueIn + landsWithin, () => checkLanded(world, ladder));
}

/** The market looks then, if it does not look sooner. */
function planPass(world: World, after: number): void {
  const { ladders } = world;
  if (ladders === null) return;
  const at = world.nowMs + after * 1_000;
  if (ladders.planned !== null && ladders.planned <= at) return;
  ladders.planned = at;
  later(world, after, async () => {
    if (ladders.planned !== at) return;
    ladders.planned = null;
    await passAll(world);
  });
}

/** A pass by one of the servers, or by all at once, or by one twice. */
export async function passAll(world: World): Promise<void> {
  const { ladders, servers, ending } = world;
  if (ladders === null) return;
  const { chance } = ladders;
  const able = servers.filter(({ process }) => process !== null);
  if (able.length === 0) return planPass(world, 60);
  const all = !ending && able.length > 1 && chance.hits(0.3);
  const chosen = all ? able : [chance.pick(able)];
  const twice = !ending && chance.hits(0.1) ? chosen : [];
  const passes = [...chosen, ...twice];
  world.begun += passes.length - 1;
  await Promise.all(passes.map((each) => passOf(world, each)));
  await planNext(world);
}

async function passOf(world: World, server: Server): Promise<void> {
  const { process, cuts: before } = server;
  if (process === null) return;
  let isWhole = false;
  try {
    const sent = await unlessDead(process, () => process.scheduled.pass());
    isWhole = sent !== 'dead' && server.cuts === before;
    if (sent === 'dead') noteDeaths(world);
  } catch (error) {
    const { message } = error as Error;
    tell(world, `a look at signed refunds fails: ${message.slice(0, 60)}`);
    if (server.cuts === before) violate(world, 'a pass of signed refunds ends', message);
  }
  if (!isWhole) noteBrokenOff(world);
}

function noteBrokenOff({ ladders }: World): void {
  for (const { chain, terms, escrow } of ladders?.stored.values() ?? []) {
    if (chainClock(chain) > terms.timelock) ladders?.brokenOff.add(escrow);
  }
}

/** Before anything is due nothing is to happen: now and then it looks all the same. */
const idleSeconds = 4 * 3_600;

/** As often as anything may come of it. */
async function planNext(world: World): Promise<void> {
  const { ladders } = world;
  if (ladders === null) return;
  const turn = await world.line.take();
  const reading = world.real.rows<{ due: number | null }>({
    name: 'sim_scheduled_due',
    text: 'select min(due_at)::float8 as due from scheduled_refunds',
    values: [],
  });
  const [row] = await reading.finally(turn.end);
  if (row?.due == null) return;
  const left = row.due - seconds(world);
  const isBusy = world.nodes.some(({ chain }) => chain.family === 'bitcoin' && isActive(chain));
  const soon = isBusy ? ladders.chance.int(60, 240) : ladders.chance.int(200, 600);
  planPass(world, left > soon ? Math.min(idleSeconds, left + ladders.chance.int(0, 120)) : soon);
}

/** A node is given a signed refund, whatever it says to it. */
export function noteHanded(world: World, chain: SimChain, { own, escrow }: SimTransaction): void {
  const { ladders } = world;
  if (ladders === null || own === undefined) return;
  ladders.handed.set(own.txid, own.rate);
  ladders.brokenOff.delete(escrow);
  checkHanded(world, chain, escrow);
}

/** A node has taken one: it may be forgotten, taken back, or pay too little from now on. */
export function noteRung(world: World, chain: SimChain, txid: string): void {
  const { ladders, ending } = world;
  const tx = chain.mempool.get(txid)?.tx;
  if (ladders === null || tx?.own === undefined) return;
  const ladder = ladders.stored.get(tx.escrow);
  const { own } = tx;
  const isHigher = ladder?.rungs.some(({ txid: other, rate }) => {
    return ladders.handed.has(other) && rate < own.rate;
  });
  if (ladders.taken.has(txid)) count(world, 'ladders sent again');
  else count(world, isHigher ? 'ladders climbed' : 'ladders begun');
  ladders.taken.add(txid);
  tell(world, `the market sends a signed refund at ${tx.escrow}, ${tx.own.rate} sat/vbyte`);
  if (ending || ladder === undefined || ladders.troubles === 0 || !ladders.chance.hits(0.7)) return;
  ladders.troubles -= 1;
  trouble(world, ladder, txid);
}

/** A spell of high fees: longer than a refund may take to land. */
const dearSeconds = 8 * 3_600;

function trouble(world: World, ladder: Ladder, txid: string): void {
  const { chance } = world.ladders as SimLadders;
  const { chain } = ladder;
  switch (chance.pick(['forgotten', 'dear', 'dear', 'taken back', 'death'] as const)) {
    case 'forgotten':
      later(world, chance.int(0, 900), () => {
        if (!forget(chain, txid)) return;
        count(world, 'ladders forgotten by nodes');
        tell(world, `${chain.chain} forgets a signed refund`);
        noteActivity(world, chain);
      });
      break;
    case 'dear':
      growDear(world, ladder);
      break;
    case 'taken back':
      later(world, chance.int(600, 4_000), () => {
        if (!world.ending) reorganise(world, chain);
      });
      break;
    case 'death':
      later(world, chance.int(0, 300), () => {
        for (const each of world.servers) killServer(world, each, 'after a signed refund');
      });
  }
}

/** What has just been sent pays too little until much later; a higher one pays enough. */
function growDear(world: World, { chain, rungs }: Ladder): void {
  const { chance } = world.ladders as SimLadders;
  const floor = chain.feeFloor * chance.int(3, 10);
  if (floor > (rungs.at(-1)?.rate ?? 0) / 2) return;
  chain.feeFloor = floor;
  count(world, 'fees rise (spells)');
  tell(world, `${chain.chain}: fees rise to ${floor}`);
  later(world, dearSeconds, () => {
    chain.feeFloor = 2;
  });
}

/** Where a death or a loss is worth most. */
const delicate = [
  'scheduled_put',
  'scheduled_take',
  'scheduled_note_sent',
  'scheduled_note_sent',
  'scheduled_give_back',
  ' refundHistory',
  ' spenders',
  ' broadcast',
] as const;

export function planLadderDooms(world: World): void {
  const { ladders, servers } = world;
  if (ladders === null) return;
  const { chance } = ladders;
  for (let left = chance.int(0, 2); left > 0; left -= 1) {
    const fate = chance.pick(['crash', 'crash', 'cut'] as const);
    const when = chance.pick(['before', 'after'] as const);
    const doom = { fate, when, at: chance.pick(delicate), left: chance.int(1, 2) };
    chance.pick(servers).dooms.push(doom);
  }
}
