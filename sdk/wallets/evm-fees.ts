// What a replacement pays on EVM. Pure; wei a unit of gas.

import { larger, smaller } from '../../core/amounts.ts';

/** Fees of a type 2 transaction. */
export type EvmFees = {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
};

/** Nodes want an eighth more at most (geth and Nethermind a tenth), on both fees. Rounds up. */
function raised(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}

/** Both fees within the limit. */
export function bounded(fees: EvmFees, mostFeePerGas: bigint): EvmFees {
  const maxFeePerGas = smaller(fees.maxFeePerGas, mostFeePerGas);
  return {
    maxFeePerGas,
    maxPriorityFeePerGas: smaller(fees.maxPriorityFeePerGas, maxFeePerGas),
  };
}

/**
 * Fees that replace `former`: each an eighth above it, and what the node estimates now where that
 * is more. Within `mostFeePerGas`; null when that leaves no room for an eighth.
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
