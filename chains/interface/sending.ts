// Signed bytes: read, given to the nodes of a chain, and known again.

import type { Secret } from '../../core/hashlock.ts';
import type { Signed } from './material.ts';
import type { ScheduledRefunds } from './scheduled.ts';
import type { Care } from './turns.ts';

/** What a signed transaction would do to one escrow. */
export type Touch = {
  readonly escrow: string;
  readonly verb: 'fund' | 'claim' | 'refund';
  /** The preimage that a claim shows. */
  readonly secret: Secret | null;
  /** EVM: of a funding that anybody may send, what is said to be its funder's signature. */
  readonly authorization?: string;
};

/** A signed transaction, read before it is sent. */
export type ReadTransaction = {
  /** The id it will have on chain, computed from the bytes. */
  readonly txid: string;
  /** The bytes to send, as the node takes them. */
  readonly raw: string;
  readonly touches: readonly Touch[];
  /**
   * What it funds and may be an escrow, watched or not: one that is paid once its swap has ended,
   * a Bitcoin escrow or one that its leg moved off, is whoever's has the secret.
   */
  readonly pays?: readonly string[];
  /** Who pays for it, where that need not be the party that a claim pays. */
  readonly payer?: string;
};

export type Sending = {
  /**
   * Reads signed bytes: their txid and which watched escrows they touch. What it gives as `raw` is
   * read again at little cost. Throws `bad_transaction` when they are malformed or for another
   * network. `care`: of bytes that anybody may have made up.
   */
  readSigned(signed: Signed, signal: AbortSignal, care?: Care): Promise<ReadTransaction>;

  /**
   * Offers it to every source. Bytes already known or mined give the same txid again. Throws
   * `refused_by_node` with the words of all sources that can have it, and `chain_unavailable` only
   * where none was given it: no connection, turned away before any node, or the check of the nodes
   * failed before. With either no source has it, nor a secret in it, but for a claim or refund on
   * Bitcoin that the first refuses while the second is silent. What else it throws says nothing of
   * whether one has it. Once one has it, a secret in it is public: `readEscrow` shows it at once
   * and the next `changes` names its escrows.
   */
  broadcast(transaction: ReadTransaction, signal: AbortSignal): Promise<string>;

  /**
   * Whether the chain or its mempool has these very bytes, as far as its source can tell: sending
   * them again then changes nothing.
   */
  isKnown(transaction: ReadTransaction, signal: AbortSignal): Promise<boolean>;

  /** Signed refunds to be sent later. Absent where anybody may send a refund. */
  readonly scheduledRefunds?: ScheduledRefunds;
};
