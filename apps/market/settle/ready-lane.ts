// Before a funding is built the chain is asked whether it would take it in the leg's lane. The
// chain wins over what is stored: rows may be lost, and an owner may use its lanes without this
// market. A payee that has not signed for its lane in time is waited for no longer.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { isOfPayee, type LaneState, type Lanes } from '@parley/chains/interface/lanes.ts';
import { begun } from '@parley/chains/nodes/gathering.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { Leg } from '@parley/core/swap.ts';
import type { Lane } from '@parley/core/terms.ts';
import type { LegName } from '@parley/core/trade.ts';
import { type LaneRange, lockLanes } from '../db/lanes.ts';
import { noteLends } from '../db/legs.ts';
import { lockSwap, type Swap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { laneUsers, moveLeg, mustBeOpen, mustNotBeAwaited } from './addresses.ts';
import { destinationsOf } from './escrows.ts';
import { contractIn, isOpenTo, type LaneUser, rangeOf, usableLanes } from './lanes.ts';
import { type Lifted, mayMoveOff, mustNotBeAuthorized } from './pin.ts';
import { adapterOf } from './preview.ts';

/** Other lanes that the chain is asked about at once. */
const mostOthers = 16;

/**
 * Where the chain would not take a funding in the leg's lane now, its contract takes no new escrow
 * any more, or its payee has not signed for it: moves the leg to a lane that is ready and throws
 * `escrow_moved`. Throws `too_many_open` where none of the first lanes is ready. Asks at once, and
 * does nothing before `agreeing`.
 */
export async function mustHaveReadyLane(
  deps: Deps,
  swap: Swap,
  name: LegName,
  { lanes, agreeing }: { readonly lanes: Lanes | undefined; readonly agreeing: Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  const leg = swap.state.legs[name];
  const adapter = adapterOf(deps, leg.chain);
  const had = swap.lanes[name];
  if (lanes === undefined || had === null || leg.refundAddress === null) return;
  const { funder, payee } = laneUsers(swap, name, destinationsOf(swap, name));
  const user = isOfPayee(had) ? payee : funder;
  if (user === null || funder === null) return;
  const looking = { adapter, lanes, had, user };
  const ofFunder = () => otherLane(deps, { ...looking, had: null, user: funder }, signal);
  const finding = begun(
    leg.laneAwaitedUntil === undefined
      ? readyLane(deps, looking, signal).catch((error: unknown) => {
          // A payee that has no lane left to lend keeps nothing from being funded.
          const isFull = error instanceof ParleyError && error.code === 'too_many_open';
          if (isFull && user === payee) return ofFunder();
          throw error;
        })
      : ofFunder(),
  );
  await agreeing;
  const found = await within(signal, leg.chain, finding);
  if (found === null) return;
  const lifted = await mayMoveOff(deps, swap, name, signal);
  const is = await moveTo(deps, swap, name, { ...found, lifted });
  const why = whyNot(lanes, leg, had);
  throw new ParleyError(
    'escrow_moved',
    `${why}: the leg moves to ${is ?? 'another'}. Read the swap, then ask again`,
    { leg: name, was: leg.escrow, is },
  );
}

function whyNot(lanes: Lanes, { leg, laneAwaitedUntil }: Leg, had: Lane): string {
  if (!isOpenTo(lanes, had)) return `contract ${had.contract} of leg ${leg} takes no new escrow`;
  return laneAwaitedUntil === undefined
    ? `lane ${had.number} of leg ${leg} cannot take this funding`
    : `the payee of leg ${leg} has not signed for its lane ${had.number}`;
}

type Looking = {
  readonly adapter: ChainAdapter;
  readonly lanes: Lanes;
  /** The leg's own lane; null: it is none of this user's. */
  readonly had: Lane | null;
  readonly user: LaneUser;
};
type Found = Looking & { readonly lane: Lane };

/** Null where the lane is ready as it is. */
async function readyLane(
  deps: Deps,
  looking: Looking & { readonly had: Lane },
  signal: AbortSignal,
): Promise<Found | null> {
  const { lanes, had, user } = looking;
  const contract = contractIn(lanes, had);
  if (isOpenTo(lanes, had)) {
    const [state] = await lanes.read({ contract, owner: user.owner }, [had.number], signal);
    if (state === undefined || isReady(had, state)) return null;
  }
  return otherLane(deps, looking, signal);
}

/** A lane of this user that the chain has ready. Throws `too_many_open` where none is. */
async function otherLane({ db }: Deps, looking: Looking, signal: AbortSignal): Promise<Found> {
  const { adapter, lanes, had, user } = looking;
  const { chain, policy } = adapter;
  const { owner } = user;
  const range = rangeOf(adapter, lanes, user);
  const marginSeconds = policy.normal.settleSeconds;
  const others = await usableLanes(db, range, { marginSeconds, limit: mostOthers });
  const numbers = [...ownIn(range, lanes, had), ...others].map(({ number }) => number);
  const states = await lanes.read({ contract: range.contract, owner }, numbers, signal);
  const at = states.findIndex(({ isOpen }) => !isOpen);
  const number = numbers[at];
  const ready = states[at];
  if (number !== undefined && ready !== undefined) {
    const lane = { contract: range.contract, number, counter: ready.counter + 1 };
    return { ...looking, lane };
  }
  throw new ParleyError(
    'too_many_open',
    `each of ${numbers.length} lanes of ${owner} on ${chain} holds money: settle one first`,
    { chain, lanes: numbers.length },
  );
}

/** The leg's own lane, where it is of this contract. */
function ownIn({ contract }: LaneRange, lanes: Lanes, had: Lane | null): readonly Lane[] {
  return had !== null && contractIn(lanes, had) === contract ? [had] : [];
}

function isReady({ counter }: Lane, state: LaneState): boolean {
  return !state.isOpen && state.counter + 1 === counter;
}

/** The new escrow; null where the swap changed meanwhile or somebody else took the lane. */
async function moveTo(
  deps: Deps,
  swap: Swap,
  name: LegName,
  { adapter, lanes, had, user, lane, lifted }: Found & { readonly lifted: Lifted },
): Promise<string | null> {
  return deps.db.transaction(async (tx) => {
    const now = await lockSwap(tx, swap.id);
    if (now === null || now.revision !== swap.revision) return null;
    const leg = now.state.legs[name];
    mustBeOpen(leg, leg.facts);
    await mustNotBeAwaited(tx, now, leg, deps.now());
    await mustNotBeAuthorized(tx, now, name, lifted);
    const { payee } = laneUsers(now, name, destinationsOf(now, name));
    const range = rangeOf(adapter, lanes, user);
    await lockLanes(tx, range);
    const marginSeconds = adapter.policy.normal.settleSeconds;
    const free = await usableLanes(tx, range, { marginSeconds, limit: mostOthers });
    const usable = [...ownIn(range, lanes, had), ...free];
    const isFree = usable.some(({ number }) => number === lane.number);
    if (!isFree) return null;
    // Nor is the next swap planned in a lane that is not signed for.
    if (leg.laneAwaitedUntil !== undefined && payee !== null) {
      const { accountId, owner: address } = payee;
      await noteLends(tx, { accountId, family: leg.family, address, lends: false });
    }
    const moved = await moveLeg(tx, deps, now, { name, is: destinationsOf(now, name), lane });
    return moved.state.legs[name].escrow;
  });
}
