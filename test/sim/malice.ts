// A malicious party's turns: it keeps up appearances, tries this and that, or follows a plan.

import { attackMoves, claimAny, refundAny, type Turn } from './attacks.ts';
import { chainClock } from './chain.ts';
import { legOf, otherLeg, ownLeg } from './deals.ts';
import { followRules, isGone, readSwap } from './honest.ts';
import { drilledPlan, type Plan, plans } from './plans.ts';
import { plotRelay } from './relay.ts';
import type { Deal, Side, View, World } from './state.ts';
import { chainOf, count, later, seconds } from './world.ts';

/** What it is up to in this swap; null = whatever comes to its mind. */
export function planFor(world: World, role: Side['role'], named?: string): Plan | null {
  if (named === undefined && world.chance.hits(0.35)) return null;
  const known = named === undefined ? plans : [...plans, drilledPlan];
  const fit = known.filter(({ by, turn }) => {
    return by === role && (named === undefined || turn.name === named);
  });
  const plan = world.chance.pick(fit);
  count(world, `plan ${plan.turn.name}`);
  return plan;
}

/** Moments at which seconds decide. */
function instantsOf(view: View): number[] {
  const { initiatorFundBy, counterpartyFundBy, revealBy, refundAt } = view.deadlines;
  return [initiatorFundBy, counterpartyFundBy, revealBy, refundAt.a, refundAt.b];
}

function turnOf(world: World, side: Side, deal: Deal, view: View): Turn {
  const ownName = ownLeg(deal, side.role);
  const otherName = otherLeg(ownName);
  const own = chainOf(world, view.legs[ownName].chain);
  const other = chainOf(world, view.legs[otherName].chain);
  return { world, side, deal, view, own, other, ownName, otherName };
}

export async function beMalicious(
  world: World,
  side: Side,
  deal: Deal,
  plan: Plan | null,
): Promise<void> {
  if (deal.id === null || isGone(world, side)) return;
  const { chance } = side.party;
  const keepsRules = plan === null ? chance.hits(0.55) : plan.keepsRules;
  if (world.ending || keepsRules) await followRules(world, side, deal, plan?.turn.name);
  else if (deal.view === null || plan !== null) await readSwap(world, side, deal);
  const { view } = deal;
  if (view === null || world.ending) return;
  const turn = turnOf(world, side, deal, view);
  await (plan === null ? improvise(turn) : plan.turn(turn));
  await plotRelay(turn);
  if (side.plots) return;
  side.plots = true;
  later(world, plan === null ? pause(world, side, view) : pauseOf(world, plan, view), async () => {
    side.plots = false;
    await side.wake();
  });
}

async function improvise(turn: Turn): Promise<void> {
  const { own, deal, view, side } = turn;
  const { chance } = side.party;
  if (chance.hits(0.6)) await chance.pick(attackMoves)(turn);
  // At the timelock of its own leg it takes back what it can, be it claimed in that moment.
  const passed = chainClock(own) >= view.legs[legOf(deal, 'short')].timelock;
  if (passed && chance.hits(0.5)) await refundAny(turn);
  if (passed && chance.hits(0.3)) await claimAny(turn);
}

function pause(world: World, { party: { chance } }: Side, view: View): number {
  const now = seconds(world);
  const ahead = instantsOf(view).filter((each) => each > now);
  if (ahead.length === 0 || chance.hits(0.6)) return chance.int(120, 9_000);
  return Math.min(...ahead) - now + chance.int(-90, 90);
}

/** Often while it matters: at first, and around each moment at which seconds decide. */
function pauseOf(world: World, { every }: Plan, view: View): number {
  const now = seconds(world);
  const isNear = (instant: number) => Math.abs(instant - now) < 1_200;
  const isFresh = ['agreed', 'initiator_funded', 'counterparty_funded'].includes(view.status);
  const isEarly = now * 1_000 < world.startedAt + 3 * 3_600_000;
  const often = isFresh && (instantsOf(view).some(isNear) || isEarly);
  const next = Math.min(
    ...instantsOf(view)
      .map((each) => each - 400 - now)
      .filter((left) => left > 0),
  );
  return often ? every + world.chance.int(0, every) : Math.min(1_800, next);
}
