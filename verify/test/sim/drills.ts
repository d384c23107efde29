// Situations that chance alone brings about too seldom: in half of the seeds the first swap is one
// of these, each in its turn, so that any fifty-two seeds in a row meet all of them twice. The
// drill gives the traders, the places and the events when it matters; the rest is the seed's.
//
// In some of the others it is a moment: the market dies, loses its connection or is overtaken at
// one statement or call, when that matters most. Chance alone seldom strikes there. Each has two
// honest parties on quick chains, and nothing else happens.

import { depthFor } from '@parley/core/policy.ts';
import { allMined, heldIn, tipOf } from './chain.ts';
import { lieAbout, mineOne, standStill, takeClaimBack } from './faults.ts';
import { noteLost } from './keeper.ts';
import { deliver, noteActivity, poll } from './servers.ts';
import type { Doom } from './wire.ts';
import {
  type Agreed,
  blocksToFinal,
  chainOf,
  count,
  type Deal,
  type Drill,
  highValueFrom,
  isPublic,
  later,
  legOf,
  nodeOf,
  seconds,
  stirAll,
  tell,
  type World,
} from './world.ts';

/** The part of the outage that the policy plans for; the chain has no other trouble. */
const shareOfOutage = 0.8;

/** The chain of a leg stands still from some instant on, as long as the rules allow: seconds. */
function stall(world: World, on: string, at: number): number {
  const node = nodeOf(world, on);
  const lasts = Math.floor(node.chain.policy.normal.outageSeconds * shareOfOutage);
  later(world, at - seconds(world), () => standStill(world, node, lasts));
  return lasts;
}

/** Both nodes fall behind, until neither funding is final; then they are back. */
function fallBehind(world: World, { chains, hashlock }: Deal): void {
  for (const name of chains) {
    const node = nodeOf(world, name);
    const { chain } = node;
    const lags = [...chain.plans].flatMap(([escrow, terms]) =>
      heldIn(chain, escrow).flatMap(({ height }) => {
        const { confirmations } = depthFor(chain.policy, terms.amount, highValueFrom);
        const lag = tipOf(chain).height - height + 2 - confirmations;
        return terms.hashlock === hashlock ? [lag] : [];
      }),
    );
    const lasts = world.chance.int(240, 500);
    node.lag = Math.max(1, ...lags);
    // A poll that is under way saw the node as it was.
    world.begun += 1;
    count(world, 'node lagging (spells)');
    tell(world, `${name}: its node is ${node.lag} blocks behind for ${lasts} s`);
    noteActivity(world, chain);
    later(world, lasts, () => {
      node.lag = 0;
      noteActivity(world, chain);
    });
  }
}

/** As soon as there is an escrow of the long leg, its node says that it is paid. */
function lieSoon(world: World, deal: Deal, tries: number): void {
  const { chain, escrow } = deal.view?.legs[deal.long] ?? {};
  if (chain !== undefined && escrow != null) lieAbout(world, chain, escrow);
  else if (tries > 0) later(world, 60, () => lieSoon(world, deal, tries - 1));
}

const honest = { initiator: 'honest', counterparty: 'honest', alone: true } as const;
const scheming = (plan: string, who: 'initiator' | 'counterparty' = 'initiator') =>
  ({ ...honest, [who]: 'malicious', plan }) as const;

const drills: readonly Drill[] = [
  {
    ...honest,
    name: 'the claim that told the secret is taken back',
    begin: (world) => takeClaimBack(world, 2_000, 1),
  },
  { ...honest, name: 'an escrow is paid twice', initiator: 'hasty', families: ['evm', 'bitcoin'] },
  { ...scheming('payFormer'), name: 'a former escrow is paid' },
  {
    ...scheming('payUnasked'),
    name: 'an agreement commits late',
    families: ['evm', 'tron'],
    lateAgreement: true,
  },
  { ...honest, name: 'nodes fall behind after the reveal', revealed: fallBehind },
  {
    ...honest,
    name: 'the secret is shown at the last moment, and the chain stands still',
    initiator: 'greedy',
    begin: (world, deal, { legs, deadlines }) => {
      const { chain } = legs[legOf(deal, 'short')];
      stall(world, chain, deadlines.revealBy - world.chance.int(20, 90));
    },
  },
  {
    ...scheming('revealLate'),
    name: 'the secret is shown at the timelock, and the other chain stands still',
    begin: (world, deal, { legs }) => {
      const { timelock } = legs[legOf(deal, 'short')];
      stall(world, legs[deal.long].chain, timelock - world.chance.int(0, 300));
    },
  },
  { ...scheming('pastGates'), name: 'an initiator goes past the gates' },
  { ...scheming('pastGates', 'counterparty'), name: 'a counterparty goes past the gates' },
  {
    ...scheming('neverPay'),
    name: 'a node says that the long leg is paid',
    families: ['evm', 'solana'],
    begin: (world, deal) => lieSoon(world, deal, 30),
  },
  { ...scheming('pastDeadlines'), name: 'an initiator that has paid goes past the gates' },
  {
    ...scheming('moveOften', 'counterparty'),
    name: 'the leg moves under the hands of whoever pays it',
    families: ['evm', 'bitcoin'],
  },
  {
    ...scheming('underpay'),
    name: 'a leg is paid next to nothing',
    families: ['evm', 'bitcoin'],
  },
];

/** The short leg's chain stands still at its timelock, until long after the long leg's would be. */
const comesBack: Drill = {
  ...scheming('claimBehind'),
  name: 'a chain comes back in the past',
  families: ['evm', 'bitcoin'],
  isRollup: true,
  deals: 1,
  keys: 'none',
  begin: (world, deal, { legs }) => {
    const { chain, timelock } = legs[legOf(deal, 'short')];
    const at = timelock - world.chance.int(1_200, 3_600);
    const lasts = stall(world, chain, at);
    later(world, at + lasts + 30 - seconds(world), () => stirAll(world, chain));
  },
};

const quick = { ...honest, families: ['evm', 'tron'], isOrdered: true } as const;
const plain = { ...quick, deals: 1, keys: 'none', settles: true } as const;

/** Strikes the first server; the next of the same name has what is left of it. */
function strike({ servers }: World, doom: Omit<Doom, 'left'>): void {
  servers[0]?.dooms.push({ ...doom, left: 1 });
}

/** Where a poll of a follower finds news: not one of a request. */
const inPoll = () => [' changes', 'swaps_of_escrows'];

/** Whether a block has the claim that shows the secret. */
const isMined = (world: World, { chains, secret }: Deal): boolean =>
  chains.some((name) => allMined(chainOf(world, name)).some(({ tx }) => tx.secret === secret));

/** How many blocks more make the long leg's funding final; 0 where it is in no block. */
function blocksLeft(world: World, { view, long }: Deal): number {
  const chain = view && chainOf(world, view.legs[long].chain);
  const [held] = chain ? heldIn(chain, view.legs[long].escrow) : [];
  return chain && held ? blocksToFinal(chain, held.amount, held.height) : 0;
}

/** A poll of the first server has read a shallow funding; before it stores that, it is final. */
function overtakePoll(world: World, deal: Deal, { legs }: Agreed): void {
  const [, other] = world.servers;
  const { chain: on } = legs[deal.long];
  const left = () => blocksLeft(world, deal);
  strike(world, {
    kind: 'wait',
    when: 'after',
    at: `${on} look`,
    after: inPoll(),
    from: () => left() > 0,
    meanwhile: async () => {
      for (let more = left(); more > 0; more -= 1) mineOne(world, chainOf(world, on));
      if (other !== undefined) await poll(world, other, on);
    },
  });
}

const muteSeconds = 6 * 3_600;

function mute(world: World): void {
  world.mutedUntil = world.nowMs + muteSeconds * 1_000;
  later(world, muteSeconds, () => deliver(world));
}

/** Longer than both take to ask, and far from every deadline. */
const togetherSeconds = 600;
const meetings = new WeakMap<World, Set<Deal>>();

/** Both ask for their relay when both may, and no block comes between. */
function relayTogether(world: World, deal: Deal, { legs, deadlines }: Agreed): void {
  const { chain: on } = legs[legOf(deal, 'short')];
  const latest = deadlines.revealBy - 3_600;
  const met = meetings.get(world) ?? new Set<Deal>();
  meetings.set(world, met);
  const waits = () => {
    const isNew = !met.has(deal);
    met.add(deal);
    if (met.size < world.deals.length) return seconds(world) < latest;
    if (isNew) standStill(world, nodeOf(world, on), togetherSeconds);
    return false;
  };
  deal.sides[0].habits = { relays: true, late: false, vanishes: null, waits };
}

/** Relayed in the last moment, in no block, and forgotten by all when its owner has gone. */
function forgetRelay(world: World, deal: Deal, { legs, deadlines }: Agreed): void {
  const [initiator] = deal.sides;
  initiator.habits = { relays: true, late: true, vanishes: null };
  const node = nodeOf(world, legs[legOf(deal, 'short')].chain);
  const { chain } = node;
  const forget = () => {
    initiator.goneAt = seconds(world);
    for (const [txid, { tx }] of [...chain.mempool]) {
      if (tx.secret === deal.secret) chain.mempool.delete(txid);
    }
    noteLost(world, chain);
    noteActivity(world, chain);
  };
  const left = deadlines.revealBy - seconds(world);
  later(world, left - togetherSeconds / 2, () => standStill(world, node, 2 * togetherSeconds));
  later(world, left + 60, forget);
}

/** The counterparty alone claims the long leg, and it is there until it could. */
function stayUntilRevealed(_world: World, { sides }: Deal): void {
  for (const side of sides) {
    side.goneAt = null;
    if (side.habits !== null) side.habits = { relays: false, late: false, vanishes: null };
  }
}

const moments: readonly Drill[] = [
  {
    ...plain,
    name: 'it dies between what is stored and what is told of it',
    begin: (world, deal) => {
      const from = () => isPublic(world, deal);
      strike(world, { kind: 'crash', when: 'before', at: 'outbox_insert', from });
    },
  },
  {
    ...quick,
    name: 'two claims are relayed within a block',
    deals: 2,
    isPair: true,
    keys: 'rich',
    settles: true,
    begin: relayTogether,
  },
  {
    ...plain,
    name: 'it dies between outbox and deliveries',
    begin: (world) => strike(world, { kind: 'crash', when: 'before', at: 'deliveries_insert' }),
  },
  {
    ...plain,
    name: 'a poll cannot store what it read',
    begin: (world, deal) => {
      const from = () => isMined(world, deal);
      strike(world, { kind: 'cut', when: 'before', at: 'swap_lock', after: inPoll(), from });
    },
  },
  {
    ...quick,
    name: 'the short leg is claimed, the long one refunded, and a cap forbids to help',
    counterparty: 'absent',
    deals: 1,
    keys: 'capped',
    begin: stayUntilRevealed,
    revealed: (world, { sides }) => {
      sides[1].goneAt = seconds(world);
    },
  },
  { ...plain, name: 'nothing is delivered for hours', begin: mute },
  {
    ...plain,
    name: 'a poll is overtaken by a newer one',
    servers: 2,
    isSteady: true,
    begin: overtakePoll,
  },
  { ...plain, name: 'two servers see the secret at once', servers: 2, lateReveal: true },
  {
    ...plain,
    name: 'it dies before what it saw is stored',
    begin: (world, deal) => {
      const from = () => isPublic(world, deal);
      strike(world, { kind: 'crash', when: 'before', at: 'escrow_update', from });
    },
  },
  {
    ...plain,
    name: 'it dies when a delivery is stored',
    begin: (world, deal) => {
      const from = () => isPublic(world, deal);
      const after = ['deliveries_hold'];
      const at = 'pipelined answer of commit';
      strike(world, { kind: 'crash', when: 'after', at, after, from });
    },
  },
  {
    ...plain,
    name: 'it dies between an effect and its reply',
    isKeyed: true,
    open: (world) => strike(world, { kind: 'crash', when: 'before', at: 'keep_reply' }),
  },
  {
    ...quick,
    name: 'a relay is asked for too late',
    initiator: 'malicious',
    plan: 'pastDeadlines',
    deals: 1,
    keys: 'rich',
  },
  {
    ...plain,
    name: 'a poll forgets what it was told',
    begin: (world, deal) => {
      const from = () => isMined(world, deal);
      strike(world, { kind: 'cut', when: 'before', at: 'swaps_of_escrows', from });
    },
  },
  {
    ...quick,
    name: 'a relayed claim is forgotten after its last moment',
    deals: 1,
    keys: 'rich',
    begin: forgetRelay,
  },
];

/**
 * In every second round, at a place of its own: the stories of the other seeds stay as they were.
 */
const placeOfComingBack = 49;

/** The same of a payee on Bitcoin that is away from its funding on. */
const placeOfLeaving = 35;
const leaving: Drill = {
  ...honest,
  name: 'a payee on Bitcoin is away from its funding on',
  alone: false,
  families: ['evm', 'bitcoin'],
  isOrdered: true,
  keys: 'none',
  leaves: true,
};

/** Places of as many seeds as it takes for each drill, and as many again: those with a moment. */
const placesOfMoments = [14, 18, 22, 24];

export const allDrills: readonly Drill[] = [...drills, ...moments, comesBack, leaving];

/** Null in most of the other half of the seeds. */
export function drillOf(seed: number): Drill | null {
  const round = 2 * drills.length;
  if (seed % (2 * round) === placeOfComingBack) return comesBack;
  if (seed % (2 * round) === placeOfLeaving) return leaving;
  const place = placesOfMoments.indexOf(seed % round);
  if (place === -1) return drills[seed % round] ?? null;
  const at = Math.floor(seed / round) * placesOfMoments.length + place;
  return moments[at % moments.length] ?? null;
}

/** The first of two rounds of a drill is without gas keys, which would act for its parties. */
export const isBare = (seed: number): boolean => seed % (4 * drills.length) < drills.length;
