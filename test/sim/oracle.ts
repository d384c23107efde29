// What must hold, judged by the chains themselves and by nothing that the market says: who lost,
// whether statuses and events tell what happened, and whether every swap has ended.

import { heldIn, type Mined, minedAbout, type SimChain } from './chain.ts';
import {
  amountOn,
  chainOfLeg,
  escrowsOn,
  isDrilled,
  isFinalAt,
  isPublic,
  legOf,
  otherLeg,
  ownLeg,
  walletsOn,
} from './deals.ts';
import type { Told } from './receiver.ts';
import type { Deal, Party, Side, View, World } from './state.ts';
import { chainOf, count, violate } from './world.ts';

/** Every payment into the deal's escrows on a chain: who paid it, and whom a claim pays. */
function paymentsOf(chain: SimChain, deal: Deal) {
  return escrowsOn(chain, deal).flatMap((escrow) => {
    const payout = chain.plans.get(escrow)?.payout.address ?? '';
    return heldIn(chain, escrow).map(({ txid, amount, spentBy }) => {
      const by = minedAbout(chain, escrow).find((each) => each.txid === txid)?.tx.by ?? '';
      return { by, payout, amount, end: spentBy?.tx.verb ?? 'left' };
    });
  });
}

type Payment = ReturnType<typeof paymentsOf>[number];

/** What the payments by a party, or to it, came to that ended so. */
function sumOf(
  [chain, deal, party]: readonly [SimChain, Deal, Party],
  whose: 'by' | 'payout',
  end: Payment['end'],
): bigint {
  const own = walletsOn(party, chain.chain).map(({ address }) => address);
  const all = paymentsOf(chain, deal).filter(
    (each) => each.end === end && own.includes(each[whose]),
  );
  return all.reduce((sum, { amount }) => sum + amount, 0n);
}

/**
 * A counterparty that sleeps past the long timelock can lose (docs/lifecycle.md); whoever is late
 * with funding or revealing must not, nor who pays twice.
 */
function isOwed({ party: { kind }, role }: Side): boolean {
  const isAwake = kind === 'honest' || kind === 'greedy' || kind === 'hasty';
  return isAwake || (kind === 'sleepy' && role === 'initiator');
}

/** An honest party ends with its own, or with what it was promised: never with neither. */
export function checkLoss(world: World, deal: Deal): void {
  const { view } = deal;
  if (view === null) return;
  for (const side of deal.sides) {
    const own = ownLeg(deal, side.role);
    const leg = view.legs[own];
    const other = view.legs[otherLeg(own)];
    const [gives, gets] = [amountOn(deal, leg.chain), amountOn(deal, other.chain)];
    const isAgreed = BigInt(leg.amount) === gives && BigInt(other.amount) === gets;
    if (!isAgreed || leg.chain !== chainOfLeg(deal, own)) {
      violate(world, 'a swap is what was agreed', `${deal.name}: ${leg.amount} ${leg.chain}`);
    }
    const given = [chainOf(world, leg.chain), deal, side.party] as const;
    const [claimed, left] = [sumOf(given, 'by', 'claim'), sumOf(given, 'by', 'left')];
    const got = sumOf([chainOf(world, other.chain), deal, side.party], 'payout', 'claim');
    const who = `${side.party.name}, the ${side.role} of ${deal.name},`;
    // What a malicious party still pays into a swap that has ended is its own affair.
    const minds = side.party.kind !== 'malicious';
    if (left > 0n && minds)
      violate(world, 'every open swap ends', `${who} has ${left} left in escrows`);
    if (!isOwed(side)) continue;
    if (claimed > 0n && got < gets) {
      violate(world, 'never with neither', `${who} paid ${claimed} and got ${got} of ${gets}`);
    } else if (claimed > gives && side.party.kind !== 'hasty') {
      violate(world, 'never with neither', `${who} paid ${claimed}, promised ${gives}`);
    }
  }
}

/** Whether all that still lies in the deal's escrows is what malicious parties paid in. */
export function onlyMaliceLeft(world: World, deal: Deal): boolean {
  const lefts = deal.sides.map(({ party }) => {
    const left = deal.chains.map((on) => sumOf([chainOf(world, on), deal, party], 'by', 'left'));
    return { left: left.some((each) => each > 0n), malicious: party.kind === 'malicious' };
  });
  return lefts.some(({ left }) => left) && lefts.every((each) => !each.left || each.malicious);
}

type LegEnd = 'claimed' | 'refunded' | null;

/** How the payment that funded a leg ended; Bitcoin's may have others beside it. */
function endOf(world: World, view: View, name: 'a' | 'b'): LegEnd {
  const { chain: on, escrow, amount } = view.legs[name];
  if (escrow === null) return null;
  const chain = chainOf(world, on);
  const whole = heldIn(chain, escrow).filter(
    (each) => each.amount >= BigInt(amount) && each.spentBy !== null,
  );
  if (whole.some(({ spentBy }) => spentBy?.tx.verb === 'claim')) return 'claimed';
  return whole.length > 0 ? 'refunded' : null;
}

/** The status that the chains come to when all is over. */
function expectedStatus(world: World, deal: Deal, view: View, isMined: boolean): string {
  const long = endOf(world, view, legOf(deal, 'long'));
  const short = endOf(world, view, legOf(deal, 'short'));
  if (long !== null && short !== null && long !== short) return 'half_settled';
  if (long === 'refunded' || short === 'refunded') return 'refunded';
  if (long === 'claimed') return 'counterparty_claimed';
  return short === 'claimed' || isMined ? 'initiator_claimed' : 'expired';
}

const timeOf = (chain: SimChain, { height }: Pick<Mined, 'height'>): number =>
  chain.blocks[height]?.wall ?? 0;

/** When the block of the last spend was made once both legs were spent; Infinity before. */
function spentAt(world: World, deal: Deal): number {
  const times = deal.chains.map((name) => {
    const chain = chainOf(world, name);
    const spends = escrowsOn(chain, deal).flatMap((escrow) =>
      heldIn(chain, escrow).flatMap(({ spentBy }) => spentBy ?? []),
    );
    return spends.length === 0
      ? Number.POSITIVE_INFINITY
      : Math.max(...spends.map((each) => timeOf(chain, each)));
  });
  return Math.max(...times);
}

/**
 * While the swap was followed, and in one of its escrows, as a party was told or as it is stored:
 * what is shown after its end, or where an acceptance that never came about would have led, the
 * market need not see.
 */
function secretMined(world: World, deal: Deal, stored: ReadonlySet<string>): boolean {
  const until = spentAt(world, deal);
  return deal.chains.some((name) => {
    const chain = chainOf(world, name);
    const followed = escrowsOn(chain, deal).filter(
      (escrow) => stored.has(escrow) || deal.escrows.has(escrow),
    );
    const all = followed.flatMap((escrow) => minedAbout(chain, escrow));
    return all.some((each) => each.tx.secret === deal.secret && timeOf(chain, each) <= until);
  });
}

/** `stored`: every escrow that the market has as one of a swap. */
export function checkStatus(
  world: World,
  deal: Deal,
  view: View,
  stored: ReadonlySet<string>,
): void {
  const isMined = secretMined(world, deal, stored);
  const wanted = expectedStatus(world, deal, view, isMined);
  // One that stood in a mempool only may have been seen or not.
  const glimpsed = wanted === 'expired' && isPublic(world, deal);
  const fits = view.status === wanted || (glimpsed && view.status === 'initiator_claimed');
  if (!fits) violate(world, 'statuses match the chains', `${deal.name} ${view.status}, ${wanted}`);
  if (view.secret !== null && !isPublic(world, deal)) {
    violate(world, 'no secret is told before it is public', deal.name);
  }
  if (isMined && view.secret === null) {
    violate(world, 'a secret seen is seen for ever', `${deal.name} has none`);
  }
  const mustSettle = world.calm || (world.drill?.settles && isDrilled(world, deal));
  if (mustSettle && view.status !== 'counterparty_claimed') {
    violate(world, 'honest swaps settle', `${deal.name} is ${view.status}`);
  }
  count(world, `end ${view.status}`);
}

function wasLiedAbout(world: World, deal: Deal): boolean {
  return deal.chains.some((name) => {
    return escrowsOn(chainOf(world, name), deal).some((escrow) => world.lied.has(escrow));
  });
}

/** What arrives must be true by now: nothing is told before it counts. */
export function checkHeard(world: World, { topic, swapId, status }: Told): void {
  const deal = world.deals.find(({ id }) => id !== null && id === swapId);
  if (deal === undefined) return;
  if (topic === 'secret.revealed' && !deal.revealed) {
    deal.revealed = true;
    if (world.deals[0] === deal) world.drill?.revealed?.(world, deal);
  }
  const isDone = (verb: 'fund' | 'claim' | 'refund') => (name: string) => {
    const chain = chainOf(world, name);
    const all = escrowsOn(chain, deal).flatMap((escrow) => minedAbout(chain, escrow));
    return all.some(
      ({ tx, ok, height }) => ok && tx.verb === verb && isFinalAt(chain, deal, height),
    );
  };
  const { chains } = deal;
  const long = [chainOfLeg(deal, legOf(deal, 'long'))];
  const funded = status === 'counterparty_funded' ? chains : long;
  const lied = wasLiedAbout(world, deal);
  const isTrue: Readonly<Record<string, () => boolean>> = {
    'swap.funded': () => lied || funded.every(isDone('fund')),
    'secret.revealed': () => isPublic(world, deal),
    'swap.settled': () => long.every(isDone('claim')),
    'swap.refunded': () => chains.some(isDone('refund')),
  };
  if (isTrue[topic]?.() ?? true) return;
  violate(world, 'nothing is told before it counts', `${deal.name}: ${topic} ${status}`);
}

/** The events that a swap's end is worth, whatever came between. */
function wantedTopics(view: View, ends: { long: LegEnd; short: LegEnd }): string[] {
  const topics = ['swap.agreed'];
  if (view.secret !== null) topics.push('secret.revealed');
  if (ends.long !== null) topics.push('swap.funded');
  if (ends.long === 'claimed') topics.push('swap.settled');
  if ([ends.long, ends.short].includes('refunded')) topics.push('swap.refunded');
  if (view.status === 'half_settled') topics.push('swap.half_settled');
  return topics;
}

/** Each account was told what happened, all of it, and each thing once. */
export function checkEvents(world: World, deal: Deal, view: View): void {
  const ends = {
    long: endOf(world, view, legOf(deal, 'long')),
    short: endOf(world, view, legOf(deal, 'short')),
  };
  for (const { party } of deal.sides) {
    if (party.webhook === null) continue;
    const heard = world.receiver.heard(party.webhook).filter(({ swapId }) => swapId === deal.id);
    const topics = heard.map(({ topic }) => topic);
    const who = `${party.name} of ${deal.name}`;
    const complain = (what: string) =>
      violate(world, 'webhooks match the chains', `${who}: ${what} (${topics.join(', ')})`);
    for (const topic of wantedTopics(view, ends)) {
      if (!topics.includes(topic)) complain(`was not told ${topic}`);
    }
    const times = (topic: string) => topics.filter((each) => each === topic).length;
    const reorged = times('swap.reorged');
    const revealed = times('secret.revealed');
    const settled = times('swap.settled');
    const most = 2 + 2 * reorged;
    const isSteady = world.calm || world.drill?.isSteady === true;
    const wrong = {
      'not agreed once': times('swap.agreed') !== 1,
      'a secret was revealed twice': revealed > 1,
      'no secret was revealed': view.secret === null && revealed > 0,
      'funded too often': !wasLiedAbout(world, deal) && times('swap.funded') > most,
      'settled too often': settled > 1 + reorged,
      'refunded too often': times('swap.refunded') > most,
      'never settled': ends.long !== 'claimed' && settled > reorged,
      'nothing was taken back': isSteady && reorged > 0,
    };
    for (const [what, is] of Object.entries(wrong)) if (is) complain(what);
  }
}
