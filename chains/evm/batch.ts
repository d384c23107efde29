// Calls that settle many escrows of one EVM chain at once. Pure.

import type { EscrowTerms } from '../../core/terms.ts';
import type { Batch, Opened } from '../batches.ts';
import { claimManyData, refundManyData } from '../escrows/batch.ts';
import type { EvmCall } from '../material.ts';
import { contractEscrow, deploymentOfAll, type EvmDeployment, mustBeGood } from './plan.ts';

export function batchCall(batch: Batch, deployment: EvmDeployment): EvmCall {
  if (batch.verb === 'claim') return claimManyCall(batch.legs, deployment);
  return refundManyCall(
    batch.legs.map(({ terms }) => terms),
    deployment,
  );
}

/** Every secret must be public: see escrows/batch.ts. */
export function claimManyCall(claims: readonly Opened[], deployment: EvmDeployment): EvmCall {
  const all = claims.map(({ terms }) => terms);
  for (const terms of all) mustBeGood(terms, deployment);
  const data = claimManyData(
    claims.map(({ terms, secret }) => ({ escrow: contractEscrow(terms), secret })),
  );
  return { to: deploymentOfAll({ deployment }, all).contract, data, value: '0x0' };
}

export function refundManyCall(
  refunds: readonly EscrowTerms[],
  deployment: EvmDeployment,
): EvmCall {
  for (const terms of refunds) mustBeGood(terms, deployment);
  return {
    to: deploymentOfAll({ deployment }, refunds).contract,
    data: refundManyData(refunds.map(contractEscrow)),
    value: '0x0',
  };
}
