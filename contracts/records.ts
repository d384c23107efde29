// Records of what was deployed when, by which transaction: a file for each network, written by the
// command that deploys and compared with the chain by its `--verify`. One shape for all families.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deployment } from './escrows/artifacts/abi.ts';

export type Recorded = {
  readonly network: string;
  readonly family: 'evm' | 'tron' | 'solana';
  /** Its address; on Solana that of the program. */
  readonly contract: string;
  /** The hash of the code, hex: an EVM's or TVM's init code, or the program's bytes. */
  readonly sha256: string;
  readonly bytes: number;
  readonly payer: string;
  /** The one that made it. */
  readonly transaction: string;
  /** The number of its block; on Solana its slot. */
  readonly block: number;
  /** The time of the block, RFC 3339. */
  readonly deployedAt: string;
};

export type EscrowRecord = Recorded & {
  readonly family: 'evm' | 'tron';
  readonly chainId: number;
};

/** The chain's facts about the transaction that made it. */
export type Made = Pick<Recorded, 'payer' | 'block' | 'deployedAt'>;

/** Where the records of `contracts/escrows` lie: EVM chains and TRON. */
export const escrowRecords = join(import.meta.dirname, 'escrows/deployments');
export const solanaRecords = join(import.meta.dirname, 'solana/deployments');

export function isNetworkName(network: string): boolean {
  return /^[a-z0-9-]{1,40}$/.test(network);
}

export function recordFile(network: string, folder: string): string {
  if (!isNetworkName(network)) throw new Error(`"${network}" is no name of a network`);
  return join(folder, `${network}.json`);
}

export function recordIn<T extends Recorded>(network: string, folder: string): T | null {
  const file = recordFile(network, folder);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}

/** All of a folder, by name. */
export function recordsIn<T extends Recorded>(folder: string): T[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.sort().map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')));
}

/** Those of a network by its name, else of a chain by its id. */
export function escrowRecordsOf(
  folder: string,
  {
    family,
    network,
    chainId,
  }: Pick<EscrowRecord, 'family' | 'chainId'> & { network: string | null },
): EscrowRecord[] {
  return recordsIn<EscrowRecord>(folder).filter((each) =>
    network === null
      ? each.family === family && each.chainId === chainId
      : each.network === network,
  );
}

/** Answers with the file. Throws where that is of another family's network, or contract. */
export function writeRecord(record: Recorded, folder: string): string {
  const { network, family } = record;
  const file = recordFile(network, folder);
  const before = recordIn(network, folder);
  if (before !== null && before.family !== family) {
    throw new Error(`${file} is of ${before.family}, not of ${family}: name another network`);
  }
  if (before !== null && before.contract !== record.contract) {
    throw new Error(`${file} is of ${before.contract}, not of ${record.contract}: name another`);
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`);
  return file;
}

/** The code that a record of `contracts/escrows` is of. */
export const escrowCode = {
  sha256: deployment.initCode.sha256.slice(2),
  bytes: deployment.initCode.bytes,
} as const;

/** The difference between a record and the chain; null: nothing. `made`: a sentence where none. */
export async function recordFault(
  record: EscrowRecord,
  { family, chainId }: Pick<EscrowRecord, 'family' | 'chainId'>,
  made: () => Promise<Made | string>,
): Promise<string | null> {
  if (chainId !== record.chainId) {
    return `the node is of chain ${chainId}, not ${record.chainId} as recorded`;
  }
  if (family !== record.family) return `a record of ${record.family}, and not of ${family}`;
  if (record.sha256 !== escrowCode.sha256 || record.bytes !== escrowCode.bytes) {
    const recorded = `${record.sha256} of ${record.bytes} bytes is recorded`;
    return `${recorded}: other init code than ${escrowCode.sha256} of ${escrowCode.bytes}`;
  }
  const shown = await made();
  if (typeof shown === 'string') return shown;
  for (const field of ['payer', 'block', 'deployedAt'] as const) {
    const now = shown[field];
    const recorded = record[field];
    if (recorded !== now) return `${field} is ${now}, and ${recorded} is recorded`;
  }
  return null;
}
