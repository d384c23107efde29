// What a settlement needs done by hand on one leg: signing, looking after what was signed, raising
// it and taking it back. Each family says how in a module of its own. What has become of the record
// is kept by whoever does it.

import type { Material } from '../../../chains/interface/material.ts';
import type { Kept } from '../../stores/store.ts';
import type { Asked } from '../../verify-material.ts';
import type { Wallet } from '../../wallets/wallet.ts';
import type { Context } from '../context.ts';
import type { SetLeg } from '../record.ts';

export type Spending = Asked & { readonly verb: 'claim' | 'refund' };

/** One leg and the wallet of its chain. */
export type On<W extends Wallet> = {
  readonly context: Context;
  readonly leg: SetLeg;
  readonly wallet: W;
};

/** Signs one thing, under the lock of its account. */
export type Signing = () => Promise<Kept>;

/** The same for a claim or refund; `gas`: its limit, where a transaction has one. */
export type SpendSigning = { readonly sign: Signing; readonly gas: bigint | null };

export type SpendHow = {
  readonly isPublic: boolean;
  /** Whether an own claim of this swap was mined and has failed. */
  readonly hasFailed: boolean;
};

export type Hand = {
  /** Whether the funding of a token can only be tried once its approval is mined. */
  readonly approvesTokens: boolean;
  /**
   * Runs one funding or first claim of this account at a time, where two could be in each other's
   * way: a token's allowance, and what claims are paid from, is one number for all swaps.
   */
  alone<T>(work: () => Promise<T>): Promise<T>;

  /** Whether `keeping` makes others wait: chains are asked before it then. */
  readonly sharesNonces: boolean;
  /**
   * Signs and keeps, while nothing else that is signed here could choose the same nonce. Urgent is
   * what may not be put off: a claim whose secret is public, and a refund.
   */
  keeping<T>(work: () => Promise<T>, isUrgent: boolean): Promise<T>;

  /** What is signed to fund, in order: the last is the funding, what is before it are approvals. */
  signFunding(built: Material): readonly Signing[];
  /** Asks what has to be known before its lock: nothing of a secret that is not public. */
  signSpend(built: Material, asked: Spending, how: SpendHow): Promise<SpendSigning>;
  /** What was signed last is not sent after all, or has no effect any more. */
  forget(): void;

  /** Sends the kept funding again while it may be; `dead` when it can never be mined any more. */
  tendFunding(): Promise<'tended' | 'dead'>;
  /**
   * Looks after the kept approval until it is mined: until its nonce is used every later
   * transaction of the account waits behind it. Throws when it never will be.
   */
  tendApproval(): Promise<void>;
  /** Looks after a mined approval again, where a reorganisation has taken it out of its block. */
  recallApproval(): Promise<void>;
  /** Sends the kept claim or refund again, or forgets it when it has to be made anew. */
  tendSpend(verb: Spending['verb']): Promise<void>;
  /** Sends a claim or refund, or forgets it when it has to be made anew. */
  sendSpend(verb: Spending['verb']): Promise<void>;
  /** Waits for a block with the transaction, for a while. */
  untilMined(kept: Kept): Promise<void>;

  /** Whether a claim or refund that waits for its first block should be replaced at `wall`. */
  isStuck(kept: Kept, wall: number): boolean;
  /** Puts a funding that pays more in the place of one that no block takes. */
  raiseFunding(): Promise<void>;
  /** One step towards a late funding that can never be mined: none is kept in the end. */
  cancelFunding(): Promise<void>;
  /** Takes back a claim that the chain refuses since the timelock, where it holds others up. */
  withdrawClaim(): Promise<void>;
};
