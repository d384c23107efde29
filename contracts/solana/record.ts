// The record of a deployment, read from the cluster.

import type { Made, Recorded } from '../records.ts';
import { codeOf } from './build.ts';
import type { Rpc } from './node-rpc.ts';

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
  return {
    ...about,
    family: 'solana',
    ...codeOf(code),
    transaction,
    ...made,
  };
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

/** Throws where the cluster does not show that it made the program. */
async function madeIn(rpc: Rpc, transaction: string, program: string): Promise<Made> {
  type Shown = {
    slot: number;
    blockTime: number | null;
    meta: { err: unknown };
    transaction: { message: { accountKeys: string[] } };
  };
  const config = { encoding: 'json', commitment: 'finalized', maxSupportedTransactionVersion: 0 };
  const shown = await rpc<Shown | null>('getTransaction', [transaction, config]);
  if (shown === null) throw new Error(`the node knows no transaction ${transaction} in a block`);
  const { accountKeys } = shown.transaction.message;
  if (shown.meta.err !== null || !accountKeys.includes(program)) {
    throw new Error(`${transaction} did not make ${program}`);
  }
  return {
    payer: accountKeys[0] ?? '',
    block: shown.slot,
    deployedAt: new Date((shown.blockTime ?? 0) * 1_000).toISOString(),
  };
}
