// When a funding is too late, and what the record and the customer are told of it then.

import { fundBy } from '../../../core/gates.ts';
import { type Kept, keptNow, type SwapRecord } from '../../stores/store.ts';
import { type Context, ownSides, type SetLeg } from '../context.ts';
import { waitAnew } from '../send.ts';

/**
 * Whether the own funding is too late by the own clock AND by its chain's. With a claim of one's
 * own sent the other side has been promised the money, and it is left to arrive.
 */
export function isPastFunding({ claim, swap, trade }: SwapRecord, wall: number, clock: number) {
  const { gives } = ownSides({ trade });
  return claim === null && Math.min(wall, clock) > fundBy(swap, swap.legs[gives]);
}

/** Keeps what takes the place of the late funding, before it is sent. */
export async function keepCancel(
  context: Context,
  record: SwapRecord,
  leg: SetLeg,
  cancel: Kept,
): Promise<SwapRecord> {
  const next = { ...record, cancel: keptNow(cancel) };
  await context.store.putSwap(next);
  const text = `the funding of leg ${leg.leg} came too late: takes its place with a payment to self`;
  context.tell('cancelled', leg.leg, text, cancel.txid);
  return next;
}

export function noFee(context: Context, record: SwapRecord, leg: SetLeg, kept: Kept): SwapRecord {
  waitAnew(context, kept);
  context.tell('waiting', leg.leg, 'cancelling the late funding would cost more than is allowed');
  return record;
}

export function notYetDeep(context: Context, record: SwapRecord, leg: SetLeg): SwapRecord {
  context.tell('waiting', leg.leg, 'the end of the late funding is not yet deep');
  return record;
}

/** It can never be mined any more. */
export async function forgetFunding(
  context: Context,
  record: SwapRecord,
  leg: SetLeg,
): Promise<SwapRecord> {
  const next = { ...record, funding: null, cancel: null };
  await context.store.putSwap(next);
  context.tell('cancelled', leg.leg, 'the late funding can never be mined: nothing has moved');
  return next;
}
