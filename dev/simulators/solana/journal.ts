// The part of the chain that is kept on disk: one file of lines, each written in one piece before
// anybody is told of what it holds. A process that is killed loses nothing but a line that nobody
// was told of. The accounts are kept as they were left, so that a start runs no transaction again.

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DevnetError } from '@parley/host/failure.ts';
import type { Address } from '@solana/kit';
import type { Account } from './accounts.ts';
import { fromJson, toJson } from './json.ts';
import type { ErrorJson } from './vm-errors.ts';

/** Lamports, owner, data in base64, executable. */
export type SavedAccount = readonly [string, Address, string, boolean];
export type SavedAccounts = Readonly<Record<string, SavedAccount | null>>;

export type Head = {
  readonly slot: number;
  readonly height: number;
  readonly fork: number;
  readonly time: number;
  /** Seconds that the chain's clock is ahead of the dev network's. */
  readonly ahead: number;
};

export type SavedTransaction = {
  readonly slot: number;
  readonly time: number;
  readonly wire: string;
  readonly err: ErrorJson | null;
  readonly meta: object;
};

type Line =
  | { readonly kind: 'genesis'; readonly version: number; readonly genesis: string }
  | { readonly kind: 'head'; readonly head: Head }
  | {
      readonly kind: 'transaction';
      readonly transaction: SavedTransaction;
      readonly accounts: SavedAccounts;
    }
  | {
      readonly kind: 'undone';
      readonly slots: readonly number[];
      readonly accounts: SavedAccounts;
    }
  | { readonly kind: 'accounts'; readonly accounts: SavedAccounts };

export type Saved = {
  readonly genesis: string;
  readonly head: Head | null;
  readonly accounts: Map<Address, SavedAccount | null>;
  readonly transactions: readonly SavedTransaction[];
};

export type Journal = { write(lines: readonly Line[]): void };

const version = 1;
/** Lines after which a start writes the file anew, with the last transactions only. */
const mostLines = 40_000;
/** Transactions that a chain remembers; it forgets older ones, as nodes without an archive do. */
export const keptTransactions = 10_000;

/** Reads what is there, or begins with `genesis`. */
export function openJournal(dir: string, genesis: string): { saved: Saved; journal: Journal } {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, 'chain.jsonl');
  const begin: Line = { kind: 'genesis', version, genesis };
  if (!existsSync(file)) writeFileSync(file, lineOf(begin), { mode: 0o600 });
  const text = readFileSync(file, 'utf8');
  // The last line of a process that was killed may be cut off.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) truncateSync(file, Buffer.byteLength(whole));
  if (whole === '') appendFileSync(file, lineOf(begin));
  const lines = whole.split('\n').slice(0, -1);
  const saved = replay(lines.length === 0 ? [lineOf(begin)] : lines, file);
  if (lines.length > mostLines) rewrite(file, saved);
  return {
    saved,
    journal: { write: (more) => appendFileSync(file, more.map(lineOf).join('')) },
  };
}

function lineOf(line: Line): string {
  return `${toJson(line)}\n`;
}

function replay(lines: readonly string[], file: string): Saved {
  let genesis: string | null = null;
  let head: Head | null = null;
  let transactions: SavedTransaction[] = [];
  const accounts = new Map<Address, SavedAccount | null>();
  for (const text of lines) {
    const line = fromJson(text) as Line;
    if ('accounts' in line) {
      for (const [of, account] of Object.entries(line.accounts)) {
        accounts.set(of as Address, account);
      }
    }
    switch (line.kind) {
      case 'genesis':
        if (line.version !== version) break;
        genesis = line.genesis;
        break;
      case 'head':
        head = line.head;
        break;
      case 'transaction':
        transactions.push(line.transaction);
        break;
      case 'undone':
        transactions = transactions.filter(({ slot }) => !line.slots.includes(slot));
        break;
      case 'accounts':
        break;
    }
  }
  if (genesis === null) {
    throw new DevnetError(`${file} is of another version: delete the folder of the dev chains`);
  }
  return { genesis, head, accounts, transactions: transactions.slice(-keptTransactions) };
}

function rewrite(file: string, { genesis, head, accounts, transactions }: Saved): void {
  const lines: Line[] = [
    { kind: 'genesis', version, genesis },
    ...transactions.map(
      (transaction): Line => ({ kind: 'transaction', transaction, accounts: {} }),
    ),
    { kind: 'accounts', accounts: Object.fromEntries(accounts) },
    ...(head === null ? [] : [{ kind: 'head', head } as const]),
  ];
  writeFileSync(`${file}.new`, lines.map(lineOf).join(''), { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

export function saveAccount(account: Account | null): SavedAccount | null {
  if (account === null) return null;
  const { lamports, owner, data, executable } = account;
  return [lamports.toString(), owner, Buffer.from(data).toString('base64'), executable];
}

export function restoreAccount(saved: SavedAccount | null): Account | null {
  if (saved === null) return null;
  const [lamports, owner, data, executable] = saved;
  return {
    lamports: BigInt(lamports),
    owner,
    data: Uint8Array.from(Buffer.from(data, 'base64')),
    executable,
  };
}
