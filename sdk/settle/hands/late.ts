// What the record and the customer are told of a funding that came too late.

import { type Kept, keptNow, type SwapRecord } from '../../stores/store.ts';
import type { Context, SetLeg } from '../context.ts';
import { waitAnew } from '../send.ts';

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
