// A late funding must not stay in a pool. Its nonce or a coin is spent otherwise; on TRON and
// Solana it dies.

import { type Kept, keptNow } from '../../stores/store.ts';
import type { Context } from '../context.ts';
import type { SetLeg } from '../record.ts';
import { waitAnew } from '../send.ts';

export async function keepCancel(context: Context, { leg }: SetLeg, cancel: Kept): Promise<void> {
  await context.keep({ cancel: keptNow(cancel) });
  const text = `the funding of leg ${leg} came too late: takes its place with a payment to self`;
  context.emit('cancelled', leg, text, cancel.txid);
}

export function noFee(context: Context, leg: SetLeg, kept: Kept): void {
  waitAnew(context, kept);
  context.waits(leg, 'cancelling the late funding would cost more than is allowed');
}

export function notYetDeep(context: Context, leg: SetLeg): void {
  context.waits(leg, 'the end of the late funding is not yet deep');
}

export async function forgetFunding(context: Context, { leg }: SetLeg): Promise<void> {
  await context.keep({ funding: null, cancel: null });
  context.emit('cancelled', leg, 'the late funding can never be mined: nothing has moved');
}
