// Before a funding is built the chain is asked whether it would take it in the leg's lane. The
// chain wins over what is stored: rows may be lost, and a funder may use its lanes without this
// market.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { LaneState, Lanes } from '@parley/chains/interface/lanes.ts';
import { begun } from '@parley/chains/nodes/gathering.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { Lane } from '@parley/core/terms.ts';
import type { LegName } from '@parley/core/trade.ts';
import { type LaneRange, lockLanes } from '../db/lanes.ts';
import { lockSwap, type Swap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { moveLeg, mustBeOpen, mustNotBeAwaited } from './addresses.ts';
import { destinationsOf } from './escrows.ts';
import { contractIn, isOpenTo, type LaneUser, rangeOf, usableLanes } from './lanes.ts';
import { type Lifted, mayMoveOff, mustNotBeAuthorized } from './pin.ts';
import { adapterOf } from './preview.ts';

/** Other lanes that the chain is asked about at once. */
const mostOthers = 16;

/**
 * Where the chain would not take a funding in the leg's lane now, or its contract takes no new
 * escrow any more: moves the leg to a lane that is ready and throws `escrow_moved`. Throws
 * `too_many_open` where none of the first lanes is ready. Asks at once, and does nothing before
 * `agreeing`.
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
  const accountId = leg.funder === 'maker' ? swap.makerId : swap.takerId;
  const user = { funder: leg.refundAddress, accountId };
  const finding = begun(readyLane(deps, { adapter, lanes, had, user }, signal));
  await agreeing;
  const lane = await within(signal, leg.chain, finding);
  if (lane === null) return;
  const lifted = await mayMoveOff(deps, swap, name, signal);
  const is = await moveTo(deps, swap, name, { adapter, lanes, had, user, lane, lifted });
  const why = isOpenTo(lanes, had)
    ? `lane ${had.number} of the funder of leg ${name} cannot take this funding`
    : `contract ${had.contract} of leg ${name} takes no new escrow any more`;
  throw new ParleyError(
    'escrow_moved',
    `${why}: the leg moves to ${is ?? 'another'}. Read the swap, then ask again`,
    { leg: name, was: leg.escrow, is },
  );
}

type Looking = {
  readonly adapter: ChainAdapter;
  readonly lanes: Lanes;
  readonly had: Lane;
  readonly user: LaneUser;
};

/** Null where the lane is ready as it is. */
async function readyLane(
  { db }: Deps,
  { adapter, lanes, had, user }: Looking,
  signal: AbortSignal,
): Promise<Lane | null> {
  const { chain, policy } = adapter;
  const { funder } = user;
  const range = rangeOf(adapter, lanes, user);
  const contract = contractIn(lanes, had);
  if (isOpenTo(lanes, had)) {
    const [state] = await lanes.read({ contract, owner: funder }, [had.number], signal);
    if (state === undefined || isReady(had, state)) return null;
  }
  const marginSeconds = policy.normal.settleSeconds;
  const others = await usableLanes(db, range, { marginSeconds, limit: mostOthers });
  const numbers = [...ownIn(range, lanes, had), ...others].map(({ number }) => number);
  const states = await lanes.read({ contract: range.contract, owner: funder }, numbers, signal);
  const at = states.findIndex(({ isOpen }) => !isOpen);
  const number = numbers[at];
  const ready = states[at];
  if (number !== undefined && ready !== undefined) {
    return { contract: range.contract, number, counter: ready.counter + 1 };
  }
  throw new ParleyError(
    'too_many_open',
    `each of ${numbers.length} lanes of ${funder} on ${chain} holds money: settle one first`,
    { chain, lanes: numbers.length },
  );
}

/** The leg's own lane, where it is of this contract. */
function ownIn({ contract }: LaneRange, lanes: Lanes, had: Lane): readonly Lane[] {
  return contractIn(lanes, had) === contract ? [had] : [];
}

function isReady({ counter }: Lane, state: LaneState): boolean {
  return !state.isOpen && state.counter + 1 === counter;
}

/** The new escrow; null where the swap changed meanwhile or somebody else took the lane. */
async function moveTo(
  deps: Deps,
  swap: Swap,
  name: LegName,
  { adapter, lanes, had, user, lane, lifted }: Looking & { lane: Lane; lifted: Lifted },
): Promise<string | null> {
  return deps.db.transaction(async (tx) => {
    const now = await lockSwap(tx, swap.id);
    if (now === null || now.revision !== swap.revision) return null;
    const leg = now.state.legs[name];
    mustBeOpen(leg, leg.facts);
    await mustNotBeAwaited(tx, now, leg, deps.now());
    await mustNotBeAuthorized(tx, now, name, lifted);
    const range = rangeOf(adapter, lanes, user);
    await lockLanes(tx, range);
    const marginSeconds = adapter.policy.normal.settleSeconds;
    const free = await usableLanes(tx, range, { marginSeconds, limit: mostOthers });
    const usable = [...ownIn(range, lanes, had), ...free];
    const isFree = usable.some(({ number }) => number === lane.number);
    if (!isFree) return null;
    const moved = await moveLeg(tx, deps, now, { name, is: destinationsOf(now, name), lane });
    return moved.state.legs[name].escrow;
  });
}
