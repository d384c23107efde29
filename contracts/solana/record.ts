// The record of a deployment, read from the cluster and compared with it again.

import { readFileSync } from 'node:fs';
import { type Made, madeFault, type Recorded } from '../records.ts';
import { codeOf, digestOf, PROGRAM_FILE } from './build.ts';
import { deploymentFault } from './deployed.ts';
import { readerOf } from './deployment.ts';
import { type Rpc, rpcTo } from './node-rpc.ts';

export type SolanaRecord = Recorded & {
  readonly family: 'solana';
  readonly genesisHash: string;
};

export async function recordOf(
  rpc: Rpc,
  {
    code,
    ...about
  }: Pick<SolanaRecord, 'network' | 'genesisHash' | 'contract'> & { readonly code: Uint8Array },
): Promise<SolanaRecord> {
  const transaction = await firstOf(rpc, about.contract);
  const made = await madeIn(rpc, transaction, about.contract);
  if (typeof made === 'string') throw new Error(made);
  return {
    ...about,
    family: 'solana',
    ...codeOf(code),
    transaction,
    ...made,
  };
}

/** The difference between a record, the chain and the pinned program; null: nothing. */
export async function recordFault(
  rpcUrl: string,
  record: SolanaRecord,
  code: Uint8Array = readFileSync(PROGRAM_FILE),
): Promise<string | null> {
  const rpc = rpcTo(rpcUrl);
  const genesisHash = await rpc<string>('getGenesisHash', []);
  if (genesisHash !== record.genesisHash) {
    return `the node is of the cluster ${genesisHash}, not ${record.genesisHash} as recorded`;
  }
  if (record.sha256 !== digestOf(code)) return `${record.sha256} is recorded: another program`;
  const fault = await deploymentFault(record.contract, readerOf(rpcUrl), codeOf(code));
  if (fault !== null) return fault;
  const made = await madeIn(rpc, record.transaction, record.contract);
  return typeof made === 'string' ? made : madeFault(record, made);
}

/** The oldest transaction of a program that succeeded: the one that made it. */
async function firstOf(rpc: Rpc, program: string): Promise<string> {
  type Listed = { signature: string; err: unknown };
  let oldest: string | undefined;
  for (;;) {
    const config = { commitment: 'finalized', ...(oldest && { before: oldest }) };
    const page = await rpc<Listed[]>('getSignaturesForAddress', [program, config]);
    const last = page.findLast(({ err }) => err === null);
    if (last === undefined) break;
    oldest = last.signature;
  }
  if (oldest === undefined) throw new Error('the node does not list what made the program');
  return oldest;
}

/** A sentence where the cluster does not show that it made the program. */
async function madeIn(rpc: Rpc, transaction: string, program: string): Promise<Made | string> {
  type Shown = {
    slot: number;
    blockTime: number | null;
    meta: { err: unknown };
    transaction: { message: { accountKeys: string[] } };
  };
  const config = { encoding: 'json', commitment: 'finalized', maxSupportedTransactionVersion: 0 };
  const shown = await rpc<Shown | null>('getTransaction', [transaction, config]);
  if (shown === null) return `the node knows no transaction ${transaction} in a block`;
  const { accountKeys } = shown.transaction.message;
  if (shown.meta.err !== null || !accountKeys.includes(program)) {
    return `${transaction} did not make ${program}`;
  }
  return {
    payer: accountKeys[0] ?? '',
    block: shown.slot,
    deployedAt: new Date((shown.blockTime ?? 0) * 1_000).toISOString(),
  };
}
