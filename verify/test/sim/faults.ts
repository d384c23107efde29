// The troubles, and for how long: within what the chains' policies allow for. All outages of one
// chain together stay below its outage budget, so that nobody is owed more than the rules promise.

import {
  chainClock,
  choosing,
  cutOff,
  forget,
  mine,
  type SimChain,
  type SimTransaction,
  tipOf,
} from './chain.ts';
import { noteLost } from './keeper.ts';
import type { Node } from './node.ts';
import { isActive, killServer, noteActivity, planPoll } from './servers.ts';
import type { Doom } from './wire.ts';
import {
  checkMoney,
  count,
  later,
  nodeOf,
  planKeep,
  seconds,
  stirAll,
  tell,
  type World,
} from './world.ts';

const stalled = new WeakSet<SimChain>();

/** At once, where usually comes one, while a chain works through the past. */
const catchUpBlocks = 4;

function interval(world: World, chain: SimChain): number {
  const { chance, calm } = world;
  if (chain.family !== 'bitcoin') {
    const late = !calm && chance.hits(0.02);
    if (late) count(world, 'block late');
    return late ? chance.int(120, 280) : chance.int(30, 90);
  }
  const spread = -Math.log(1 - chance.int(0, 999) / 1_000) * 600;
  if (spread > 1_500) count(world, 'block late');
  return Math.round(Math.min(2_000, Math.max(5, spread)));
}

export function startMining(world: World, chain: SimChain): void {
  later(world, interval(world, chain), () => {
    if (!stalled.has(chain)) {
      const burst = !world.calm && world.chance.hits(0.01) ? world.chance.int(2, 4) : 1;
      if (burst > 1) count(world, 'blocks in a burst');
      const blocks = chain.worksThrough ? catchUpBlocks : burst;
      for (let each = 0; each < blocks; each += 1) mineOne(world, chain);
    }
    startMining(world, chain);
  });
}

export function mineOne(world: World, chain: SimChain): void {
  const before = chainClock(chain);
  const { txs } = mine(chain, seconds(world), choosing(chain, world.chance));
  const now = chainClock(chain);
  if (txs.length > 0) {
    noteActivity(world, chain);
    checkMoney(world);
    for (const { tx, ok, height } of txs) {
      tell(world, `${chain.chain} ${height}: ${tx.verb} at ${tx.escrow}${ok ? '' : ' fails'}`);
    }
  } else if (isActive(chain)) {
    planPoll(world, chain);
  }
  // A timelock that has passed by the chain's clock changes what may be done.
  const passed = world.deals.some(({ view, closed }) => {
    if (view === null || closed) return false;
    return [view.legs.a, view.legs.b].some(({ chain: on, timelock }) => {
      return on === chain.chain && timelock >= before && timelock <= now;
    });
  });
  if (!passed) return;
  planPoll(world, chain);
  later(world, Math.ceil(chain.policy.detectSeconds), () => stirAll(world, chain.chain));
  planKeep(world, chain.chain, Math.ceil(chain.policy.detectSeconds) + 30);
}

/** Fewer blocks than the depth that counts. */
function reorganise(world: World, chain: SimChain): void {
  const { chance } = world;
  const most = chain.policy.normal.confirmations - 1;
  const depth = chance.int(1, most);
  if (tipOf(chain).height < 12 + depth) return;
  cutOff(chain, depth, () => chance.hits(0.85));
  for (let each = 0; each <= depth; each += 1) {
    mine(chain, seconds(world), (sent) => chance.hits(0.5) && choosing(chain, chance)(sent));
  }
  noteReorganised(world, chain, 'reorganisation', `takes ${depth} blocks back`);
}

function noteReorganised(world: World, chain: SimChain, kind: string, what: string): void {
  noteLost(world, chain);
  count(world, kind);
  tell(world, `${chain.chain} ${what}`);
  checkMoney(world);
  noteActivity(world, chain);
}

type Trouble = {
  readonly name: string;
  begin(world: World, node: Node): void;
  end(world: World, node: Node): void;
};

type State = Partial<Pick<Node, 'down' | 'slow' | 'lag' | 'otherLag'>>;

/** A node in a state of its own, and how it is when it is well. */
const node = (name: string, begun: (world: World) => State, well: State): Trouble => ({
  name,
  begin: (world, each) => void Object.assign(each, begun(world)),
  end: (_world, each) => void Object.assign(each, well),
});

const standingStill: Trouble = {
  name: 'chain stands still',
  begin: (_world, { chain }) => void stalled.add(chain),
  end: (_world, { chain }) => {
    if (stalled.delete(chain)) chain.worksThrough = chain.policy.windowSeconds !== 0;
  },
};

const troubles: readonly Trouble[] = [
  node('node down', () => ({ down: true }), { down: false }),
  node('node slow', () => ({ slow: true }), { slow: false }),
  node('node lagging', ({ chance }) => ({ lag: chance.int(1, 4) }), { lag: 0 }),
  node('second source lagging', ({ chance }) => ({ otherLag: chance.int(1, 6) }), { otherLag: 0 }),
  {
    name: 'node lying',
    begin: (world, node) => {
      for (const { view, long } of world.deals) {
        const leg = view?.legs[world.chance.hits(0.7) ? long : long === 'a' ? 'b' : 'a'];
        if (leg?.escrow == null || leg.chain !== node.chain.chain) continue;
        world.lied.add(leg.escrow);
        node.lies.set(leg.escrow, world.chance.hits(0.75) ? 'funded' : 'absent');
      }
      noteActivity(world, node.chain);
    },
    end: (world, node) => {
      node.lies.clear();
      noteActivity(world, node.chain);
    },
  },
  standingStill,
  {
    name: 'fees rise',
    begin: (world, { chain }) => {
      chain.feeFloor *= world.chance.int(2, 8);
      later(world, 5, () => stirAll(world, chain.chain));
    },
    end: (_world, { chain }) => {
      chain.feeFloor = 2;
    },
  },
];

/** The part of the planned outage that all troubles of a chain take at most. */
const shareOfOutage = 0.5;

/** Most of a swap happens in its first hours. */
function sometime({ chance }: World, span: number): number {
  return chance.hits(0.75) ? chance.int(0, Math.min(span, 5 * 3_600)) : chance.int(0, span);
}

export function planFaults(world: World, span: number): void {
  const { chance } = world;
  for (const node of world.nodes) {
    const { chain } = node;
    let budget = chain.policy.normal.outageSeconds * shareOfOutage;
    for (let left = chance.int(0, 4); left > 0; left -= 1) {
      const lasts = chance.int(60, Math.min(3_000, Math.floor(budget / 2)));
      budget -= lasts;
      if (budget < 300) break;
      const trouble = chance.pick(troubles);
      later(world, sometime(world, span), () => begin(world, node, trouble, lasts));
    }
    for (let left = chance.int(0, 3); left > 0; left -= 1) {
      later(world, sometime(world, span), () =>
        soon(world, 40, 300, () => takesBack(world, chain)),
      );
    }
    if (chance.hits(0.5)) {
      later(world, sometime(world, span), () => soon(world, 40, 120, () => drops(world, chain)));
    }
    const { driftSeconds } = chain.policy;
    chain.drift = Math.round(driftSeconds * 0.9 * (chance.int(-100, 100) / 100));
  }
  if (chance.hits(0.4))
    later(world, chance.int(3_600, 10_800), () => takeClaimBack(world, 900, 0.6));
}

/** The part of the planned outage at the one moment when it hurts. */
const shareWhenItHurts = 0.2;

/** Just when the secret must be shown at the latest, the short leg's chain has its trouble. */
export function troubleAt(world: World, on: string, revealBy: number): void {
  const { chance, calm } = world;
  if (calm || !chance.hits(0.35)) return;
  const node = nodeOf(world, on);
  const lasts = chance.int(120, node.chain.policy.normal.outageSeconds * shareWhenItHurts);
  const trouble = chance.pick(troubles);
  const at = revealBy - chance.int(0, 400);
  later(world, at - seconds(world), () => begin(world, node, trouble, lasts));
}

/** A claim that somebody was told of goes with its block, and all that knew its secret with it. */
export function takeClaimBack(world: World, tries: number, deadly: number): void {
  const { chance, nodes, ending } = world;
  if (ending) return;
  for (const { chain } of nodes) {
    const newest = chain.blocks.slice(1 - chain.policy.normal.confirmations);
    const at = newest.findIndex(({ txs }) => txs.some(({ tx }) => isKnownClaim(world, tx)));
    if (at === -1) continue;
    const depth = newest.length - at;
    const gone = newest.flatMap(({ txs }) => txs).filter(({ tx }) => isKnownClaim(world, tx));
    const keeps = (txid: string) => gone.every((each) => each.txid !== txid);
    cutOff(chain, depth, ({ txid }) => keeps(txid) && chance.hits(0.85));
    for (let each = 0; each <= depth; each += 1)
      mine(chain, seconds(world), () => chance.hits(0.5));
    const what = `takes ${depth} blocks back, with a claim that is forgotten`;
    noteReorganised(world, chain, 'claim taken back', what);
    if (!chance.hits(deadly)) return;
    for (const each of world.servers) killServer(world, each, 'with the block');
    return;
  }
  if (tries > 0) later(world, 20, () => takeClaimBack(world, tries - 1, deadly));
}

function isKnownClaim(world: World, { verb, secret }: SimTransaction): boolean {
  const isRevealed = world.deals.some((each) => each.revealed && each.secret === secret);
  if (verb !== 'claim' || !isRevealed) return false;
  // The only one that shows it: then nothing but the market's memory has it.
  const showing = world.nodes.flatMap(({ chain }) => {
    const newest = chain.blocks.slice(-20).flatMap(({ txs }) => txs);
    return [...newest, ...chain.mempool.values()].filter(({ tx }) => tx.secret === secret);
  });
  return showing.length === 1;
}

/** Short enough to leave the rest of the outage that the policy plans for. */
const longestLie = 1_500;

/** The node of one chain says of an escrow for a while that it is funded. */
export function lieAbout(world: World, on: string, escrow: string): void {
  const node = nodeOf(world, on);
  const lasts = world.chance.int(600, longestLie);
  count(world, 'node lying (spells)');
  tell(world, `${on} says that ${escrow} is funded for ${lasts} s`);
  world.lied.add(escrow);
  node.lies.set(escrow, 'funded');
  noteActivity(world, node.chain);
  later(world, lasts, () => {
    node.lies.delete(escrow);
    noteActivity(world, node.chain);
  });
}

export function standStill(world: World, node: Node, lasts: number): void {
  begin(world, node, standingStill, lasts);
}

function begin(world: World, node: Node, trouble: Trouble, lasts: number): void {
  if (world.ending) return;
  count(world, `${trouble.name} (spells)`);
  tell(world, `${node.chain.chain}: ${trouble.name} for ${lasts} s`);
  trouble.begin(world, node);
  later(world, lasts, () => trouble.end(world, node));
}

/** As soon as there is something to take back, or to drop. */
function soon(world: World, tries: number, every: number, work: () => boolean): void {
  if (world.ending || work() || tries === 0) return;
  later(world, every, () => soon(world, tries - 1, every, work));
}

function takesBack(world: World, chain: SimChain): boolean {
  const newest = chain.blocks.slice(1 - chain.policy.normal.confirmations);
  const isWorth = newest.some(({ txs }) => txs.length > 0);
  if (isWorth) reorganise(world, chain);
  return isWorth;
}

function drops(world: World, chain: SimChain): boolean {
  const waiting = [...chain.mempool.keys()];
  if (waiting.length === 0) return false;
  const txid = world.chance.pick(waiting);
  forget(chain, txid);
  noteLost(world, chain);
  count(world, 'transaction dropped');
  tell(world, `${chain.chain} forgets a ${txid.slice(0, 8)} that waited`);
  noteActivity(world, chain);
  return true;
}

/** Where a death or a loss is worth more than at a poll-up of a key. */
const delicate = [
  'commit',
  'answer of commit',
  'swaps_of_escrows',
  'heads_store',
  'escrows_to_follow',
  'swap_lock',
  'swap_insert',
  'escrow_insert',
  'escrow_update',
  'swap_update',
  'outbox_insert',
  'escrow_note_sent',
  'leg_destinations',
  'deliveries_take',
  'deliveries_insert',
  'deliveries_claim',
  'deliveries_hold',
  'keep_reply',
  ' changes',
  ' look',
  ' broadcast',
] as const;

/** Places where an event is lost or emitted again: a death at one of these in most markets. */
const telling = [
  'outbox_insert',
  'deliveries_take',
  'deliveries_insert',
  'pipelined answer of commit',
] as const;

/** Deaths of the market and losses of its database. */
export function planDooms(world: World, span: number): void {
  const { chance, servers } = world;
  const before = () => chance.pick(['before', 'after'] as const);
  const doom = (kind: 'crash' | 'cut') => {
    const when = before();
    const at = chance.hits(0.6) ? chance.pick(delicate) : null;
    const left = chance.int(1, at === null ? 60 : 3);
    const { dooms } = chance.pick(servers);
    if (!world.ending) dooms.push({ kind, left, when, at });
  };
  for (const [kind, most] of [
    ['crash', 4],
    ['cut', 3],
  ] as const) {
    for (let left = chance.int(0, most); left > 0; left -= 1) {
      later(world, sometime(world, span), () => doom(kind));
    }
  }
  if (chance.hits(0.7)) {
    const when = before();
    const left = chance.int(1, 8);
    const { dooms } = chance.pick(servers);
    dooms.push({ kind: 'crash', left, when, at: chance.pick(telling) } satisfies Doom);
  }
  // When a poll has been told of changes: any of them may be the last that is told.
  for (let left = chance.pick([0, 1, 3]); left > 0; left -= 1) {
    const when = before();
    const { dooms } = chance.pick(servers);
    dooms.push({ kind: 'cut', left: chance.int(1, 20), when, at: 'swaps_of_escrows' });
  }
}

export function healAll(world: World): void {
  for (const node of world.nodes) {
    for (const each of troubles) each.end(world, node);
  }
}
