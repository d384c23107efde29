// One seed: two chains of any family, two people with one to three nodes each, a market, and what
// goes wrong, until everybody who runs the driver has ended.

import { deadlines, longLeg } from '@parley/core/deadlines.ts';
import { families } from '@parley/core/families.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { LegName, Party } from '@parley/core/trade.ts';
import { crashed } from '../../planted/bugs.ts';
import { issue, newChain, policies, type SimChain } from '../chain.ts';
import { type Chance, chanceOf } from '../chance.ts';
import type { Done } from '../crew.ts';
import { resetDrivers } from './drivers.ts';
import { healAll, planFaults } from './faults.ts';
import { startMining } from './mining.ts';
import { planMore } from './more-faults.ts';
import { checkWorld } from './oracle.ts';
import { live } from './party.ts';
import { plansAreOf } from './plans.ts';
import { rivalActs } from './rival.ts';
import { beginTime, nowMs, runUntil } from './time.ts';
import { planTogether, rivalCosigns } from './together.ts';
import { planWords } from './words.ts';
import {
  amountOf,
  count,
  destinationOf,
  getsOf,
  givesOf,
  type Kind,
  type Legs,
  legNames,
  type Market,
  type Person,
  type SimNode,
  violate,
  type World,
} from './world.ts';

const epoch = Date.UTC(2031, 0, 1) / 1_000;
const hour = 3_600;
const mostRivalMoves = 30;

function chainsFor(chance: Chance): Legs<SimChain> {
  const one = chance.pick(families);
  const other = chance.pick(families);
  const timing = (family: keyof typeof policies) => {
    return { policy: policies[family], depth: policies[family].normal };
  };
  const long = longLeg({ a: timing(one), b: timing(other) });
  const of = (leg: LegName) => {
    const family = (leg === 'b') === (long === 'b') ? other : one;
    const about = { chain: `sim-${leg}-${family}`, family, policy: policies[family] };
    return newChain(about, epoch);
  };
  return { a: of('a'), b: of('b') };
}

function nodesFor(world: World, chain: SimChain, party: Party): SimNode[] {
  const { chance } = world;
  const nodes = Array.from(
    { length: chance.int(1, 3) },
    (_, at): SimNode => ({
      name: `node ${at + 1} of the ${party} for ${chain.chain}`,
      chain,
      mode: { is: 'well' },
      fails: 0,
      lags: 0,
      forgets: 0,
      beside: [],
      isSteady: false,
      failsUntilMs: 0,
      owner: () => world.people.find((each) => each.party === party) as Person,
    }),
  );
  const steady = chance.pick(nodes);
  for (const each of nodes) {
    each.beside = nodes;
    each.isSteady = each === steady;
  }
  return nodes;
}

function kindsFor(chance: Chance, calm: boolean): Record<Party, Kind> {
  if (calm) return { maker: 'driver', taker: 'driver' };
  const drawn = chance.int(1, 20);
  const other: Kind =
    drawn <= 8 ? 'driver' : drawn <= 10 ? 'absent' : drawn <= 12 ? 'sleepy' : 'rival';
  return chance.hits(0.5) ? { maker: 'driver', taker: other } : { maker: other, taker: 'driver' };
}

function personFor(world: World, party: Party, kind: Kind): Person {
  const { chance, chains, secret, hashlock, agreedAt, swapId } = world;
  const gives = givesOf(party);
  const gets = getsOf(party);
  const asset = (leg: LegName) => ({
    id: `asset-${leg}`,
    chain: chains[leg].chain,
    token: null,
    decimals: 8,
    highValueFrom: null,
  });
  const home = (leg: LegName) => destinationOf(party, leg, chains[leg].family, 0);
  const isInitiator = party === 'taker';
  return {
    party,
    kind,
    gives,
    gets,
    role: isInitiator ? 'initiator' : 'counterparty',
    trade: {
      party,
      rfqId: 'rfq',
      threadId: swapId,
      makerId: 'maker',
      takerId: 'taker',
      direction: 'sell_base',
      base: asset('b'),
      baseAmount: amountOf('b'),
      quote: asset('a'),
      quoteAmount: amountOf('a'),
      acceptedAt: agreedAt - 5,
      hashlock: isInitiator ? hashlock : null,
      refundTo: home(gives),
      payTo: home(gets),
    },
    nodes: { a: nodesFor(world, chains.a, party), b: nodesFor(world, chains.b, party) },
    byHand: chains[gives].family === 'bitcoin' && !world.calm && chance.hits(0.3),
    kept: {
      secrets: new Map(isInitiator ? [[hashlock, secret]] : []),
      nonces: new Map(),
      swaps: new Map(),
      trades: new Map(),
    },
    former: [],
    ahead: 0,
    isClockSet: false,
    callsLeft: Number.POSITIVE_INFINITY,
    hasPaid: false,
    givesUpAtMs: Number.POSITIVE_INFINITY,
    saidTo: null,
    hasReleased: false,
    endedAtMs: 0,
    isLost: false,
    end: null,
  } as Person;
}

function marketFor(chance: Chance, calm: boolean, hasRival: boolean): Market {
  const kind = calm ? 'honest' : hasRival && chance.hits(0.6) ? 'lying' : 'honest';
  return {
    kind: kind === 'honest' && !calm && chance.hits(0.3) ? 'flaky' : kind,
    diesAtMs: Number.POSITIVE_INFINITY,
    counters: { a: 1, b: 1 },
    moved: { a: 0, b: 0 },
    fixed: new Set(),
    announced: new Set(),
    lie: null,
    words: { a: null, b: null },
    wordLie: null,
    exchanges: { a: { claim: null, refund: null }, b: { claim: null, refund: null } },
  };
}

function openWorld(seed: number): World {
  const chance = chanceOf(seed);
  const calm = chance.hits(0.1);
  beginTime(epoch * 1_000);
  resetDrivers();
  const chains = chainsFor(chance);
  plansAreOf([chains.a, chains.b]);
  planTogether(seed);
  const kinds = kindsFor(chance, calm);
  const hasRival = Object.values(kinds).includes('rival');
  const secret = chance.hex(32);
  const timing = (leg: LegName) => {
    const { policy } = chains[leg];
    return { policy, depth: policy.normal };
  };
  const about = {
    seed,
    chance,
    swapId: `swap-${seed}`,
    secret,
    hashlock: hashlockOf(secret),
    chains,
    calm,
    agreedAt: epoch,
    times: deadlines(epoch, { a: timing('a'), b: timing('b') }, 'b'),
    market: marketFor(chance, calm, hasRival),
    standing: new Set<SimChain>(),
    counts: new Map(),
    story: [],
    violations: [],
    news: 0,
    isTold: false,
    used: new Set<string>(),
    excuse: null,
    isHealed: false,
    after: { a: [], b: [], told: [] },
  };
  const world: World = { ...about, people: [] };
  for (const each of ['maker', 'taker'] as const) {
    world.people.push(personFor(world, each, kinds[each]));
  }
  const { people } = world;
  for (const { party, gives } of people) {
    const { family } = chains[gives];
    for (let at = 0; at < mostRivalMoves; at += 1) {
      issue(chains[gives], destinationOf(party, gives, family, at).address, 10n ** 9n);
    }
  }
  return world;
}

function deathsOf({ chance, calm }: World, { kind }: Person): number[] {
  if (calm) return [];
  const number = kind === 'absent' ? 1 : chance.pick([0, 0, 0, 1, 2, 3]);
  return Array.from({ length: number }, () => chance.pick([20, 60, 200, 600]) + chance.int(0, 80));
}

export async function simulateDriver(seed: number): Promise<Done> {
  const world = openWorld(seed);
  const { people, chains, times, violations, calm } = world;
  const running: Promise<void>[] = [];
  try {
    for (const leg of legNames) startMining(world, leg);
    if (!calm) planFaults(world);
    planMore(world);
    planWords(world);
    rivalCosigns(world);
    for (const person of people) {
      if (person.kind === 'rival') rivalActs(world, person);
      else running.push(live(world, person, deathsOf(world, person)));
    }
    const failed = Promise.all(running).catch((error: unknown) => {
      violate(world, crashed.threw, error instanceof Error ? `${error.stack}` : String(error));
    });
    const isOver = () =>
      violations.length > 0 ||
      people.every(({ kind, end }) => end !== null || kind === 'rival' || kind === 'absent');
    const longMs = times.refundAt.b * 1_000;
    if (!(await runUntil(isOver, longMs + 6 * hour * 1_000))) {
      healAll(world);
      await runUntil(isOver, nowMs() + 24 * hour * 1_000);
    }
    void failed;
    checkWorld(world);
  } catch (error) {
    violate(world, crashed.threw, (error as Error).stack ?? String(error));
  }
  note(world);
  return { seed, violations, story: world.story, counts: [...world.counts] };

  function note({ market }: World): void {
    count(world, 'swaps');
    count(world, `market ${market.kind}`);
    for (const leg of legNames) count(world, `leg ${leg} on ${chains[leg].family}`);
    for (const { kind, role, nodes } of people) {
      count(world, `${role} ${kind}`);
      for (const leg of legNames) count(world, `chain with ${nodes[leg].length} nodes`);
    }
    if (calm) count(world, 'calm seeds');
  }
}
