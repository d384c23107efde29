// The record of a deployment on TRON: read from the chain, so that it is the same whoever writes
// it, and compared with the chain again.

import type { Http } from '@parley/chains/tron/http.ts';
import { creatorIn, tronFault } from '@parley/chains/tron/identity.ts';
import { blockOf, chainIdOf, rawDataOf } from '@parley/chains/tron/node.ts';
import type { TronOrigin } from '@parley/chains/tron/plan.ts';
import { deployment as pinned } from '@parley/contracts/escrows/artifacts/abi.ts';
import { type EscrowRecord, type Made, madeFault } from '@parley/contracts/records.ts';

const code = { sha256: pinned.initCode.sha256.slice(2), bytes: pinned.initCode.bytes };

export async function tronRecordOf(
  http: Http,
  network: string,
  deployment: TronOrigin,
  signal: AbortSignal,
): Promise<EscrowRecord> {
  const made = await madeBy(http, deployment, signal);
  if (typeof made === 'string') throw new Error(made);
  const { chainId, contract, creation } = deployment;
  return { network, family: 'tron', chainId, contract, ...code, transaction: creation, ...made };
}

export async function tronRecordFault(
  http: Http,
  record: EscrowRecord,
  signal: AbortSignal,
): Promise<string | null> {
  const { chainId, contract, transaction, family, sha256, bytes } = record;
  const id = await chainIdOf(http, signal);
  if (id !== chainId) return `the node is of chain ${id}, not ${chainId} as recorded`;
  if (family !== 'tron') return `a record of ${family}, and not of tron`;
  if (sha256 !== code.sha256 || bytes !== code.bytes) {
    const recorded = `${sha256} of ${bytes} bytes is recorded`;
    return `${recorded}: other init code than ${code.sha256} of ${code.bytes}`;
  }
  const made = await madeBy(http, { chainId, contract, creation: transaction }, signal);
  return typeof made === 'string' ? made : madeFault(record, made);
}

async function madeBy(
  http: Http,
  deployment: TronOrigin,
  signal: AbortSignal,
): Promise<Made | string> {
  const fault = await tronFault(http, deployment, signal);
  if (fault !== null) return `the node ${fault.says}`;
  const { creation } = deployment;
  const [rawData, block] = await Promise.all([
    rawDataOf(http, creation, signal),
    blockOf(http, creation, signal),
  ]);
  const payer = rawData && creatorIn(rawData);
  if (!payer || block === null) return `the node shows ${creation} in no block`;
  return {
    payer,
    block: block.number,
    deployedAt: new Date(block.timestampMs).toISOString(),
  };
}
