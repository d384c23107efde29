// Calls that settle many escrows of one EVM chain at once. Pure.

import type { EscrowTerms } from '../../core/terms.ts';
import type { Batch, Opened } from '../batches.ts';
import { claimManyData, refundManyData } from '../escrows/batch.ts';
import type { EvmCall } from '../material.ts';
import { contractEscrow, type EvmDeployment, mustBeGood } from './plan.ts';

export function batchCall(batch: Batch, deployment: EvmDeployment): EvmCall {
  if (batch.verb === 'claim') return claimManyCall(batch.legs, deployment);
  return refundManyCall(
    batch.legs.map(({ terms }) => terms),
    deployment,
  );
}

/** Every secret must be public: see escrows/batch.ts. */
export function claimManyCall(claims: readonly Opened[], deployment: EvmDeployment): EvmCall {
  for (const { terms } of claims) mustBeGood(terms, deployment);
  const data = claimManyData(
    claims.map(({ terms, secret }) => ({ escrow: contractEscrow(terms), secret })),
  );
  return { to: deployment.contract, data, value: '0x0' };
}

export function refundManyCall(
  refunds: readonly EscrowTerms[],
  deployment: EvmDeployment,
): EvmCall {
  for (const terms of refunds) mustBeGood(terms, deployment);
  return {
    to: deployment.contract,
    data: refundManyData(refunds.map(contractEscrow)),
    value: '0x0',
  };
}
