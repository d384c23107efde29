// The conditions that must hold for everybody who runs the driver, by the true chains alone.

import type { LegName } from '@parley/core/trade.ts';
import type { Outcome } from '@parley/sdk/settle.ts';
import { clockToleranceSeconds } from '@parley/sdk/verify.ts';
import { heldIn, holdsAny, type SimChain, tipOf, transactionOf } from '../chain.ts';
import { nowMs, nowSeconds } from './time.ts';
import {
  count,
  depthIn,
  escrowsOf,
  legNames,
  type Person,
  spendOf,
  tell,
  violate,
  type World,
} from './world.ts';

export const rules = {
  neither: 'nobody who runs the driver ends with neither',
  reveal: 'no secret is told late, or for a leg that does not stand',
  second: 'the second leg is funded only when the first stands at depth',
  early: 'no refund is sent before its timelock, unless it is released',
  word: 'who has given up funds nothing and tells no secret',
  release: 'a leg is released when the own one is back, or by a person',
  claim: 'both sign a claim once its secret is public',
  nonce: 'no nonce signs twice',
  back: 'without faults what is given up is back at once',
  end: 'an end is what the chains show',
  ends: 'every run ends once its faults do',
  calm: 'without faults everybody gets what was agreed',
} as const;

/** Whether its word is held against the rules: all that it could do was done in time. */
export const isJudged = (world: World, { kind }: Person) =>
  kind === 'driver' && world.excuse === null;

const isOn = (chain: SimChain, escrow: string) => heldIn(chain, escrow).length > 0;

/** Money of this person that is in an escrow, or on its way there. */
export function isAtRisk(world: World, { gives }: Person): boolean {
  const chain = world.chains[gives];
  return escrowsOf(world, gives).some(([escrow]) => {
    const isComing = [...chain.mempool.values()].some(({ tx }) => tx.escrow === escrow);
    return holdsAny(chain, escrow) || isComing;
  });
}

/** Longest that honest nodes may be behind while the rules still promise something. */
function slack(world: World, person: Person): number {
  const outages = legNames.map((each) => world.chains[each].policy.normal.outageSeconds);
  const isAlone = legNames.some((each) => person.nodes[each].length === 1);
  return isAlone || person.ahead < 0 ? Math.min(...outages) : 600;
}

/** Before anybody is given signed bytes. */
export function checkSent(world: World, person: Person, raw: string): void {
  const tx = transactionOf(raw);
  if (tx === null || !isJudged(world, person)) return;
  const { gives, gets, role } = person;
  const { policy: own } = world.chains[gives];
  const early = world.times.refundAt[gives] - own.driftSeconds - clockToleranceSeconds;
  // The rent that a claim left is fetched at once.
  const isHeld = holdsAny(world.chains[gives], tx.escrow);
  const isReleased = tx.release !== undefined || tx.together !== undefined;
  if (tx.by === tx.release?.split(' gives up ')[0]) checkReleased(world, person);
  if (tx.verb === 'refund' && isHeld && !isReleased && nowSeconds() < early) {
    violate(world, rules.early, `${early - nowSeconds()} s too early`);
  }
  const isSecret = tx.verb === 'claim' && role === 'initiator' && !isShown(world);
  if (person.hasReleased && (tx.verb === 'fund' || isSecret)) violate(world, rules.word, tx.verb);
  const isSecond = tx.verb === 'fund' && role === 'counterparty';
  if (isSecond && tx.chain === world.chains[gives].chain) {
    const { policy } = world.chains[gets];
    const deepest = Math.max(
      ...escrowsOf(world, gets).map(([each]) => depthIn(world.chains[gets], each)),
    );
    if (deepest < policy.normal.confirmations && !wasDeep(world, gets)) {
      violate(world, rules.second, `${deepest} of ${policy.normal.confirmations} blocks`);
    }
  }
  if (tx.verb !== 'claim' || world.isTold || role !== 'initiator') return;
  world.isTold = true;
  tell(world, 'the secret is told');
  const late = nowSeconds() - world.times.revealBy - slack(world, person);
  if (late > 0) violate(world, rules.reveal, `${late} s too late`);
  for (const leg of legNames) {
    const stands = escrowsOf(world, leg).some(([each]) => isOn(world.chains[leg], each));
    if (!stands && !wasDeep(world, leg)) {
      violate(world, rules.reveal, `leg ${leg} holds nothing`);
    }
  }
}

const isShown = ({ chains, isTold }: World) =>
  isTold || legNames.some((leg) => chains[leg].shown.size > 0);

/** Before a release is signed. */
export function checkReleased(world: World, person: Person): void {
  if (!isJudged(world, person)) return;
  const isWanted = person.role === 'initiator' && nowMs() >= person.givesUpAtMs;
  if (isAtRisk(world, person) && !isWanted) {
    violate(world, rules.release, `the ${person.role} with its own money at stake`);
  }
  if (!person.hasReleased) tell(world, `the ${person.role} releases leg ${person.gets}`);
  person.hasReleased = true;
}

/** Before an answer to the other side is signed. */
export function checkCosigned(world: World, person: Person, verb: 'claim' | 'refund'): void {
  if (verb === 'refund') checkReleased(world, person);
  else if (isJudged(world, person) && !isShown(world)) violate(world, rules.claim, person.role);
}

/** Two hours: each side looks, waits for the depth, and looks again. */
const soonMs = 7_200_000;

/** By who began it; once both legs are funded the initiator decides. */
function checkBack(world: World): void {
  const givers = world.people.filter(
    ({ givesUpAtMs }) => givesUpAtMs < world.times.revealBy * 1_000,
  );
  const isBack = world.people.every(({ end }) => end === 'refunded' || end === 'nothing');
  const first = givers.find(({ hasReleased }) => hasReleased);
  if (first === undefined || !isBack) return;
  count(world, 'given up and back');
  for (const { end, endedAtMs, gives, role } of world.people) {
    if (end !== 'refunded' || world.chains[gives].family === 'bitcoin') continue;
    const lateMs = endedAtMs - Math.min(...givers.map(({ givesUpAtMs }) => givesUpAtMs)) - soonMs;
    if (lateMs > 0)
      violate(world, rules.back, `the ${role}, by ${Math.round(lateMs / 60_000)} min`);
  }
}

const deepOnce = new WeakMap<World, Set<LegName>>();

/**
 * After each block: an escrow that was once at depth may be taken for so while a node is a little
 * behind.
 */
export function noteDepths(world: World): void {
  const known = deepOnce.get(world) ?? new Set<LegName>();
  deepOnce.set(world, known);
  for (const leg of legNames) {
    const chain = world.chains[leg];
    const { confirmations } = chain.policy.normal;
    if (escrowsOf(world, leg).some(([each]) => depthIn(chain, each) >= confirmations))
      known.add(leg);
  }
}

const wasDeep = (world: World, leg: LegName) => deepOnce.get(world)?.has(leg) ?? false;

const spentBy = (world: World, leg: LegName, verb: 'claim' | 'refund') =>
  escrowsOf(world, leg).filter(([each]) => spendOf(world.chains[leg], each) === verb);

/** At the moment at which the driver says that it is over. */
export function checkEnd(world: World, person: Person, { end }: Outcome): void {
  count(world, `end: ${end}`);
  if (!isJudged(world, person)) return;
  const { gives, gets, role } = person;
  const wrong = (what: string) => violate(world, rules.end, `${role} ended as ${end}: ${what}`);
  const isPaid = spentBy(world, gets, 'claim').length > 0;
  const isBack = spentBy(world, gives, 'refund').length > 0;
  const isTaken = spentBy(world, gives, 'claim').length > 0;
  if (end === 'received' && !isPaid) wrong('the leg that pays was not claimed');
  if (end === 'refunded' && !isBack) wrong('the own leg was not refunded');
  if (end === 'nothing' && (isTaken || isBack)) wrong('the own leg was funded');
  if (end === 'lost' && (!isTaken || isPaid)) wrong('the own leg was not taken, or paid for');
  if (isTaken && !isPaid) wrong('the own leg was taken, and nothing paid');
  if (isAtRisk(world, person)) wrong('its own money is in an escrow');
}

/** At the end of all: no person comes back any more. */
export function checkWorld(world: World): void {
  if (world.calm) checkBack(world);
  for (const person of world.people) {
    if (!isJudged(world, person)) continue;
    const isTaken = spentBy(world, person.gives, 'claim').length > 0;
    const isPaid = spentBy(world, person.gets, 'claim').length > 0;
    if (isTaken && !isPaid) violate(world, rules.neither, `the ${person.role} has neither`);
    // Without a record, and without the market, there is nothing to go on with.
    const isBegun = person.kept.swaps.size > 0 || isAtRisk(world, person);
    if (person.end === null && isBegun) {
      const height = tipOf(world.chains[person.gives]).height;
      violate(world, rules.ends, `the ${person.role} still waits at block ${height}`);
    }
    const isGivenUp = world.people.some(
      ({ givesUpAtMs }) => givesUpAtMs !== Number.POSITIVE_INFINITY,
    );
    if (world.calm && !isGivenUp && person.end !== 'received') {
      violate(world, rules.calm, `the ${person.role} ended as ${person.end}`);
    }
  }
}
