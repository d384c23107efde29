// What a replacement pays on EVM. Pure; wei a unit of gas.

import { larger, smaller } from '../../core/amounts.ts';

export type EvmFees = {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
};

/** Nodes want an eighth more at most (geth and Nethermind a tenth), on both fees. Rounds up. */
function raised(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}

export function bounded(fees: EvmFees, mostFeePerGas: bigint): EvmFees {
  const maxFeePerGas = smaller(fees.maxFeePerGas, mostFeePerGas);
  return {
    maxFeePerGas,
    maxPriorityFeePerGas: smaller(fees.maxPriorityFeePerGas, maxFeePerGas),
  };
}

/**
 * Each an eighth above the former, or what the node estimates; null where `mostFeePerGas` leaves no
 * room.
 */
export function replacementFees(
  former: EvmFees,
  estimate: EvmFees,
  mostFeePerGas: bigint,
): EvmFees | null {
  const least = {
    maxFeePerGas: raised(former.maxFeePerGas),
    maxPriorityFeePerGas: raised(former.maxPriorityFeePerGas),
  };
  if (larger(least.maxFeePerGas, least.maxPriorityFeePerGas) > mostFeePerGas) return null;
  const priority = larger(least.maxPriorityFeePerGas, estimate.maxPriorityFeePerGas);
  const most = larger(larger(least.maxFeePerGas, estimate.maxFeePerGas), priority);
  return bounded({ maxFeePerGas: most, maxPriorityFeePerGas: priority }, mostFeePerGas);
}
