// The reading of a chain by its adapter: the escrows that it follows, what they show, and when.

import type { EscrowFacts } from '@parley/core/facts.ts';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';

/** An escrow to follow. `requiredConfirmations` is the depth its amount wants. */
export type WatchedEscrow = {
  readonly address: string;
  readonly terms: EscrowTerms;
  readonly requiredConfirmations: number;
  /** No payment to it can be older than this (its swap's agreement). */
  readonly since: UnixSeconds;
  /**
   * The facts that were last stored of it: all there is where its chain has forgotten (a lane used
   * again).
   */
  readonly stored?: EscrowFacts;
};

export type Heads = {
  /** Height and hash of the best block. */
  readonly height: number;
  readonly hash: string;
  /** The chain's own clock: Bitcoin median time past, EVM time of the best block. */
  readonly clock: UnixSeconds;
};

/** As a look has it: on TRON the answers about escrows come without a hash. */
export type Tip = Omit<Heads, 'hash'>;

export type Look = {
  readonly heads: Tip;
  /** Those of the escrows that were asked for, in their order. */
  readonly facts: readonly EscrowFacts[];
};

export type Changes = {
  /** Addresses of watched escrows about which something may have changed. */
  readonly touched: readonly string[];
  readonly heads: Heads;
  /** The last block that was read, which may be below the best one. Absent where `resumeFrom` is. */
  readonly readTo?: number | null;
};

/** One payment to an escrow. `funding` is the leg's; `further` is of the amount or more. */
export type EscrowPayment = {
  readonly txid: string;
  readonly vout: number;
  readonly amount: BaseUnits;
  /** 0: in the mempool. */
  readonly confirmations: number;
  readonly is: 'funding' | 'too_little' | 'further';
  /** null: no transaction was seen to spend it. */
  readonly spent: { readonly txid: string; readonly by: 'claim' | 'refund' } | null;
};

export type Reading = {
  /** Follow these escrows from now on; known ones are left alone. Call again after a restart. */
  watch(escrows: readonly WatchedEscrow[]): void;

  /** Stop following: the escrow is empty at depth and its swap has ended. */
  unwatch(addresses: readonly string[]): void;

  /**
   * Another process has read up to this height (`readTo`), so `changes` reads on from there, within a bound,
   * where a start alone reads the last few blocks. Absent where a failed claim is found without
   * that: in an escrow's own history (Solana), or where no block takes one (Bitcoin).
   */
  resumeFrom?(height: number): void;

  /** Watched escrows that may have changed since the last call. One caller at a time. */
  changes(signal: AbortSignal): Promise<Changes>;

  /**
   * The best block and what at most 50 escrows, watched or not, show at it. TRON calls name no
   * block: its facts may be of one before the clock's.
   */
  look(escrows: readonly WatchedEscrow[], signal: AbortSignal): Promise<Look>;

  /** A look at no escrow. */
  heads(signal: AbortSignal): Promise<Tip>;

  /**
   * The same, and reads the blocks that came, so that no later look has to. Absent where a look
   * reads no blocks.
   */
  catchUp?(signal: AbortSignal): Promise<Tip>;

  /** A look at one escrow, where no clock matters. */
  readEscrow(escrow: WatchedEscrow, signal: AbortSignal): Promise<EscrowFacts>;

  /**
   * The hash of this chain's block at this height; null above the best one. Absent where nothing
   * that is deep can be taken back (Solana's finalized slots).
   */
  blockHash?(height: number, signal: AbortSignal): Promise<string | null>;

  /** Bitcoin, where anybody may pay an escrow more than once: all payments, the oldest first. */
  payments?(escrow: WatchedEscrow, signal: AbortSignal): Promise<readonly EscrowPayment[]>;

  /** Throws `sources_disagree`. Never asked before a refund or a public claim. */
  mustAgree?(escrow: WatchedEscrow, signal: AbortSignal): Promise<void>;
};
