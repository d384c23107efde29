// A funding that was sent and is not mined when the time to fund has passed. It must not stay in
// somebody's pool, to be mined when nobody expects it. So what it spends is spent otherwise: its
// nonce on EVM, one of its coins on Bitcoin. On TRON and Solana it dies. Only then has nothing
// moved. If it is mined after all, the swap goes on from there and is refunded in time.

import { type Kept, keptNow } from '../../stores/store.ts';
import type { Context } from '../context.ts';
import type { SetLeg } from '../record.ts';
import { waitAnew } from '../send.ts';

/** Keeps what takes the place of the late funding, before it is sent. */
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

/** It can never be mined any more. */
export async function forgetFunding(context: Context, { leg }: SetLeg): Promise<void> {
  await context.keep({ funding: null, cancel: null });
  context.emit('cancelled', leg, 'the late funding can never be mined: nothing has moved');
}
