// The troubles in a seed, within what the rules promise anything for. One of several nodes of a
// chain is well at each moment, and answers, while others lie, stand still or are on a fork. A
// single node never lies, and all its outages together stay below half of what the chains' policies
// reckon with.

import type { LegName } from '@parley/core/trade.ts';
import { type SimChain, tipOf } from '../chain.ts';
import { forkOf, mineFork, reorganise } from './mining.ts';
import { moveLeg } from './rival.ts';
import { later, nowMs } from './time.ts';
import {
  count,
  legNames,
  lies,
  type Mode,
  type Person,
  type SimNode,
  tell,
  type World,
} from './world.ts';

const hourMs = 3_600_000;

/**
 * The share of a chain's outage: a part for the chain itself, and a part for a person's only node.
 */
const chainShare = 0.2;
const nodeShare = 0.4;

type Spell = 'gone' | 'hangs' | 'slow' | 'stuck' | 'syncing' | 'split' | 'lying';

const ofSeveral: readonly Spell[] = [
  ...(['gone', 'hangs', 'slow', 'stuck', 'stuck', 'syncing'] as const),
  ...(['split', 'lying', 'lying', 'lying', 'lying', 'lying'] as const),
];
const ofOne: readonly Spell[] = ['gone', 'hangs', 'slow', 'stuck', 'stuck', 'syncing', 'split'];

export function planFaults(world: World): void {
  for (const leg of legNames) planChain(world, leg);
  for (const person of world.people) if (person.kind !== 'rival') planPerson(world, person);
  planMarket(world);
}

const spanMs = ({ times, agreedAt }: World) => (times.refundAt.b - agreedAt + 3_600) * 1_000;

function planChain(world: World, leg: LegName): void {
  const { chance } = world;
  const chain = world.chains[leg];
  const { confirmations, outageSeconds } = chain.policy.normal;
  const span = spanMs(world);
  for (let each = chance.int(0, 3); each > 0 && confirmations > 1; each -= 1) {
    later(chance.int(0, span), () => reorganise(world, chain, false));
  }
  const isFinal = chain.family === 'solana' || chain.family === 'tron';
  if (!isFinal && chance.hits(0.03))
    later(chance.int(0, span), () => reorganise(world, chain, true));
  if (!chance.hits(0.3)) return;
  const ms = chance.int(60, Math.floor(outageSeconds * chainShare)) * 1_000;
  later(chance.int(0, span), () => {
    // Then nobody could tell an invented head from the next block.
    if (isLiedAbout(world, leg)) return;
    world.standing.add(chain);
    count(world, 'chain stands still');
    tell(world, `${chain.chain} stands still`);
    later(ms, () => {
      world.standing.delete(chain);
      chain.worksThrough = chain.policy.windowSeconds !== 0;
    });
  });
}

const isLiedAbout = ({ people }: World, leg: LegName) =>
  people.some(({ nodes }) => nodes[leg].some(({ mode }) => mode.is === 'lying'));

function planPerson(world: World, person: Person): void {
  const { chance } = world;
  const outages = legNames.map((each) => world.chains[each].policy.normal.outageSeconds);
  let leftMs = Math.min(...outages) * nodeShare * 1_000;
  for (const leg of legNames) {
    const nodes = person.nodes[leg];
    for (const each of nodes) {
      if (!chance.hits(0.7)) continue;
      each.fails = chance.pick([0, 0.02, 0.1]);
      each.lags = chance.pick([0, 0.05, 0.3]);
      each.forgets = chance.pick([0, 0, 0.05, 0.5]);
    }
    if (nodes.length === 1) leftMs = planOnly(world, person, leg, leftMs);
    else planSeveral(world, person, leg);
  }
  planClock(world, person);
  planLoss(world, person, leftMs);
}

/** Its device is lost near a timelock, and the node of the new one is yet to catch up. */
function planLoss(world: World, person: Person, leftMs: number): void {
  const { chance, times, agreedAt } = world;
  if (!chance.hits(0.3)) return;
  const nodes = person.nodes[person.gives];
  const ms = Math.min(leftMs, 1_800_000);
  later((times.refundAt[person.gives] - agreedAt + chance.int(-900, 3_600)) * 1_000, () => {
    person.isLost = true;
    person.callsLeft = 1;
    const isAlone = nodes.length === 1;
    const ill = nodes.find(({ isSteady }) => isAlone || !isSteady);
    if (ill !== undefined && ms > 60_000) begin(world, ill, { spell: 'syncing', ms, isAlone });
  });
}

function planOnly(world: World, person: Person, leg: LegName, mostMs: number): number {
  const { chance } = world;
  let leftMs = mostMs;
  for (let each = chance.int(0, 3); each > 0 && leftMs > 120_000; each -= 1) {
    const ms = chance.int(60_000, Math.floor(leftMs));
    leftMs -= ms;
    const spell = chance.pick(ofOne);
    const node = person.nodes[leg][0] as SimNode;
    later(momentOf(world), () => begin(world, node, { spell, ms, isAlone: true }));
  }
  return leftMs;
}

/** When it hurts: mostly soon, near a deadline, or near a timelock. */
function momentOf(world: World): number {
  const { chance, times, agreedAt } = world;
  const all = [agreedAt, times.counterpartyFundBy, times.revealBy, times.refundAt.a];
  const near = chance.pick([...all, times.refundAt.b]) - agreedAt + chance.int(-3_600, 3_600);
  const at = chance.hits(0.7) ? near * 1_000 : chance.int(0, spanMs(world));
  return Math.max(0, at);
}

/** One of them is well all the time; its neighbours are not. */
function planSeveral(world: World, person: Person, leg: LegName): void {
  const { chance } = world;
  for (const node of person.nodes[leg]) {
    if (node.isSteady) {
      if (chance.hits(0.3)) {
        node.mode = { is: 'slow', ms: chance.int(100, 12_000) };
        // Its failure before a lie would be its word of that moment.
        node.fails = 0;
      }
      continue;
    }
    for (let each = chance.int(0, 3); each > 0; each -= 1) {
      const ms = chance.hits(0.3) ? Number.POSITIVE_INFINITY : chance.int(60_000, 10 * hourMs);
      const spell = chance.pick(ofSeveral);
      later(momentOf(world), () => begin(world, node, { spell, ms, isAlone: false }));
    }
    if (!chance.hits(0.3)) continue;
    // When most is to be had by it.
    const moment = chance.pick(['a', 'b', 'told'] as const);
    const ms = chance.pick([3_600_000, Number.POSITIVE_INFINITY]);
    const spell = chance.pick(['lying', 'lying', 'stuck', 'gone'] as const);
    world.after[moment].push(() => {
      const wait = chance.int(0, 900_000);
      later(wait, () => begin(world, node, { spell, ms, isAlone: false }));
    });
  }
}

/** Set wrong for a while, and set right again. */
function planClock(world: World, person: Person): void {
  const { chance } = world;
  if (!chance.hits(0.15)) return;
  const seconds = chance.pick([-4 * 3_600, -1_800, -600, 600, 3_600, 5 * 3_600]);
  const isBehind = seconds < 0;
  // By a clock that is behind a single node that stands still cannot be known.
  const isAlone = legNames.some((each) => person.nodes[each].length === 1);
  if (isBehind && isAlone) return;
  person.isClockSet = true;
  const begins = chance.int(60_000, 8 * hourMs);
  later(begins, () => {
    const isHeard = legNames.some((leg) => isLiedAbout(world, leg));
    if (!isBehind && isHeard) return;
    person.ahead = seconds;
    count(world, isBehind ? 'device clock behind' : 'device clock ahead');
    tell(world, `the clock of the ${person.role} is off by ${seconds} s`);
  });
  later(begins + chance.int(60_000, 10 * hourMs), () => {
    person.ahead = 0;
  });
}

type Given = { readonly spell: Spell; readonly ms: number; readonly isAlone: boolean };

function begin(world: World, node: SimNode, { spell, ms, isAlone }: Given): void {
  if (node.mode.is !== 'well' || world.isHealed) return;
  // Neither of a chain that stands still, nor of one whose blocks a wrong clock takes for old.
  const { chain } = node;
  const isHelped = world.standing.has(chain) || chain.worksThrough || node.owner().ahead > 0;
  if (spell === 'lying' && isHelped) return;
  node.mode = modeOf(world, node, { spell, ms, isAlone });
  world.news += 1;
  const { mode } = node;
  const what = mode.is === 'lying' ? `lies (${mode.lie})` : mode.is;
  count(world, mode.is === 'lying' ? `node lies: ${mode.lie}` : `node ${mode.is}`);
  if (ms === Number.POSITIVE_INFINITY) count(world, 'node ill for ever');
  tell(world, `${node.name} ${what} for ${Math.round(ms / 60_000)} min`);
  if (mode.is === 'split') followFork(world, node, mode.fork);
  if (ms === Number.POSITIVE_INFINITY) return;
  later(ms, () => {
    if (node.mode === mode) heal(world, node);
  });
}

function heal(world: World, node: SimNode): void {
  node.mode = { is: 'well' };
  world.news += 1;
  tell(world, `${node.name} is well again`);
}

function modeOf(world: World, node: SimNode, { spell, ms, isAlone }: Given): Mode {
  const { chance } = world;
  const { chain } = node;
  const { height } = tipOf(chain);
  switch (spell) {
    case 'slow':
      return { is: spell, ms: chance.int(500, isAlone ? 14_000 : 30_000) };
    case 'stuck':
      return { is: spell, height: height - chance.int(0, 2) };
    case 'syncing': {
      const from = Math.max(0, height - chance.int(20, 400));
      // It is through when the spell is over.
      const span = ms === Number.POSITIVE_INFINITY ? 10 * hourMs : ms;
      return { is: spell, from, sinceMs: nowMs(), perMs: span / (height - from + 1) };
    }
    case 'split': {
      // Where blocks are final a node on a fork shows none of its own.
      const isFinal = chain.family === 'solana' || chain.family === 'tron';
      if (isFinal) return { is: 'stuck', height };
      const most = chain.policy.normal.confirmations - 1;
      const depth = isAlone ? Math.min(1, most) : chance.int(0, most + 3);
      return { is: spell, fork: forkOf(chain, depth, chance.int(1, 9_999)) };
    }
    case 'lying':
      return { is: spell, lie: chance.pick(lies) };
    default:
      return { is: spell };
  }
}

function followFork(world: World, node: SimNode, fork: SimChain): void {
  const seconds = fork.family === 'bitcoin' ? [600, 2_400] : [60, 240];
  const next = () => {
    if (node.mode.is !== 'split' || node.mode.fork !== fork) return;
    // Fewer build on it.
    if (tipOf(fork).height < tipOf(node.chain).height) mineFork(world, fork);
    world.news += 1;
    later(world.chance.int(seconds[0] ?? 0, seconds[1] ?? 0) * 1_000, next);
  };
  next();
}

function planMarket(world: World): void {
  const { chance, market, people } = world;
  const hasRival = people.some(({ kind }) => kind === 'rival');
  if (chance.hits(0.15)) {
    market.diesAtMs = nowMs() + chance.int(0, spanMs(world));
    count(world, 'market dies');
  }
  if (hasRival) return;
  for (let each = chance.int(0, 2); each > 0; each -= 1) {
    later(chance.int(0, 3 * hourMs), () => moveHonestly(world));
  }
}

/** The lane of a leg was taken by another swap: it moves before its funding is asked for. */
function moveHonestly(world: World): void {
  const { market, chains } = world;
  const isFree = legNames.every((each) => {
    const { family } = chains[each];
    return (family === 'evm' || family === 'tron') && !market.fixed.has(each);
  });
  if (isFree) moveLeg(world, null);
}

/**
 * From here on nobody is kept from its end. A node that is gone for good stays so beside a well
 * one.
 */
export function healAll(world: World): void {
  world.isHealed = true;
  world.standing.clear();
  world.market.lie = null;
  world.market.wordLie = null;
  world.news += 1;
  for (const person of world.people) {
    person.ahead = 0;
    for (const node of legNames.flatMap((leg) => person.nodes[leg])) {
      node.fails = 0;
      node.lags = 0;
      node.forgets = 0;
      const isIll = ['lying', 'split', 'syncing'].includes(node.mode.is);
      if (isIll) heal(world, node);
    }
  }
}
