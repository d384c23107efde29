// What a settlement needs done by hand on one leg: signing, looking after what was signed, raising
// it and taking it back. Each family says how in a module of its own.

import type { Material } from '../../../chains/interface/material.ts';
import type { Kept, SwapRecord } from '../../stores/store.ts';
import type { Asked } from '../../verify-material.ts';
import type { Wallet } from '../../wallets/wallet.ts';
import type { Context, Seen, SetLeg } from '../context.ts';

export type Spending = Asked & { readonly verb: 'claim' | 'refund' };

/** One leg and the wallet of its chain. */
export type On<W extends Wallet> = {
  readonly context: Context;
  readonly leg: SetLeg;
  readonly wallet: W;
};

/** Urgent is what may not be put off: a claim whose secret is public, and a refund. */
export type Turn = { readonly isUrgent: boolean };

/** Signs one thing, when it is its turn. */
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
  /** Whether the chain still takes a claim after the timelock. */
  readonly claimsPastTimelock: boolean;
  /**
   * Runs one funding or first claim of this account at a time, where two could be in each other's
   * way: a token's allowance, and what claims are paid from, is one number for all swaps.
   */
  alone<T>(work: () => Promise<T>): Promise<T>;

  /** Whether `keeping` makes others wait: looks at chains come before it then. */
  readonly takesTurns: boolean;
  /** Signs and keeps, while nothing else that is signed here could choose the same nonce. */
  keeping<T>(work: () => Promise<T>, turn: Turn): Promise<T>;

  /** What is signed to fund, in order: the last is the funding, what is before it are approvals. */
  signFunding(built: Material): readonly Signing[];
  /** Asks what has to be known before its turn: nothing of a secret that is not public. */
  signSpend(built: Material, asked: Spending, how: SpendHow): Promise<SpendSigning>;
  /** What was signed last is not sent after all, or has no effect any more. */
  forget(): void;

  /** Sends the kept funding again while it may be; `dead` when it can never be mined any more. */
  tendFunding(record: SwapRecord, funding: Kept): Promise<SwapRecord | 'dead'>;
  /** The record without its approval once that is mined. Throws when it never will be. */
  tendApproval(record: SwapRecord, approval: Kept): Promise<SwapRecord>;
  /**
   * The record with the approval that was mined to be looked after again, where a reorganisation
   * has taken it out of its block.
   */
  recallApproval(record: SwapRecord): Promise<SwapRecord>;
  /** Sends the kept claim or refund again; the record without it when it has to be made anew. */
  tendSpend(record: SwapRecord, verb: Spending['verb'], kept: Kept): Promise<SwapRecord>;
  /** Sends a claim or refund; the record without it when it has to be made anew. */
  sendSpend(record: SwapRecord, verb: Spending['verb'], kept: Kept): Promise<SwapRecord>;
  /** Waits for a block with the funding, for a while. */
  untilMined(funding: Kept): Promise<void>;

  /** Whether a claim or refund that waits for its first block should be replaced at `wall`. */
  isStuck(kept: Kept, wall: number): boolean;
  /** The record with a funding that pays more in the place of one that no block takes. */
  raiseFunding(record: SwapRecord, funding: Kept, seen: Seen): Promise<SwapRecord>;
  /** One step towards a late funding that can never be mined: the record has none in the end. */
  cancelFunding(record: SwapRecord, funding: Kept): Promise<SwapRecord>;
  /** Takes back a claim that the chain refuses since the timelock, where it holds others up. */
  withdrawClaim(record: SwapRecord): Promise<SwapRecord>;
};
