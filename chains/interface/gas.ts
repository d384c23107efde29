// What sending costs on a chain, and whether who has to send can pay for it.

import type { Secret } from '../../core/hashlock.ts';
import type { StuckFunding } from '../../core/next.ts';
import type { BaseUnits, UnixSeconds } from '../../core/nominal.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { WatchedEscrow } from './reading.ts';

/** What a party should hear before money moves. Nothing of it refuses anything. */
export type Warning = {
  /**
   * TRON: the address was never used, or has too little TRX to burn for energy. Solana: it has too
   * little SOL for the fee and the accounts that it has to make; `deposit`: what a funding takes
   * beside the amount, told always. EVM: too little for gas.
   */
  readonly code: 'not_activated' | 'energy_poor' | 'fee_poor' | 'deposit' | 'fund_stuck';
  /** What this party could not send by itself now. */
  readonly verb: 'fund' | 'claim';
  readonly address: string;
  readonly sentence: string;
  /** Of `fund_stuck`. */
  readonly stuck?: StuckFunding;
};

/** Of the native coin: what it takes, and what there is. */
export type Shortage = Warning & { readonly need: BaseUnits; readonly has: BaseUnits };

/** What one wallet is about to send, all of which it has to pay for. */
export type Owed = {
  /** Escrows whose claims it sends. */
  readonly claims: readonly EscrowTerms[];
  /** Escrows that it funds before; its balance does not show them yet. */
  readonly fundings: readonly EscrowTerms[];
  /** Of the one claim: a node takes a transaction only from who has all that is offered in it. */
  readonly offered?: Offered;
};

/** EVM: what a claim is sent with. `feePerGas`: wei, once it is signed. */
export type Offered = { readonly gas: bigint; readonly feePerGas: BaseUnits | null };

/** A claim or refund to be tried. The secret is null while nobody may hear it. */
export type Spend =
  | { readonly verb: 'claim'; readonly terms: EscrowTerms; readonly secret: Secret | null }
  | { readonly verb: 'refund'; readonly terms: EscrowTerms };

/** What a chain does not ask of who sends is absent. */
export type Gas = {
  /**
   * Whether the parties of a leg can pay for what they have to send; where a chain asks for more
   * than a fee out of the coin that moves.
   */
  warnings?(terms: EscrowTerms, signal: AbortSignal): Promise<readonly Warning[]>;

  /**
   * Bitcoin: what the funder of this escrow should hear of a funding that waits too long for its
   * first block; it was to be sent by `sendBy`. null: nothing.
   */
  stuckFunding?(
    escrow: WatchedEscrow,
    sendBy: UnixSeconds,
    signal: AbortSignal,
  ): Promise<Warning | null>;

  /**
   * What `payer` lacks to send the claim of these terms now; null: nothing. Asked before a secret
   * is shown: a claim that nobody can pay for shows it in vain.
   */
  claimShortage?(terms: EscrowTerms, payer: string, signal: AbortSignal): Promise<Shortage | null>;

  /**
   * The same for several claims of one wallet and what it funds before them. Asked before it funds
   * one more: every claim that it owes already needs its share.
   */
  purseShortage?(owed: Owed, payer: string, signal: AbortSignal): Promise<Warning | null>;

  /**
   * EVM: gas that a claim or refund takes that `payer` sends, without any margin. Throws
   * `payout_would_fail` where the escrow itself refuses it, by an error of its own; whatever else
   * it throws says nothing of the claim.
   */
  spendGas?(spend: Spend, payer: string, signal: AbortSignal): Promise<bigint>;

  /**
   * EVM: gas that does for a claim or refund of these terms where no node could try it. It goes by
   * the rules of the fork that may be active until the timelock.
   */
  untriedGas?(terms: EscrowTerms, signal: AbortSignal): Promise<bigint>;
};
