// The time and depth that a chain needs. Sources: measured mining times (Bitcoin p99.9) and
// outages.

import type { BaseUnits } from './nominal.ts';

/** Depth wanted for a value, and what reaching it takes. */
export type Depth = {
  /** Blocks that must hold the transaction, its own included; 1 = one confirmation. */
  readonly confirmations: number;
  /** p99.9 time from broadcast to that depth. */
  readonly settleSeconds: number;
  /** How long the chain may be down or full while a party needs it. */
  readonly outageSeconds: number;
};

export type ChainPolicy = {
  /** Least timelock of an escrow on this chain, from agreement. */
  readonly floorSeconds: number;
  readonly normal: Depth;
  /** For amounts at or above an asset's `highValueFrom`. */
  readonly high: Depth;
  /** How long after the timelock a claim may still land while the chain goes on. */
  readonly lateClaimSeconds: number;
  /**
   * How far its clock trails after a standstill: 0 where blocks have their slot's time, null
   * without bound.
   */
  readonly windowSeconds: number | null;
  /** How far the chain's clock may be ahead: at most `lateClaimSeconds`, which holds one behind. */
  readonly driftSeconds: number;
  /** Time a party or its bot may take to react. */
  readonly reactSeconds: number;
  /** Time between asking for a transaction and sending it. */
  readonly signSeconds: number;
  /** Time the service may need to notice a transaction. */
  readonly detectSeconds: number;
};

/** The numbers of a policy beside its depths' and its window. */
export const policyNumbers = [
  'floorSeconds',
  'lateClaimSeconds',
  'driftSeconds',
  'reactSeconds',
  'signSeconds',
  'detectSeconds',
] as const satisfies readonly (keyof ChainPolicy)[];
export const depthNumbers = [
  'confirmations',
  'settleSeconds',
  'outageSeconds',
] as const satisfies readonly (keyof Depth)[];

/** The depth that `amount` of an asset wants; `highValueFrom` in its base units, null = never. */
export function depthFor(
  policy: ChainPolicy,
  amount: BaseUnits,
  highValueFrom: BaseUnits | null,
): Depth {
  return highValueFrom !== null && amount >= highValueFrom ? policy.high : policy.normal;
}
