// Blocks and transactions as the simulator keeps them.

import type { Info } from './execution.ts';

export type StoredTransaction = {
  readonly raw: string;
  readonly signatures: readonly string[];
  readonly contractRet: string;
  readonly info: Info;
};

export type Header = {
  readonly number: number;
  readonly txTrieRoot: string;
  readonly witness_address: string;
  readonly parentHash: string;
  readonly version: number;
  readonly timestamp: number;
};

export type Block = {
  readonly id: string;
  readonly header: Header;
  readonly witness_signature: string;
  readonly transactions: readonly StoredTransaction[];
};
