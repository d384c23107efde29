// Claims with a public secret and refunds that are left to a batch (settle-many.ts) for a while.

import { type Context, type LegSeen, type SetLeg, sourceOf } from './context.ts';

/**
 * Whether this one is still left. A claim only while its timelock is further away than the chain's
 * policy reckons for it: an outage, time to react, and the way to the depth.
 */
export function isLeftToBatch(
  context: Context,
  leg: SetLeg,
  verb: 'claim' | 'refund',
  { clock }: Pick<LegSeen, 'clock'>,
): boolean {
  const { leaveToBatchMs = 0, openSinceMs } = context;
  const { adapter, view } = sourceOf(context, leg.chain);
  if (leaveToBatchMs === 0 || adapter.buildBatch === undefined) return false;
  const { high, reactSeconds } = view.policy;
  const needs = high.outageSeconds + reactSeconds + high.settleSeconds;
  if (verb === 'claim' && leg.timelock - clock <= needs) return false;
  const nowMs = performance.now();
  const since = openSinceMs.get(leg.leg) ?? nowMs;
  openSinceMs.set(leg.leg, since);
  if (nowMs - since >= leaveToBatchMs) return false;
  context.tell('waiting', leg.leg, `the ${verb} of leg ${leg.leg} is left to a batch for now`);
  return true;
}
