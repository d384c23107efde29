// Calls that settle many escrows of one TRON network at once. Pure.

import { batchData } from '../escrows/batch.ts';
import type { Batch } from '../interface/batches.ts';
import { parseTronAddress } from './address.ts';
import { contractEscrow, deploymentOfAll, mustBeGood, type TronDeployment } from './plan.ts';
import type { TronCall } from './transaction.ts';

export function batchCall(batch: Batch, deployment: TronDeployment, from: string): TronCall {
  const all = batch.legs.map(({ terms }) => terms);
  for (const terms of all) mustBeGood(terms, deployment);
  const { contract } = deploymentOfAll({ deployment }, all);
  const [owner, to] = [parseTronAddress(from), parseTronAddress(contract)];
  return { from: owner, to, data: batchData(batch, contractEscrow).slice(2), value: 0n };
}
