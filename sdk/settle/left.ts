// Claims with a public secret and refunds that are left to a batch (settle-many.ts) for a while.

import { type Context, type LegSeen, type SetLeg, sourceOf } from './context.ts';

/**
 * Whether this one is still left at `wall`. A claim is left while its timelock is far enough away:
 * further than the chain's policy reckons for an outage, time to react, and the way to the depth.
 */
export function isLeftToBatch(
  context: Context,
  leg: SetLeg,
  verb: 'claim' | 'refund',
  { clock, wall }: Pick<LegSeen, 'clock'> & { readonly wall: number },
): boolean {
  const { leaveToBatchMs = 0, openSince } = context;
  const { adapter, view } = sourceOf(context, leg.chain);
  if (leaveToBatchMs === 0 || adapter.buildBatch === undefined) return false;
  const { high, reactSeconds } = view.policy;
  const needs = high.outageSeconds + reactSeconds + high.settleSeconds;
  if (verb === 'claim' && leg.timelock - clock <= needs) return false;
  // A clock that was set back must not make the wait longer than it is known to be.
  const since = Math.min(openSince.get(leg.leg) ?? wall, wall);
  openSince.set(leg.leg, since);
  if ((wall - since) * 1_000 >= leaveToBatchMs) return false;
  context.tell('waiting', leg.leg, `the ${verb} of leg ${leg.leg} is left to a batch for now`);
  return true;
}
