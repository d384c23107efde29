// The payee's word for its lane: a text to sign, and its signature, which the funder's contract call
// brings. It moves no money: it lets the funder open this one escrow there.

import { isOfPayee } from '@parley/chains/interface/lanes.ts';
import type { TypedData } from '@parley/chains/interface/material.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { ChainKey, Family } from '@parley/core/families.ts';
import { fundBy, mustReceive } from '@parley/core/gates.ts';
import type { Tx } from '../db/database.ts';
import { keepLaneSignature } from '../db/escrows.ts';
import { clocksOf, lockSwap, type Swap, swapById, touchSwap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { legNamed, swapOfCaller } from './access.ts';
import { mustStillBe, planned } from './builders.ts';
import { adapterOf } from './preview.ts';

type LaneRequest = {
  readonly accountId: string;
  readonly swapId: string;
  readonly leg: string;
  /** null: asks for the text. */
  readonly given: { readonly signature: string; readonly escrow: string } | null;
};

type LaneText = {
  readonly chain: ChainKey;
  readonly family: Family;
  readonly sign: 'typed-data';
  readonly typedData: TypedData;
  readonly escrow: string;
};

/** Stores the signature of the leg's escrow: the first stays. `material` null: it is signed. */
export async function openLane(
  tx: Tx,
  deps: Deps,
  { accountId, swapId, leg: named, given }: LaneRequest,
): Promise<{ swap: Swap; material: LaneText | null }> {
  const { party } = await swapOfCaller(tx, swapId, accountId);
  const swap = (await lockSwap(tx, swapId)) as Swap;
  const leg = legNamed(swap, named);
  mustReceive(leg, party);
  if (given !== null) await mustStillBe(tx, { swapId, leg: named, escrow: given.escrow });
  const { terms, address: escrow, laneSignature } = planned(swap, leg.leg);
  const { chain, family, lanes } = adapterOf(deps, leg.chain);
  if (lanes === undefined || terms.lane === undefined || !isOfPayee(terms.lane)) {
    const sentence = `leg ${leg.leg} is in no lane of yours: there is nothing to sign`;
    throw new ParleyError('bad_field', sentence, { leg: leg.leg });
  }
  if (given === null) {
    const text = { chain, family, sign: 'typed-data', escrow } as const;
    const material = { ...text, typedData: lanes.consent(terms) };
    return { swap, material: laneSignature === undefined ? material : null };
  }
  lanes.mustOpen(terms, given.signature);
  if (laneSignature !== undefined) return { swap, material: null };
  const { wall } = clocksOf(swap, deps.now());
  const deadline = fundBy(swap.state, leg);
  if (wall > deadline) {
    const sentence = `leg ${leg.leg} had to be funded by ${deadline}; it is ${wall}`;
    throw new ParleyError('too_late_to_fund', sentence, { leg: leg.leg, deadline, now: wall });
  }
  await keepLaneSignature(tx, { chain, address: escrow, signature: given.signature });
  await touchSwap(tx, swap.id, new Date(deps.now()));
  return { swap: (await swapById(tx, swap.id)) as Swap, material: null };
}
