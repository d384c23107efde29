// From two parties to an agreed swap: RFQ, quote, both acceptances, each over the same network.

import { hash } from 'node:crypto';
import { longLeg } from '@parley/core/deadlines.ts';
import type { Family } from '@parley/core/families.ts';
import { depthFor } from '@parley/core/policy.ts';
import type { Role } from '@parley/core/trade.ts';
import type { Chance } from './chance.ts';
import { lieAbout, troubleAt } from './faults.ts';
import { followRules, habitsOf } from './honest.ts';
import { beMalicious, planFor } from './malice.ts';
import { checkAgreed } from './oracle.ts';
import { ask, askPlainly, post } from './people.ts';
import { deliver, poll } from './servers.ts';
import {
  type Answer,
  type Ask,
  chainOf,
  count,
  type Deal,
  highValueFrom,
  isDrilled,
  type Kind,
  later,
  legOf,
  ownLeg,
  type Party,
  type Side,
  seconds,
  stir,
  tell,
  type View,
  violate,
  type World,
} from './world.ts';

export type Asset = { readonly id: string; readonly chain: string; readonly family: Family };

export type Terms = Pick<Deal, 'direction'> & { readonly base: Asset; readonly quote: Asset };

/** Amounts of base and quote, base units. */
type Amounts = readonly [base: bigint, quote: bigint];

/** Which leg is long; for usual amounts where they are not drawn yet. */
export function longOf(
  world: World,
  { direction, base, quote }: Terms,
  [ofBase, ofQuote]: Amounts = [0n, 0n],
): Deal['long'] {
  const timing = ({ chain }: Asset, amount: bigint) => {
    const { policy } = chainOf(world, chain);
    return { policy, depth: depthFor(policy, amount, highValueFrom) };
  };
  const one = timing(base, ofBase);
  const other = timing(quote, ofQuote);
  return longLeg(direction === 'sell_base' ? { a: other, b: one } : { a: one, b: other });
}

type About = Terms & { readonly name: string; readonly taker: Party; readonly maker: Party };

export function newDeal(world: World, about: About): Deal {
  const { name, taker, maker, base, quote, direction } = about;
  const { chance, drill } = world;
  const isOther = world.deals.length > 0 && !drill?.lateAgreement && !drill?.isPair;
  const isPlain = drill === null || isOther;
  const mayPause = isPlain && !world.calm;
  const secret = chance.hex(32);
  const amount = () => BigInt(chance.int(50, 5_000)) * 1_000n;
  const amounts: Amounts = [amount(), amount()];
  const long = longOf(world, about, amounts);
  const [initiator, counterparty] = long === 'a' ? [maker, taker] : [taker, maker];
  const sides = [sideOf(initiator, 'initiator'), sideOf(counterparty, 'counterparty')] as const;
  const deal: Deal = {
    name,
    secret,
    taker,
    maker,
    sides,
    direction,
    long,
    hashlock: hash('sha256', Buffer.from(secret, 'hex')),
    chains: [base.chain, quote.chain],
    base: { id: base.id, amount: amounts[0] },
    quote: { id: quote.id, amount: amounts[1] },
    id: null,
    stage: 'rfq',
    threadId: null,
    rfqId: null,
    openUntil: null,
    view: null,
    closed: false,
    revealed: false,
    tries: 0,
    acceptedAt: new Map(),
    escrows: new Set(),
    pause: mayPause && chance.hits(slowShare) ? chance.pick(pauses) : 0,
  };
  for (const side of sides) {
    const seat = { world, side, deal };
    side.wake = () => followRules(seat);
    if (side.party.kind !== 'malicious') continue;
    const plannedRole = drill?.initiator === 'malicious' ? 'initiator' : 'counterparty';
    const isPlanned = world.deals.length === 0 && plannedRole === side.role;
    const plan = planFor(world, side.role, isPlanned ? drill?.plan : undefined);
    side.wake = () => beMalicious(seat, plan);
  }
  return deal;
}

function sideOf(party: Party, role: Role): Side {
  const awake = { wakesAt: null, plots: false, goneAt: null, backAt: null, habits: null };
  return { party, role, ...awake, busyUntil: new Map(), wake: async () => {} };
}

export function kindFor(chance: Chance, calm: boolean, other: Kind | null): Kind {
  if (calm || chance.hits(other === 'malicious' ? 0.85 : 0.4)) return 'honest';
  return chance.pick(strange);
}

const strange: readonly Kind[] = [
  ...(['absent', 'sleepy', 'greedy', 'greedy', 'hasty'] as const),
  ...Array<Kind>(4).fill('malicious'),
];

/** Some take their time: longer than an acceptance stands, or than the RFQ. */
const slowShare = 0.25;
const pauses = [630, 7_300] as const;

/** Gives up when it has taken too long: an RFQ lives for a while only. */
const mostTries = 40;

/** One step at a time until the swap is there. */
export async function negotiate(world: World, deal: Deal, tries = 0): Promise<void> {
  if (deal.stage === 'agreed' || world.ending) return;
  const waits = waitsFor(world, deal);
  if (waits > 0) {
    later(world, waits, () => negotiate(world, deal, tries));
    return;
  }
  if (tries > mostTries) {
    deal.stage = 'given up';
    deal.closed = true;
    count(world, 'swaps not agreed');
    return;
  }
  const answer = await step(world, deal, tries);
  // Its request may have been answered by another that came meanwhile.
  if (deal.id !== null) return;
  const passed = answer.status > 0 && answer.status < 300;
  if (passed) proceed(world, deal, answer);
  else tell(world, `${deal.name} ${deal.stage}: ${answer.code ?? answer.status}`);
  await deliver(world);
  later(world, world.chance.int(1, passed ? 60 : 30), () => negotiate(world, deal, tries + 1));
}

/** Seconds until the next step, where somebody takes time over it. */
function waitsFor(world: World, deal: Deal): number {
  const { drill, deals, wasLate } = world;
  const isLast = deal.stage === 'accept' && deal.acceptedAt.size === 1;
  if (isLast && drill?.lateAgreement) {
    const [first, second] = deals;
    // Both stand before the last acceptance; that of the second comes while the first's is late.
    const isComing = first !== undefined && first.id === null && !first.closed;
    if (deal === second && !wasLate && isComing) return 20;
    if (deal === first && second?.acceptedAt.size === 0 && !second.closed) return 20;
  }
  if (!isLast || deal.pause === 0) return 0;
  const { pause } = deal;
  deal.pause = 0;
  count(world, 'acceptance late');
  return pause;
}

/** While the first agreement's commit is late: the second is agreed, and everybody polls. */
export async function overtake(world: World): Promise<void> {
  const [, second] = world.deals;
  if (second?.stage === 'accept') {
    const answer = await step(world, second, second.tries + 1);
    if (answer.status === 200) proceed(world, second, answer);
  }
  for (const server of world.servers) {
    for (const { chain } of world.nodes) await poll(world, server, chain.chain);
  }
}

async function step(world: World, deal: Deal, tries: number): Promise<Answer> {
  const { taker, maker, base, quote, direction, hashlock, sides } = deal;
  const quoteAmount = quote.amount.toString();
  switch (deal.stage) {
    case 'rfq': {
      const about = { direction, baseAssetId: base.id, quoteAssetId: quote.id, ttlSeconds: 7_200 };
      const body = { ...about, baseAmount: base.amount.toString() };
      const once = `rfq ${deal.name}`;
      return askTwice(world, taker, { method: 'POST', url: '/v1/rfqs', once, body });
    }
    case 'quote':
      return post(world, maker, `/v1/rfqs/${deal.rfqId}/quotes`, {
        body: { quoteAmount },
        once: `quote ${deal.name}`,
      });
    default: {
      await offerUsed(world, deal);
      deal.tries = tries;
      // Both in turn; an acceptance that lapsed is given again.
      const party = tries % 2 === 0 ? taker : maker;
      const named = sides[0].party === party ? { hashlock } : {};
      return post(world, party, `/v1/threads/${deal.threadId}/accept`, {
        body: { quoteAmount, ...named },
        once: `accept ${deal.name} ${party.name} ${Math.floor(tries / 4)}`,
      });
    }
  }
}

/** As a proxy asks that has not seen the answer. */
async function askTwice(world: World, party: Party, asked: Ask): Promise<Answer> {
  const answer = await ask(world, party, asked);
  const { calm, chance, drill } = world;
  if (calm || !party.usesKeys || !(chance.hits(0.3) || drill?.isKeyed)) return answer;
  count(world, 'request again later');
  // One that died has been started again by then.
  later(world, chance.int(drill?.isKeyed ? 200 : 1, 300), async () => {
    await askPlainly(world, party, asked);
  });
  return answer;
}

/** The initiator offers a hashlock that served before: one of two swaps would be free. */
async function offerUsed(world: World, deal: Deal): Promise<void> {
  const [initiator] = deal.sides;
  const used = world.deals.filter(({ id }) => id !== null).map(({ hashlock }) => hashlock);
  if (used.length === 0 || deal.acceptedAt.size > 0) return;
  const hashlock = world.chance.pick(used);
  const { status, code } = await askPlainly(world, initiator.party, {
    method: 'POST',
    url: `/v1/threads/${deal.threadId}/accept`,
    body: { quoteAmount: deal.quote.amount.toString(), hashlock },
  });
  count(world, 'attack reused hashlock');
  tell(world, `${deal.name}: a used hashlock is offered: ${code ?? status}`);
  if (status === 200) violate(world, 'a hashlock serves once', deal.name);
}

/** For a while it seems as if whoever never pays had paid. */
function lieForSomebody(world: World, deal: Deal): void {
  const side = deal.sides.find(({ party }) => party.kind === 'malicious');
  if (side === undefined || !world.chance.hits(0.35)) return;
  later(world, world.chance.int(600, 5_400), () => {
    const leg = deal.view?.legs[ownLeg(deal, side.role)];
    if (leg?.escrow != null && !world.ending) lieAbout(world, leg.chain, leg.escrow);
  });
}

function proceed(world: World, deal: Deal, { body }: Answer): void {
  if (deal.stage === 'rfq') {
    deal.rfqId = body.rfq.id;
    deal.openUntil = Date.parse(body.rfq.expiresAt);
    deal.stage = 'quote';
  } else if (deal.stage === 'quote') {
    deal.threadId = body.thread.id;
    deal.stage = 'accept';
  } else if (body.thread.swapId !== null) {
    deal.id = body.thread.swapId;
    deal.stage = 'agreed';
    agreed(world, deal, body.swap ?? null);
  }
}

function agreed(world: World, deal: Deal, swap: View | null): void {
  const [initiator, counterparty] = deal.sides;
  const who = ({ party }: Side) => `${party.name} (${party.kind})`;
  const on = `${deal.name} is agreed on ${deal.chains.join(' and ')}`;
  tell(world, `${on}: ${who(initiator)} initiates, ${who(counterparty)} answers`);
  for (const side of deal.sides) {
    side.habits = habitsOf(world, side);
    const { chance, kind } = side.party;
    if (kind === 'sleepy') fallAsleep(world, side, deal.view?.deadlines ?? swap?.deadlines);
    if (kind === 'absent') side.goneAt = seconds(world) + chance.int(0, 4 * 3_600);
  }
  lieForSomebody(world, deal);
  const { drill } = world;
  if (swap !== null) {
    const { deadlines, legs, createdAt } = swap;
    if (!drill?.alone) troubleAt(world, legs[legOf(deal, 'short')].chain, deadlines.revealBy);
    checkAgreed(world, deal, Date.parse(createdAt));
    if (isDrilled(world, deal)) drill?.begin?.(world, deal, swap);
  }
  stir(world, deal);
  keepPolling(world, deal);
}

/** Wakes around a moment at which seconds decide; the party misses earlier events. */
function fallAsleep(world: World, side: Side, known?: View['deadlines']): void {
  if (known === undefined) return;
  const { chance } = side.party;
  const { initiatorFundBy, counterpartyFundBy, revealBy, refundAt } = known;
  const short = Math.min(refundAt.a, refundAt.b);
  const own = side.role === 'initiator' ? [initiatorFundBy, revealBy, short] : [counterpartyFundBy];
  const moment = chance.pick(own);
  side.goneAt = seconds(world) + chance.int(0, 7_200);
  side.backAt = Math.max(side.goneAt, moment + chance.int(-900, 1_800));
  later(world, side.backAt - seconds(world), () => side.wake());
}

/** Beside what it is told, a party polls by itself now and then. */
function keepPolling(world: World, deal: Deal): void {
  later(world, world.chance.int(4_000, 9_000), () => {
    if (deal.closed) return;
    stir(world, deal);
    keepPolling(world, deal);
  });
}
