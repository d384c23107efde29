// A transaction of a simulated chain, and how it travels: JSON in hex, whose hash is its id.

import { hash } from 'node:crypto';

export type Verb = 'fund' | 'claim' | 'refund' | 'move';

export type SimTransaction = {
  readonly chain: string;
  readonly verb: Verb;
  /** The escrow it is about; of `move`, nobody's. */
  readonly escrow: string;
  readonly by: string;
  /** What it spends: of two that share one, a chain takes one. */
  readonly coins: readonly string[];
  /** Base units that it pays in; of a spend 0. */
  readonly amount: string;
  readonly secret: string | null;
  /** All that the inputs of a Bitcoin claim push, where that is not in the usual order; hex. */
  readonly pushes?: readonly string[];
  /** What it offers for a place in a block; of two that spend the same the better one stays. */
  readonly fee: number;
  /** Of an operator's gas key: its place in a row, and after when no block takes it. */
  readonly gas?: { readonly nonce: number | null; readonly diesAt: number | null };
};

export function rawOf(transaction: SimTransaction): string {
  return Buffer.from(JSON.stringify(transaction)).toString('hex');
}

export function txidOf(raw: string): string {
  return hash('sha256', raw);
}

export function transactionOf(raw: string): SimTransaction | null {
  try {
    const parsed = JSON.parse(Buffer.from(raw, 'hex').toString()) as SimTransaction;
    return typeof parsed.escrow === 'string' && Array.isArray(parsed.coins) ? parsed : null;
  } catch {
    return null;
  }
}
