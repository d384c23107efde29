// Calls that settle many escrows of one TRON network at once. Pure.

import type { EscrowTerms } from '../../core/terms.ts';
import type { Batch, Opened } from '../batches.ts';
import { claimManyData, refundManyData } from '../escrows/batch.ts';
import { parseTronAddress } from './address.ts';
import { contractEscrow, deploymentOfAll, mustBeGood, type TronDeployment } from './plan.ts';
import type { TronCall } from './transaction.ts';

export function batchCall(batch: Batch, deployment: TronDeployment, from: string): TronCall {
  if (batch.verb === 'claim') return claimManyCall(batch.legs, deployment, from);
  return refundManyCall(
    batch.legs.map(({ terms }) => terms),
    deployment,
    from,
  );
}

/** `from` signs and pays the energy. Every secret must be public: see escrows/batch.ts. */
export function claimManyCall(
  claims: readonly Opened[],
  deployment: TronDeployment,
  from: string,
): TronCall {
  const all = claims.map(({ terms }) => terms);
  for (const terms of all) mustBeGood(terms, deployment);
  const data = claimManyData(
    claims.map(({ terms, secret }) => ({ escrow: contractEscrow(terms), secret })),
  );
  return call(from, deploymentOfAll({ deployment }, all), data);
}

/** `from` signs and pays the energy. */
export function refundManyCall(
  refunds: readonly EscrowTerms[],
  deployment: TronDeployment,
  from: string,
): TronCall {
  for (const terms of refunds) mustBeGood(terms, deployment);
  const data = refundManyData(refunds.map(contractEscrow));
  return call(from, deploymentOfAll({ deployment }, refunds), data);
}

function call(
  from: string,
  { contract }: Pick<TronDeployment, 'contract'>,
  data: string,
): TronCall {
  return {
    from: parseTronAddress(from),
    to: parseTronAddress(contract),
    data: data.slice(2),
    value: 0n,
  };
}
