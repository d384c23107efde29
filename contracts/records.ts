// Records of what was deployed when, by which transaction: a file for each network, written by the
// command that deploys and compared with the chain by its `--verify`.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What every family's record has; what names network and contract is the family's own. */
export type Recorded = {
  readonly network: string;
  /** Of the code, hex: an EVM's or TVM's init code, or the program's bytes. */
  readonly sha256: string;
  readonly bytes: number;
  readonly payer: string;
  /** The one that made it. */
  readonly transaction: string;
  /** Of the block, RFC 3339. */
  readonly deployedAt: string;
};

/** Where the records of `contracts/escrows` lie: EVM chains and TRON. */
export const escrowRecords = join(import.meta.dirname, 'escrows/deployments');

export type EscrowRecord = Recorded & {
  readonly family: 'evm' | 'tron';
  readonly chainId: number;
  readonly contract: string;
  readonly block: number;
};

export function recordFile(network: string, folder: string): string {
  if (!/^[a-z0-9-]{1,40}$/.test(network)) throw new Error(`"${network}" is no name of a network`);
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

/** Answers with the file. */
export function writeRecord(record: Recorded, folder: string): string {
  const file = recordFile(record.network, folder);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`);
  return file;
}
