// Parties of a market with gas keys: honest ones that have the keeper send their claim, or rely on
// it and vanish once their secret is public, and malicious ones that ask what must be refused.

import type { LegName } from '../../core/trade.ts';
import { relayLeadSeconds } from '../../watchtower/bounds.ts';
import type { Turn } from './attacks.ts';
import { isPublic, otherLeg } from './deals.ts';
import type { Post } from './gas.ts';
import { askedOf, post } from './people.ts';
import type { Deal, Habits, Side, View, World } from './state.ts';
import { chainOf, count, seconds, tell, violate, wakeIn } from './world.ts';

export function habitsOf({ keeper, calm }: World, { party, role }: Side): Habits {
  if (keeper === null) return { relays: false, late: false, vanishes: null };
  const { chance } = keeper;
  const relays = role === 'initiator' && party.kind !== 'malicious' && chance.hits(0.5);
  const after = chance.pick(['funded', 'public', 'public', 'public', null, null] as const);
  const late = !calm && chance.hits(0.3);
  return { relays, late, vanishes: !calm && party.kind === 'honest' ? after : null };
}

function postOf(world: World, view: View, leg: LegName): Post | null {
  return world.keeper?.posts.get(view.legs[leg].chain) ?? null;
}

function paidLeg({ role }: Side, view: View): LegName {
  const short = view.legs.a.timelock < view.legs.b.timelock ? 'a' : 'b';
  return role === 'initiator' ? short : otherLeg(short);
}

/** It has done its part, and leaves the rest to the keeper. */
export function vanishes(world: World, side: Side, deal: Deal, view: View): boolean {
  const after = side.habits?.vanishes ?? null;
  const pays = paidLeg(side, view);
  const own = otherLeg(pays);
  const isTime = after === 'public' ? view.secret !== null : view.legs[own].status === 'funded';
  if (after === null || !isTime || world.ending) return false;
  // An initiator that leaves before has shown nothing, and needs its refund alone.
  const needed = after === 'public' ? [pays] : side.role === 'initiator' ? [own] : [own, pays];
  if (needed.some((leg) => postOf(world, view, leg)?.funds !== 'rich')) return false;
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
  const again = (after: number) => {
    side.busyUntil.delete(name);
    wakeIn(world, side, after);
    return true;
  };
  if (!world.ending && side.habits.waits?.()) return again(world.chance.int(5, 30));
  if (side.habits.late && !world.ending) {
    const { family } = chainOf(world, view.legs[leg].chain);
    const lead = relayLeadSeconds[family === 'bitcoin' ? 'evm' : family];
    const left = view.deadlines.revealBy - seconds(world) - lead;
    if (left > lastSeconds) return again(left - world.chance.int(5, lastSeconds));
  }
  const answer = await post(world, side.party, `/v1/swaps/${deal.id}/legs/${leg}/claim`, {
    once: `relay ${deal.name} ${seconds(world)}`,
    body: { secret: deal.secret, relay: true },
  });
  tell(world, `${side.party.name} asks to relay ${deal.name}: ${answer.code ?? answer.status}`);
  world.hasNews = true;
  return answer.status === 200 || again(world.chance.int(20, 120));
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
  const isKnown = side.role === 'initiator' || isPublic(world, deal);
  const secret = isKnown ? deal.secret : chance.hex(32);
  const wrong = chance.hex(32);
  const relay = (leg: LegName, shown: string) =>
    post(world, side.party, `/v1/swaps/${deal.id}/legs/${leg}/claim`, {
      body: { secret: shown, relay: true },
    });
  count(world, 'attack on relays');
  switch (isLate ? 3 : chance.int(0, 3)) {
    case 0:
      await relay(own, wrong);
      return;
    case 1: {
      const { status } = await relay(otherLeg(own), secret);
      if (status === 200) violate(world, 'nobody claims what another is paid', deal.name);
      return;
    }
    case 2:
      await Promise.all([relay(own, secret), relay(own, secret)]);
      return;
    default:
      await relay(own, secret);
  }
}
