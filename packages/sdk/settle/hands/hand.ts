// The handiwork on one leg: signing, tending, raising, taking back. Each family has a module of its
// own.

import type { ReleaseText } from '@parley/chains/interface/consent.ts';
import type { Material } from '@parley/chains/interface/material.ts';
import { type Kept, keptNow } from '../../stores/store.ts';
import type { Asked } from '../../verify-material.ts';
import { type Context, sourceOf } from '../context.ts';
import type { SetLeg } from '../record.ts';
import { overdue, waitAnew } from '../send.ts';

export type Spending = Asked & { readonly verb: 'claim' | 'refund' };

/** Signs one thing, under the lock of its account. */
export type Signing = () => Promise<Kept>;

/** The same for a claim or refund; `gas`: its limit, where a transaction has one. */
export type SpendSigning = { readonly sign: Signing; readonly gas: bigint | null };

export type SpendHow = {
  readonly isPublic: boolean;
  readonly hasFailed: boolean;
};

/** Where nothing is shared with other transactions of the account. */
export const unshared = {
  paysByHand: false,
  sends: false,
  sharesNonces: false,
  keeping: <T>(work: () => Promise<T>) => work(),
  forget: () => {},
  withdrawClaim: async () => {},
};

export type Hand = {
  /** Whether the wallet has no coins: a person pays the escrow by hand. */
  readonly paysByHand: boolean;
  /** Whether signing sends: the request is kept before the wallet asks. */
  readonly sends: boolean;
  /** Whether the funding of a token can only be tried once its approval is mined. */
  readonly approvesTokens: boolean;
  /**
   * One funding or first claim of this account at a time: allowance and balance are one number for
   * all swaps.
   */
  alone<T>(work: () => Promise<T>): Promise<T>;

  /** Whether `keeping` makes others wait: chains are asked before it then. */
  readonly sharesNonces: boolean;
  /**
   * The lock of the account, under which no other signing can choose the same nonce. Urgent: a
   * claim with a public secret, and a refund.
   */
  keeping<T>(work: () => Promise<T>, isUrgent: boolean): Promise<T>;

  /** The signings of a funding, in order: approvals first, the funding last. */
  signFunding(built: Material): readonly Signing[];
  /**
   * Asks for facts that must be known before its lock, and never for a secret that is not public.
   */
  signSpend(built: Material, asked: Spending, how: SpendHow): Promise<SpendSigning>;
  forget(): void;
  /** EVM, TRON: the payee's signature of a release. Absent: the wallet signs none. */
  signRelease?(text: ReleaseText): Promise<string>;

  /** Sends the kept funding again while it may be; `dead` when it can never be mined any more. */
  tendFunding(): Promise<'tended' | 'dead'>;
  /**
   * Until its nonce is used every later transaction waits behind it. Throws when it never will be.
   */
  tendApproval(): Promise<void>;
  /** Tends a mined approval again, where a reorganisation has taken it out of its block. */
  recallApproval(): Promise<void>;
  tendSpend(verb: Spending['verb']): Promise<void>;
  sendSpend(verb: Spending['verb']): Promise<void>;
  untilMined(kept: Kept): Promise<void>;

  /** Whether a claim or refund that waits for its first block should be replaced at `wall`. */
  isStuck(kept: Kept, wall: number): boolean;
  raiseFunding(): Promise<void>;
  /**
   * One step towards a late funding that can never be mined: the record keeps no funding in the
   * end.
   */
  cancelFunding(): Promise<void>;
  /** Takes back a claim that the chain refuses since the timelock, where it holds others up. */
  withdrawClaim(): Promise<void>;
};

export async function keepCancel(context: Context, { leg }: SetLeg, cancel: Kept): Promise<void> {
  await context.keep({ cancel: keptNow(cancel) });
  const text = `the funding of leg ${leg} came too late: takes its place with a payment to self`;
  context.emit('cancelled', leg, text, cancel.txid);
}

export function noFee(context: Context, leg: SetLeg, kept: Kept): void {
  waitAnew(context, kept);
  context.waits(leg, 'cancelling the late funding would cost more than is allowed');
}

export function notYetDeep(context: Context, leg: SetLeg): void {
  context.waits(leg, 'the end of the late funding is not yet deep');
}

export async function forgetFunding(context: Context, { leg }: SetLeg): Promise<void> {
  await context.keep({ funding: null, cancel: null });
  context.emit('cancelled', leg, 'the late funding can never be mined: the coins have not moved');
}

/**
 * Whether it may never be mined: a node may build what no block takes, and say of it what it likes.
 * One that is asked alone builds no better one.
 */
export function isInVain(context: Context, leg: SetLeg, kept: Kept): boolean {
  const { nodes = [] } = sourceOf(context, leg.chain);
  return nodes.length > 1 && overdue(context, leg, kept);
}

/** The escrow pays once, whichever of them is mined. */
export async function buildAnew(
  context: Context,
  leg: SetLeg,
  slot: 'claim' | 'refund',
  { txid }: Kept,
): Promise<void> {
  const text = `no block has taken the ${slot} ${txid} in time: another one is made`;
  context.waits(leg, text, { txid });
  await context.keep({ [slot]: null });
}
