// Signed bytes: read, given to the nodes of a chain, and known again.

import type { Secret } from '@parley/core/hashlock.ts';
import type { Signed } from './material.ts';
import type { ScheduledSpends } from './scheduled.ts';
import type { Care } from './turns.ts';

/** The effect of a signed transaction on one escrow. */
export type Touch = {
  readonly escrow: string;
  readonly verb: 'fund' | 'claim' | 'refund';
  readonly secret: Secret | null;
  /** A refund with the payee's consent in it, which its chain takes before the timelock. */
  readonly isReleased?: true;
  /** Bitcoin: the keys of both sides signed it, so that no gate has a word in it. */
  readonly together?: true;
  /** EVM: the alleged signature of the funder, for a funding that anybody may send. */
  readonly authorization?: string;
};

export type ReadTransaction = {
  /** The id it will have on chain, computed from the bytes. */
  readonly txid: string;
  readonly raw: string;
  readonly touches: readonly Touch[];
  /** The addresses it pays that may be escrows: an ended one's money is its secret holder's. */
  readonly pays?: readonly string[];
  /** The account that pays for it, where that need not be the party that a claim pays. */
  readonly payer?: string;
};

export type Sending = {
  /**
   * Txid and watched escrows touched; its `raw` is cheap to read again. `bad_transaction`:
   * malformed, or of another network. `care`: the care for bytes that anybody may have made up.
   */
  readSigned(signed: Signed, signal: AbortSignal, care?: Care): Promise<ReadTransaction>;

  /**
   * Offers it to every source; known bytes give the txid again. `refused_by_node`: all that can
   * have it refuse. `chain_unavailable`: no node was given it. Other errors say nothing. With these
   * two no source has a secret in it, but for a Bitcoin spend refused by the first while the second
   * is silent. Once taken, its secret is public: `readEscrow` shows it and `changes` names its
   * escrows.
   */
  broadcast(transaction: ReadTransaction, signal: AbortSignal): Promise<string>;

  /** Whether a source has these very bytes: sending them again changes nothing. */
  isKnown(transaction: ReadTransaction, signal: AbortSignal): Promise<boolean>;

  /** Claims and refunds signed to be sent later. Absent where anybody may send them. */
  readonly scheduledSpends?: ScheduledSpends;
};
