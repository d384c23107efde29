// Calls that settle many escrows of one EVM chain at once. Pure.

import { batchData } from '../escrows/batch.ts';
import type { Batch } from '../interface/batches.ts';
import type { EvmCall } from '../interface/material.ts';
import { contractEscrow, deploymentOfAll, type EvmDeployment, mustBeGood } from './plan.ts';

/** Every secret must be public: see escrows/batch.ts. */
export function batchCall(batch: Batch, deployment: EvmDeployment): EvmCall {
  const all = batch.legs.map(({ terms }) => terms);
  for (const terms of all) mustBeGood(terms, deployment);
  const { contract } = deploymentOfAll({ deployment }, all);
  return { to: contract, data: batchData(batch, contractEscrow), value: '0x0' };
}
