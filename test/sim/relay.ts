// Parties of a market with gas keys: honest ones that have the keeper send their claim, or rely on
// it and vanish once their secret is public, and malicious ones that ask what must be refused.

import type { LegName } from '../../core/trade.ts';
import { relayLeadSeconds } from '../../watchtower/bounds.ts';
import type { Turn } from './attacks.ts';
import type { Post } from './keeper.ts';
import { type Answer, type Ask, ask, type Deal, type Side, type View } from './people.ts';
import { chainOf, count, seconds, tell, violate, type World, wakeIn } from './world.ts';

/** What came of the requests to relay the claim of one swap. */
export type Asked = {
  /** Without an answer yet, or with none that says what became of it. */
  open: number;
  refused: number;
  /** Transactions that were promised to land, and the leg of each. */
  readonly promised: Map<string, LegName>;
};

function askedOf(world: World, hashlock: string): Asked {
  const { asked } = world.keeper as NonNullable<World['keeper']>;
  const found = asked.get(hashlock) ?? { open: 0, refused: 0, promised: new Map() };
  asked.set(hashlock, found);
  return found;
}

const claimUrl = /^\/v1\/swaps\/([^/]+)\/legs\/([ab])\/claim$/;

/** Said before anything is stored. */
const beforehand = ['overloaded', 'chain_timeout', 'chain_unavailable', 'sources_disagree'];

/** After which nothing is left of a request; of others nobody knows. */
const isRefusal = ({ status, code }: Answer) =>
  code !== null &&
  (beforehand.includes(code) || (status >= 400 && status < 500 && code !== 'still_running'));

/** Every request to relay, whoever sends it again: what came of it is written down. */
export function noteRelay(world: World, { url, body }: Ask): (answer: Answer) => void {
  const [, id, leg] = claimUrl.exec(url) ?? [];
  const deal = world.deals.find((each) => each.id !== null && each.id === id);
  const wanted = body as { relay?: boolean; secret?: string } | undefined;
  if (world.keeper === null || deal === undefined || wanted?.relay !== true) return () => {};
  const asked = askedOf(world, deal.hashlock);
  asked.open += 1;
  count(world, 'relays asked');
  return (answer) => {
    if (isRefusal(answer)) {
      asked.open -= 1;
      asked.refused += 1;
      count(world, 'relays refused');
    } else if (answer.status === 200) {
      asked.open -= 1;
      asked.promised.set(answer.body.txid, leg as LegName);
      if (wanted.secret !== deal.secret) violate(world, 'no claim with a wrong secret', deal.name);
      count(world, 'relays promised');
    }
  };
}

export type Habits = {
  /** Has no coin for gas. */
  readonly relays: boolean;
  /** Asks for that in the last moment in which it may. */
  readonly late: boolean;
  /** From when it is gone for good: its leg is funded, or its secret public. */
  readonly vanishes: 'funded' | 'public' | null;
  /** Whether it does not ask yet. */
  readonly waits?: () => boolean;
};

export function habitsOf({ keeper, calm }: World, { party, role }: Side): Habits {
  if (keeper === null) return { relays: false, late: false, vanishes: null };
  const { chance } = keeper;
  const relays = role === 'initiator' && party.kind !== 'malicious' && chance.hits(0.5);
  const after = chance.pick(['funded', 'public', 'public', 'public', null, null] as const);
  const late = !calm && chance.hits(0.3);
  return { relays, late, vanishes: !calm && party.kind === 'honest' ? after : null };
}

/** The gas key on the chain of a leg. */
function postOf(world: World, view: View, leg: LegName): Post | null {
  return world.keeper?.posts.get(view.legs[leg].chain) ?? null;
}

function paidLeg({ role }: Side, view: View): LegName {
  const short = view.legs.a.timelock < view.legs.b.timelock ? 'a' : 'b';
  return role === 'initiator' ? short : short === 'a' ? 'b' : 'a';
}

/** It has done its part, and leaves the rest to the keeper. */
export function vanishes(world: World, side: Side, deal: Deal, view: View): boolean {
  const after = side.habits?.vanishes ?? null;
  const pays = paidLeg(side, view);
  const own: LegName = pays === 'a' ? 'b' : 'a';
  const isTime = after === 'public' ? view.secret !== null : view.legs[own].status === 'funded';
  if (after === null || !isTime || world.ending) return false;
  // An initiator that leaves before has shown nothing, and needs its refund alone.
  const needed = after === 'public' ? [pays] : side.role === 'initiator' ? [own] : [own, pays];
  if (needed.some((leg) => postOf(world, view, leg)?.purse !== 'rich')) return false;
  side.goneAt = seconds(world);
  count(world, 'keeper parties vanished');
  tell(world, `${side.party.name} vanishes: ${after} is ${deal.name}`);
  return true;
}

/** Before the last moment in which a relay is taken. */
const lastSeconds = 60;
/** After so many refusals it finds some coins and sends its claim itself. */
const mostRefusals = 4;

/** True: the claim is in the hands of the keeper, or will be asked for again. */
export async function relayed(
  world: World,
  side: Side,
  deal: Deal,
  { leg, name }: { readonly leg: LegName; readonly name: string },
): Promise<boolean> {
  const { view, hashlock } = deal;
  if (side.habits?.relays !== true || view === null || view.secret !== null) return false;
  if (postOf(world, view, leg) === null) return false;
  if (askedOf(world, hashlock).refused >= mostRefusals) return false;
  if (!world.ending && side.habits.waits?.()) {
    side.busyUntil.delete(name);
    wakeIn(world, side, world.chance.int(5, 30));
    return true;
  }
  if (side.habits.late && !world.ending) {
    const { family } = chainOf(world, view.legs[leg].chain);
    const lead = relayLeadSeconds[family === 'bitcoin' ? 'evm' : family];
    const left = view.deadlines.revealBy - seconds(world) - lead;
    if (left > lastSeconds) {
      side.busyUntil.delete(name);
      wakeIn(world, side, left - world.chance.int(5, lastSeconds));
      return true;
    }
  }
  const answer = await ask(world, side.party, {
    method: 'POST',
    url: `/v1/swaps/${deal.id}/legs/${leg}/claim`,
    once: `relay ${deal.name} ${seconds(world)}`,
    body: { secret: deal.secret, relay: true },
  });
  tell(world, `${side.party.name} asks to relay ${deal.name}: ${answer.code ?? answer.status}`);
  world.hasNews = true;
  if (answer.status === 200) return true;
  side.busyUntil.delete(name);
  wakeIn(world, side, world.chance.int(20, 120));
  return true;
}

/** What must be refused, beside what may be asked: whenever, with any secret, of any leg, twice. */
export async function plotRelay({ world, side, deal, view }: Turn): Promise<void> {
  const { keeper } = world;
  if (keeper === null) return;
  const { chance } = keeper;
  const isHidden = side.role === 'initiator' && view.secret === null;
  const isLate = isHidden && seconds(world) > view.deadlines.revealBy;
  if (!chance.hits(isLate ? 0.6 : 0.1)) return;
  const own = paidLeg(side, view);
  const other = own === 'a' ? 'b' : 'a';
  const url = (leg: LegName) => `/v1/swaps/${deal.id}/legs/${leg}/claim`;
  const isKnown = deal.chains.some((name) => chainOf(world, name).shown.has(deal.hashlock));
  const secret = side.role === 'initiator' || isKnown ? deal.secret : chance.hex(32);
  const wrong = { secret: chance.hex(32), relay: true };
  const right = { secret, relay: true };
  const method = 'POST' as const;
  count(world, 'attack on relays');
  switch (isLate ? 3 : chance.int(0, 3)) {
    case 0:
      await ask(world, side.party, { method, url: url(own), body: wrong });
      return;
    case 1:
      {
        const { status } = await ask(world, side.party, { method, url: url(other), body: right });
        if (status === 200) violate(world, 'nobody claims what another is paid', deal.name);
      }
      return;
    case 2: {
      const both = [url(own), url(own)].map((each) =>
        ask(world, side.party, { method, url: each, body: right }),
      );
      await Promise.all(both);
      return;
    }
    default:
      await ask(world, side.party, { method, url: url(own), body: right });
  }
}
