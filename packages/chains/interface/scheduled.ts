// Claims and refunds signed beforehand at rising fees. Bitcoin only: elsewhere anybody may send
// them.

import type { Secret } from '@parley/core/hashlock.ts';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import type { WatchedEscrow } from './reading.ts';
import type { InTurns } from './turns.ts';

export type ScheduledVerb = 'claim' | 'refund';

export type Bump = {
  /** A secret does not change it: the witness is no part of it. */
  readonly txid: string;
  /** A claim has an empty item where its secret goes. */
  readonly raw: string;
  readonly feeSats: BaseUnits;
  readonly feeRateSatPerVbyte: number;
};

/** The unconfirmed spend that was last seen or sent, and since when. */
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
  /** Send this one, in the place of the unconfirmed spend `over`, where there is one. */
  | {
      readonly kind: 'send';
      readonly from: number;
      readonly height: number;
      readonly over: string | null;
    }
  /** Its inputs are gone at depth: no work is left. */
  | { readonly kind: 'over'; readonly txid: string };

export type Asking = {
  readonly verb: ScheduledVerb;
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

export type Ladder = {
  readonly verb: ScheduledVerb;
  readonly bumps: readonly Bump[];
  readonly tried: Tried | null;
  /** Once it is public; null before. */
  readonly secret: Secret | null;
};

export type ScheduledSpends = {
  /** `bad_transaction`, `bad_fee_rate`, `nothing_there` unless anybody can send each. */
  check(escrow: WatchedEscrow, asking: Asking, signal: AbortSignal): Promise<readonly Bump[]>;
  /**
   * The payments that a ladder may spend, the largest first: shallower payments may yet be taken
   * back. A claim takes the one that funds the escrow. The rate is that of a schedule's last hour
   * at the fees of now, sat per vbyte.
   */
  spendable(
    escrow: WatchedEscrow,
    verb: ScheduledVerb,
    signal: AbortSignal,
  ): Promise<{ readonly payments: readonly DeepPayment[]; readonly lastHourRate: number }>;
  /** The escrow is read, and the ladder's next step follows from it. No claim without a secret. */
  next(escrow: WatchedEscrow, ladder: Ladder, signal: AbortSignal): Promise<Verdict>;
  /** The bytes to send: of a claim with its secret in them. Throws `wrong_secret`. */
  finished(escrow: WatchedEscrow, bump: Bump, ladder: Ladder): string;
  /** A claim that spends the same in a mempool, which no refund may replace; or null. */
  rival(bump: Bump, over: string | null, signal: AbortSignal): Promise<string | null>;
};
