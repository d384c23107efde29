// Drills of one moment each: the market dies, loses its connection or is overtaken at one statement
// or call, when that matters most. Chance alone seldom strikes there. Each has two honest parties
// on quick chains, and nothing else happens.

import { depthFor } from '../../core/policy.ts';
import { allMined, heldIn, tipOf } from './chain.ts';
import { highValueFrom, isPublic, legOf } from './deals.ts';
import { mineOne, standStill } from './faults.ts';
import { noteLost } from './keeper.ts';
import { deliver, noteActivity, poll } from './servers.ts';
import type { Deal, Drill, View, World } from './state.ts';
import type { Doom } from './wire.ts';
import { chainOf, later, nodeOf, seconds } from './world.ts';

type Agreed = Pick<View, 'deadlines' | 'legs'>;

const quiet = {
  initiator: 'honest',
  counterparty: 'honest',
  families: ['evm', 'tron'],
  isOrdered: true,
  alone: true,
} as const;
const plain = { ...quiet, deals: 1, keys: 'none', settles: true } as const;

/** Of the first server; the next of the same name has what is left of it. */
function strike({ servers }: World, doom: Omit<Doom, 'left'>): void {
  servers[0]?.dooms.push({ ...doom, left: 1 });
}

/** Where a poll of a follower finds news: not one of a request. */
const inPoll = () => [' changes', 'swaps_of_escrows'];

/** Whether a block has the claim that shows the secret. */
function isMined(world: World, { chains, secret }: Deal): boolean {
  return chains.some((name) => {
    return allMined(chainOf(world, name)).some(({ tx }) => tx.secret === secret);
  });
}

/** How many blocks more make the long leg's funding final; null where it is in no block. */
function blocksToDepth(world: World, { chain: on, escrow }: View['legs']['a']): number | null {
  const chain = chainOf(world, on);
  const [held] = heldIn(chain, escrow);
  if (held === undefined) return null;
  const { confirmations } = depthFor(chain.policy, held.amount, highValueFrom);
  return Math.max(0, confirmations - (tipOf(chain).height - held.height + 1));
}

const longLeg = (deal: Deal) => deal.view?.legs[deal.long] ?? null;

/** A poll of the first server has read a shallow funding; before it stores that, it is final. */
function overtakePoll(world: World, deal: Deal, { legs }: Agreed): void {
  const [, other] = world.servers;
  const { chain: on } = legs[deal.long];
  const left = () => {
    const leg = longLeg(deal);
    return leg === null ? null : blocksToDepth(world, leg);
  };
  strike(world, {
    kind: 'wait',
    when: 'after',
    at: `${on} look`,
    after: inPoll(),
    from: () => (left() ?? 0) > 0,
    meanwhile: async () => {
      for (let more = left() ?? 0; more > 0; more -= 1) mineOne(world, chainOf(world, on));
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
  const [initiator] = deal.sides;
  if (initiator !== undefined) {
    initiator.habits = { relays: true, late: false, vanishes: null, waits };
  }
}

/** Relayed in the last moment, in no block, and forgotten by all when its owner has gone. */
function forgetRelay(world: World, deal: Deal, { legs, deadlines }: Agreed): void {
  const [initiator] = deal.sides;
  if (initiator !== undefined) initiator.habits = { relays: true, late: true, vanishes: null };
  const node = nodeOf(world, legs[legOf(deal, 'short')].chain);
  const { chain } = node;
  const forget = () => {
    if (initiator !== undefined) initiator.goneAt = seconds(world);
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

/** Nobody but the counterparty itself claims the long leg, and it is there until it could. */
function stayUntilRevealed(_world: World, deal: Deal): void {
  for (const side of deal.sides) {
    side.goneAt = null;
    if (side.habits !== null) side.habits = { relays: false, late: false, vanishes: null };
  }
}

function leave(world: World, deal: Deal): void {
  const counterparty = deal.sides.find(({ role }) => role === 'counterparty');
  if (counterparty !== undefined) counterparty.goneAt = seconds(world);
}

export const moments: readonly Drill[] = [
  {
    ...plain,
    name: 'it dies between what is stored and what is told of it',
    begin: (world, deal) => {
      const from = () => isPublic(world, deal);
      strike(world, { kind: 'crash', when: 'before', at: 'outbox_insert', from });
    },
  },
  {
    ...quiet,
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
    ...quiet,
    name: 'the short leg is claimed, the long one refunded, and a cap forbids to help',
    counterparty: 'absent',
    deals: 1,
    keys: 'capped',
    begin: stayUntilRevealed,
    revealed: leave,
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
    ...quiet,
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
    ...quiet,
    name: 'a relayed claim is forgotten after its last moment',
    deals: 1,
    keys: 'rich',
    begin: forgetRelay,
  },
];
