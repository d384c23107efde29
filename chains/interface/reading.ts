// What an adapter reads of its chain: the escrows that it follows, what they show, and when.

import type { EscrowFacts } from '../../core/facts.ts';
import type { UnixSeconds } from '../../core/nominal.ts';
import type { EscrowTerms } from '../../core/terms.ts';

/** An escrow to follow. `requiredConfirmations` is the depth its amount wants. */
export type WatchedEscrow = {
  readonly address: string;
  readonly terms: EscrowTerms;
  readonly requiredConfirmations: number;
  /** No payment to it can be older than this (its swap's agreement). */
  readonly since: UnixSeconds;
  /** What was last stored of it: all there is where its chain has forgotten (a lane used again). */
  readonly stored?: EscrowFacts;
};

export type Heads = {
  /** Height and hash of the best block. */
  readonly height: number;
  readonly hash: string;
  /** The chain's own clock: Bitcoin median time past, EVM time of the best block. */
  readonly clock: UnixSeconds;
};

/** What a chain shows at one block. */
export type Look = {
  readonly heads: Heads;
  /** Of the escrows that were asked for, in their order. */
  readonly facts: readonly EscrowFacts[];
};

export type Changes = {
  /** Addresses of watched escrows about which something may have changed. */
  readonly touched: readonly string[];
  readonly heads: Heads;
};

export type Reading = {
  /** Follow these escrows from now on; known ones are left alone. Call again after a restart. */
  watch(escrows: readonly WatchedEscrow[]): void;

  /** Stop following: the escrow is empty at depth and its swap has ended. */
  unwatch(addresses: readonly string[]): void;

  /**
   * Which watched escrows to look at again, since the last call: new blocks and mempool, blocks
   * taken back, and transactions that came to depth. One caller at a time. Work grows with what
   * happened on the chain, not with the number of escrows.
   */
  changes(signal: AbortSignal): Promise<Changes>;

  /**
   * The best block, and what these escrows show at it, at most 50: gates go by its clock. They need
   * not be watched, and are not from then on. TRON: a call there names no block. Where each block
   * is another before the node has answered, the facts may be of one before that of the clock.
   */
  look(escrows: readonly WatchedEscrow[], signal: AbortSignal): Promise<Look>;

  /** A look at no escrow. */
  heads(signal: AbortSignal): Promise<Heads>;

  /** A look at one escrow, where no clock matters. */
  readEscrow(escrow: WatchedEscrow, signal: AbortSignal): Promise<EscrowFacts>;

  /**
   * Where a second source of the chain is configured: throws `sources_disagree` when the two differ
   * about the head or this escrow's funding. Asked before money or a secret relies on the facts;
   * never before a refund, or a claim with a public secret.
   */
  mustAgree?(escrow: WatchedEscrow, signal: AbortSignal): Promise<void>;
};
