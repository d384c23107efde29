// The conditions that must hold, judged by the chains themselves and by nothing that the market
// says: the losers, whether statuses and events tell what happened, whether every swap has ended,
// and what the market promises beside money, even where nobody happened to lose by it.

import type { LegName } from '@parley/core/trade.ts';
import { chainClock, heldIn, type Mined, minedAbout, type SimChain } from './chain.ts';
import { simSettings, type Told } from './process.ts';
import {
  amountOn,
  chainOf,
  chainOfLeg,
  count,
  type Deal,
  escrowsOn,
  isDrilled,
  isFinalAt,
  isPublic,
  legOf,
  nodeOf,
  ownLeg,
  type Party,
  type Side,
  seconds,
  sql,
  type View,
  violate,
  type World,
  walletsOn,
} from './world.ts';

const both = ['a', 'b'] as const;

/** Base units that a party paid into the deal's escrows on a chain, or may claim, that ended so. */
function sumOf(
  [chain, deal, party]: readonly [SimChain, Deal, Party],
  whose: 'by' | 'payout',
  end: 'claim' | 'left',
): bigint {
  const own = walletsOn(party, chain.chain).map(({ address }) => address);
  let sum = 0n;
  for (const escrow of escrowsOn(chain, deal)) {
    for (const { txid, amount, spentBy } of heldIn(chain, escrow)) {
      const by = minedAbout(chain, escrow).find((each) => each.txid === txid)?.tx.by;
      const who = whose === 'by' ? by : chain.plans.get(escrow)?.payout.address;
      if ((spentBy?.tx.verb ?? 'left') === end && own.includes(who ?? '')) sum += amount;
    }
  }
  return sum;
}

/**
 * A counterparty that sleeps past the long timelock can lose (docs/lifecycle.md); a party that is
 * late with funding or revealing must not, nor one that pays twice.
 */
const isOwed = ({ party: { kind }, role }: Side): boolean =>
  ['honest', 'greedy', 'hasty'].includes(kind) || (kind === 'sleepy' && role === 'initiator');

/** An honest party ends with its own, or with what it was promised: never with neither. */
export function checkLoss(world: World, deal: Deal): void {
  const { view } = deal;
  if (view === null) return;
  for (const side of deal.sides) {
    const own = ownLeg(deal, side.role);
    const leg = view.legs[own];
    const other = view.legs[own === 'a' ? 'b' : 'a'];
    const gives = amountOn(deal, leg.chain);
    const gets = amountOn(deal, other.chain);
    const isAgreed = BigInt(leg.amount) === gives && BigInt(other.amount) === gets;
    if (!isAgreed || leg.chain !== chainOfLeg(deal, own)) {
      violate(world, 'a swap is what was agreed', `${deal.name}: ${leg.amount} ${leg.chain}`);
    }
    const given = [chainOf(world, leg.chain), deal, side.party] as const;
    const claimed = sumOf(given, 'by', 'claim');
    const left = sumOf(given, 'by', 'left');
    const got = sumOf([chainOf(world, other.chain), deal, side.party], 'payout', 'claim');
    const who = `${side.party.name}, the ${side.role} of ${deal.name},`;
    // A malicious party's payments into an ended swap are its own affair.
    if (left > 0n && side.party.kind !== 'malicious') {
      violate(world, 'every open swap ends', `${who} has ${left} left in escrows`);
    }
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
  const owners = deal.sides.filter(({ party }) =>
    deal.chains.some((on) => sumOf([chainOf(world, on), deal, party], 'by', 'left') > 0n),
  );
  return owners.length > 0 && owners.every(({ party }) => party.kind === 'malicious');
}

/**
 * The transaction that spent the whole payment that funded a leg; Bitcoin's may have others beside
 * it.
 */
export function endOf(world: World, view: View, name: LegName): Mined | null {
  const { chain, escrow, amount } = view.legs[name];
  const whole = heldIn(chainOf(world, chain), escrow).filter(
    (each) => each.amount >= BigInt(amount) && each.spentBy !== null,
  );
  return (whole.find(({ spentBy }) => spentBy?.tx.verb === 'claim') ?? whole[0])?.spentBy ?? null;
}

const endsOf = (world: World, deal: Deal, view: View) => ({
  long: endOf(world, view, legOf(deal, 'long'))?.tx.verb,
  short: endOf(world, view, legOf(deal, 'short'))?.tx.verb,
});

/** The status that the chains come to when all is over. */
function expectedStatus(world: World, deal: Deal, view: View, isMined: boolean): string {
  const { long, short } = endsOf(world, deal, view);
  if (long !== undefined && short !== undefined && long !== short) return 'half_settled';
  if (long === 'refund' || short === 'refund') return 'refunded';
  if (long === 'claim') return 'counterparty_claimed';
  return short === 'claim' || isMined ? 'initiator_claimed' : 'expired';
}

const timeOf = (chain: SimChain, { height }: Pick<Mined, 'height'>): number =>
  chain.blocks[height]?.wall ?? 0;

/**
 * While the swap was followed, and in one of its escrows, as a party was told or as it is stored:
 * the market need not see a secret after the swap's end, or where an acceptance that never came
 * about would have led.
 */
function secretMined(world: World, deal: Deal, stored: ReadonlySet<string>): boolean {
  const chains = deal.chains.map((name) => chainOf(world, name));
  // When the block of the last spend was made once both legs were spent; Infinity before.
  const times = chains.map((chain) => {
    const held = escrowsOn(chain, deal).flatMap((escrow) => heldIn(chain, escrow));
    const spends = held.flatMap(({ spentBy }) => (spentBy ? [timeOf(chain, spentBy)] : []));
    return spends.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...spends);
  });
  const until = Math.max(...times);
  return chains.some((chain) =>
    escrowsOn(chain, deal)
      .filter((escrow) => stored.has(escrow) || deal.escrows.has(escrow))
      .flatMap((escrow) => minedAbout(chain, escrow))
      .some((each) => each.tx.secret === deal.secret && timeOf(chain, each) <= until),
  );
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

const wasLiedAbout = (world: World, deal: Deal): boolean =>
  deal.chains.some((name) =>
    escrowsOn(chainOf(world, name), deal).some((escrow) => world.lied.has(escrow)),
  );

/** A delivered event must be true by now: the market emits none before it counts. */
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
  const isTrue: Readonly<Record<string, () => boolean>> = {
    'swap.funded': () => wasLiedAbout(world, deal) || funded.every(isDone('fund')),
    'secret.revealed': () => isPublic(world, deal),
    'swap.settled': () => long.every(isDone('claim')),
    'swap.refunded': () => chains.some(isDone('refund')),
  };
  if (isTrue[topic]?.() ?? true) return;
  violate(world, 'nothing is told before it counts', `${deal.name}: ${topic} ${status}`);
}

/** Each account was told what happened, all of it, and each thing once. */
export function checkEvents(world: World, deal: Deal, view: View): void {
  const { long, short } = endsOf(world, deal, view);
  /** The swap's end decides, whatever came between. */
  const wanted = {
    'swap.agreed': true,
    'secret.revealed': view.secret !== null,
    'swap.funded': long !== undefined,
    'swap.settled': long === 'claim',
    'swap.refunded': long === 'refund' || short === 'refund',
    'swap.half_settled': view.status === 'half_settled',
  };
  for (const { party } of deal.sides) {
    if (party.webhook === null) continue;
    const heard = world.receiver.heard(party.webhook).filter(({ swapId }) => swapId === deal.id);
    const topics = heard.map(({ topic }) => topic);
    const times = (topic: string) => topics.filter((each) => each === topic).length;
    const reorged = times('swap.reorged');
    const revealed = times('secret.revealed');
    const settled = times('swap.settled');
    const most = 2 + 2 * reorged;
    const isSteady = world.calm || world.drill?.isSteady === true;
    const missed = Object.entries(wanted).map(
      ([topic, is]) => [`was not told ${topic}`, is && !topics.includes(topic)] as const,
    );
    const wrong = {
      ...Object.fromEntries(missed),
      'not agreed once': times('swap.agreed') !== 1,
      'a secret was revealed twice': revealed > 1,
      'no secret was revealed': view.secret === null && revealed > 0,
      'funded too often': !wasLiedAbout(world, deal) && times('swap.funded') > most,
      'settled too often': settled > 1 + reorged,
      'refunded too often': times('swap.refunded') > most,
      'never settled': long !== 'claim' && settled > reorged,
      'nothing was taken back': isSteady && reorged > 0,
    };
    for (const [what, is] of Object.entries(wrong)) {
      const who = `${party.name} of ${deal.name}: ${what}`;
      if (is) violate(world, 'webhooks match the chains', `${who} (${topics.join(', ')})`);
    }
  }
}

/** No reorganisation, lagging node or late poll reaches further. */
const certainBlocks = 8;

/** For so long a swap is followed that was not carried through. */
const watchSeconds = 7 * 86_400;

/** A swap is followed until every escrow it ever had is empty for good, and nothing can come. */
export async function checkClosed(world: World): Promise<void> {
  type Closed = { id: string; chain: string; leg: LegName; address: string | null; last: number };
  // `address`: null where the leg never had one; `last`: the later of its timelocks.
  const rows = await sql<Closed>(
    world.real,
    `select s.id, l.chain, l.leg, e.address,
        (select max(timelock)::float8 from legs where swap_id = s.id) as last
      from swaps s join legs l on l.swap_id = s.id
        left join escrows e on e.swap_id = s.id and e.leg = l.leg
      where s.done`,
  );
  const ended = new Set<string>();
  const closedAt = (id: string) => (world.closedAt.get(id) as number) / 1_000;
  const nameOf = (id: string) => world.deals.find((each) => each.id === id)?.name ?? id;
  for (const { id, chain: on, leg, address } of rows) {
    const chain = chainOf(world, on);
    const then = chain.blocks.findLast(({ wall }) => wall <= closedAt(id))?.height ?? -1;
    const held = heldIn(chain, address);
    const isHeld = (spent: Mined | null) => (spent?.height ?? Number.POSITIVE_INFINITY) > then;
    if (held.some(({ spentBy }) => !isHeld(spentBy))) ended.add(id + leg);
    if (held.some(({ height, spentBy }) => height <= then - certainBlocks && isHeld(spentBy))) {
      violate(world, 'followed until it is empty', `${nameOf(id)} ${address}`);
    }
  }
  for (const { id, leg, last } of rows) {
    if (ended.has(id + leg) || closedAt(id) >= last + watchSeconds) continue;
    violate(world, 'followed until nothing can come', `${nameOf(id)}, leg ${leg}`);
  }
}

/** A request repeated under one key is done once. */
export async function checkOnce(world: World): Promise<void> {
  const rows = await sql<{ creator_id: string; made: number }>(
    world.real,
    'select creator_id, count(*)::int as made from rfqs group by creator_id',
  );
  for (const { creator_id, made } of rows) {
    const party = world.parties.find(({ accountId }) => accountId === creator_id);
    const wanted = world.deals.filter(({ taker }) => taker === party).length;
    if (party?.usesKeys && made > wanted) {
      violate(world, 'a request under one key runs once', `${party.name} has ${made} RFQs`);
    }
  }
}

/** An acceptance binds for so long, and a price on an RFQ that has ended not at all. */
export function checkAgreed(world: World, deal: Deal, agreedAt: number): void {
  for (const party of [deal.taker, deal.maker]) {
    const since = (agreedAt - (deal.acceptedAt.get(party) ?? 0)) / 1_000;
    if (since < simSettings.acceptTtlSeconds) continue;
    violate(world, 'an acceptance lapses', `${deal.name}: of ${party.name}, ${since} s before`);
  }
  if (deal.openUntil !== null && agreedAt >= deal.openUntil) {
    violate(world, 'an RFQ ends', `${deal.name} is agreed after its RFQ`);
  }
}

/** By then, with no faults left, the market knows what the chain's clock shows. */
const knownSeconds = 7_200;

/** Checks a party's reading of its swap, whatever the party is like. */
export function checkRead(world: World, deal: Deal, view: View): void {
  const isPaid = both.some((name) => view.legs[name].status !== 'unfunded');
  if (view.status === 'expired' && isPaid) {
    violate(world, 'nothing is paid in a swap that expired', deal.name);
  }
  for (const name of both) {
    const { chain: on, timelock, formerEscrows } = view.legs[name];
    const known = Math.min(seconds(world), chainClock(chainOf(world, on))) - knownSeconds;
    const isKnown = world.ending && known >= timelock;
    for (const { escrow, balance } of isKnown ? formerEscrows : []) {
      const isOffered = view.next.some(
        ({ action, leg, why }) => action === 'refund' && leg === name && why.includes(escrow),
      );
      if (BigInt(balance) === 0n || isOffered) continue;
      violate(world, 'what is in a former escrow may be taken back', `${deal.name} ${escrow}`);
    }
  }
}

/**
 * Whether one payment of its amount lies in an escrow that a leg moved off, for all to see. One
 * that was planned for an agreement that never came about is no escrow of the swap.
 */
export function isStrayed(world: World, { view, escrows }: Deal): boolean {
  if (view === null) return false;
  return both.some((name) => {
    const { chain: on, escrow, amount } = view.legs[name];
    const { chain, lag } = nodeOf(world, on);
    const holds = (address: string) =>
      heldIn(chain, address).some((each) => each.spentBy === null && each.amount >= BigInt(amount));
    const isFormer = (address: string) => address !== escrow && !world.lied.has(address);
    return lag === 0 && [...escrows].some((address) => isFormer(address) && holds(address));
  });
}
