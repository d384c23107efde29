// The questions of the follower to a Core node or an Esplora server.

import type { Heads } from '../interface/reading.ts';
import type { Block } from './block.ts';
import type { Conflict, FeeEstimate, NoEstimate } from './fees.ts';
import type { Tx } from './raw-transaction.ts';

/** `block`: its hash, where the source names it. */
export type MinedTx = { readonly tx: Tx; readonly height: number; readonly block: string | null };

export type MempoolInterest = {
  /** Unspent payments, as `txid:vout`: asked for only where the mempool cannot all be read. */
  readonly outpoints: () => readonly string[];
  /** Transactions of ours that were not mined when last seen. */
  readonly unmined: readonly string[];
  readonly addresses: () => readonly string[];
  /** Watched since the last call: read again what was already passed over. */
  readonly isNewInterest: boolean;
  readonly about: string | null;
};

export type MempoolChange = {
  /** Possibly of interest, not seen in the mempool before. */
  readonly transactions: readonly Tx[];
  /** Those of `unmined` that are in the mempool no more. */
  readonly gone: readonly string[];
  /** The best block after the mempool was read: with another one, `gone` may mean mined. */
  readonly best: Heads | Pick<Heads, 'hash'>;
};

export type PastByBlock = {
  readonly kind: 'by_block';
  /** A height at or below the first block that can hold a payment sent at `since`. */
  firstHeight(since: number, signal: AbortSignal): Promise<number>;
  /** In the order of the heights, by one request; null above the best block. */
  blockHashes(heights: readonly number[], signal: AbortSignal): Promise<(string | null)[]>;
};

/** One answer may come from a machine that is behind: a later one has more. */
export type PastByAddress = {
  readonly kind: 'by_address';
  read(address: string, part: PartOfPast, signal: AbortSignal): Promise<AddressPast>;
  /** How many are mined. */
  count(address: string, signal: AbortSignal): Promise<number>;
  /** By its id; null where the source has it in no block. */
  one(txid: string, signal: AbortSignal): Promise<MinedTx | null>;
};

/** The newest `most`, or those next below the transaction `below`. */
export type PartOfPast = { readonly most: number; readonly below: string | null };

export type AddressPast = {
  readonly mined: readonly MinedTx[];
  /** The oldest of them where there are more than are read at once: the next part is below. */
  readonly cutAt: string | null;
};

export type Past = PastByAddress | PastByBlock;

export type BitcoinBackend = {
  /** For people: which kind of source. Never its address, which may hold credentials. */
  readonly name: string;
  readonly past: Past;
  tip(signal: AbortSignal): Promise<Heads>;
  /** Null above the best block. */
  blockHash(height: number, signal: AbortSignal): Promise<string | null>;
  block(hash: string, signal: AbortSignal): Promise<Block>;
  /** Whether it has the block and took it back. One that never had it cannot say so. */
  tookBack?(hash: string, signal: AbortSignal): Promise<boolean>;
  mempool(interest: MempoolInterest, signal: AbortSignal): Promise<MempoolChange>;
  /** Null when the source has too little to go by. */
  feeEstimate(now: number, signal: AbortSignal): Promise<FeeEstimate | NoEstimate | null>;
  /** An unconfirmed transaction's fee and size; null when it is not in the mempool. */
  mempoolEntry(txid: string, signal: AbortSignal): Promise<Conflict | null>;
  /** The unconfirmed transactions that spend any of these outputs, given as `txid:vout`. */
  spenders(outpoints: readonly string[], signal: AbortSignal): Promise<string[]>;
  /** Hex; null when the source has none. Some sources find mined ones only by `height`. */
  rawOf(txid: string, height: number | null, signal: AbortSignal): Promise<string | null>;
  /** Throws `refused_by_node` with the node's words. Known bytes are no refusal. */
  send(rawHex: string, txid: string, signal: AbortSignal): Promise<void>;
};
