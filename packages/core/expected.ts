// How long a swap takes each side: usually, where both act at once, and at worst.

import type { LegTiming, Schedule } from './deadlines.ts';
import type { Role } from './trade.ts';

/** Seconds from the agreement. */
export type Expected = {
  /** Until it is paid. */
  readonly usualSeconds: number;
  /** Until it is paid, or its own leg is taken back. */
  readonly worstSeconds: number;
};

/** `blockSeconds`: the usual time between blocks. */
type PacedLeg = LegTiming & { readonly blockSeconds: number };

export function expected(
  { shortTimelock, longTimelock }: Schedule,
  short: PacedLeg,
  long: PacedLeg,
): Readonly<Record<Role, Expected>> {
  const deep = ({ depth, blockSeconds }: PacedLeg) => depth.confirmations * blockSeconds;
  const revealed = deep(long) + deep(short) + short.blockSeconds;
  return {
    initiator: {
      usualSeconds: Math.ceil(revealed),
      worstSeconds: longTimelock + long.depth.settleSeconds,
    },
    counterparty: {
      usualSeconds: Math.ceil(revealed + long.blockSeconds),
      worstSeconds: shortTimelock + short.depth.settleSeconds,
    },
  };
}
