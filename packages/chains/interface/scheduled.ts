// Refunds signed beforehand at rising fees. Bitcoin only: elsewhere anybody may send a refund.

import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import type { WatchedEscrow } from './reading.ts';
import type { InTurns } from './turns.ts';

export type Bump = {
  readonly txid: string;
  readonly raw: string;
  readonly feeSats: BaseUnits;
  readonly feeRateSatPerVbyte: number;
};

/** The unconfirmed refund that was last seen or sent, and since when. */
export type Tried = {
  readonly txid: string;
  readonly at: UnixSeconds;
  /** Height of the best block then. */
  readonly height: number;
};

/** The next step of a ladder. `tried` is to be kept for the next time. */
export type Verdict =
  /** Not yet; look again soon, or where `calm` when blocks have gone by. */
  | {
      readonly kind: 'wait';
      readonly why: string;
      readonly calm: boolean;
      readonly tried: Tried | null;
    }
  /** Send this one, in the place of the unconfirmed refund `over`, where there is one. */
  | {
      readonly kind: 'send';
      readonly from: number;
      readonly height: number;
      readonly over: string | null;
    }
  /** Its inputs are gone at depth: no work is left. */
  | { readonly kind: 'over'; readonly txid: string };

export type Asking = {
  readonly transactions: readonly string[];
  /** Those of this escrow, checked before: the same bytes are not verified again. */
  readonly known: readonly Bump[];
  readonly inTurns: InTurns;
};

/** A payment to an escrow that is deep enough to be spent by what is signed now. */
export type DeepPayment = {
  readonly txid: string;
  readonly vout: number;
  readonly amount: BaseUnits;
};

export type ScheduledRefunds = {
  /** `bad_transaction`, `bad_fee_rate`, `nothing_there` unless anybody can send each. */
  check(escrow: WatchedEscrow, asking: Asking, signal: AbortSignal): Promise<readonly Bump[]>;
  /**
   * The payments that a ladder may spend, the largest first: shallower payments may yet be taken
   * back.
   */
  payments(escrow: WatchedEscrow, signal: AbortSignal): Promise<readonly DeepPayment[]>;
  /** The escrow is read, and the ladder's next step follows from it. */
  next(
    escrow: WatchedEscrow,
    ladder: {
      readonly bumps: readonly Bump[];
      readonly tried: Tried | null;
      readonly isPublic: boolean;
    },
    signal: AbortSignal,
  ): Promise<Verdict>;
  /** A transaction that spends the same in a mempool, or null. */
  rival(bump: Bump, over: string | null, signal: AbortSignal): Promise<string | null>;
};
