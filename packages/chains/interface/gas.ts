// The cost of sending on a chain, and whether who has to send can pay for it.

import type { Secret } from '@parley/core/hashlock.ts';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { WatchedEscrow } from './reading.ts';

/** A party should hear it before money moves. It refuses nothing. */
export type Warning = {
  readonly code: 'not_activated' | 'energy_poor' | 'fee_poor' | 'deposit' | 'fund_stuck';
  /** A transaction that this party could not send by itself now. */
  readonly verb: 'fund' | 'claim';
  readonly address: string;
  readonly sentence: string;
};

/** In the native coin. */
export type Shortage = Warning & { readonly need: BaseUnits; readonly has: BaseUnits };

export type Owed = {
  readonly claims: readonly EscrowTerms[];
  /** Escrows that it funds before; its balance does not show them yet. */
  readonly fundings: readonly EscrowTerms[];
  /** For the one claim: a node takes a transaction only from who has all that is offered in it. */
  readonly offered?: Offered;
};

/** EVM: the gas and fee that a claim is sent with. `feePerGas`: wei, once it is signed. */
export type Offered = { readonly gas: bigint; readonly feePerGas: BaseUnits | null };

/** For one transaction, in base units of the native coin. */
export type Cost = {
  /** Likely now. */
  readonly usual: BaseUnits;
  /**
   * The sum that its sender should have for it: prices rise, and wallets offer more than they pay.
   */
  readonly most: BaseUnits;
};

/** The costs of an escrow, whosever it is. Rents of accounts that stay with a receiver included. */
export type Costs = {
  readonly fund: Cost;
  readonly claim: Cost;
  readonly refund: Cost;
  /** Bitcoin: a claim or refund pays its fee out of the amount. */
  readonly settlesFromAmount: boolean;
  /** Solana: the lamports that a funding locks beside the amount, and those that a claim leaves
   * locked. */
  readonly deposit: { readonly locked: BaseUnits; readonly keptByClaim: BaseUnits } | null;
  /** In the asset: less is refused by `checkAmount` now. The worth of a token is not known. */
  readonly leastAmount: BaseUnits;
};

/** A claim or refund to be tried. The secret is null while nobody may hear it. */
export type Spend =
  | { readonly verb: 'claim'; readonly terms: EscrowTerms; readonly secret: Secret | null }
  | { readonly verb: 'refund'; readonly terms: EscrowTerms };

/** A field is absent where the chain does not ask it of who sends. */
export type Gas = {
  /** By the fees of now; null token: the native coin. */
  costs?(token: string | null, signal: AbortSignal): Promise<Costs>;

  /** The balance of an address in the chain's own coin, which pays for all that it sends. */
  coins?(address: string, signal: AbortSignal): Promise<BaseUnits>;

  /** Whether a leg's parties can pay for what they send. */
  warnings?(terms: EscrowTerms, signal: AbortSignal): Promise<readonly Warning[]>;

  /** Bitcoin: the rescue of a funding that no block takes; to be mined by `sendBy`. */
  stuckFunding?(
    escrow: WatchedEscrow,
    sendBy: UnixSeconds,
    signal: AbortSignal,
  ): Promise<Warning | null>;

  /** Asked before a secret is shown: a claim that nobody can pay for shows it in vain. */
  claimShortage?(terms: EscrowTerms, payer: string, signal: AbortSignal): Promise<Shortage | null>;

  /** The same of all claims that a wallet owes, asked before it funds one more. */
  fundsShortage?(owed: Owed, payer: string, signal: AbortSignal): Promise<Warning | null>;

  /** EVM, without margin. `payout_would_fail`: the escrow refuses; others say nothing of it. */
  spendGas?(spend: Spend, payer: string, signal: AbortSignal): Promise<bigint>;

  /** EVM: enough where no node could try it, by the rules of any fork until the timelock. */
  untriedGas?(terms: EscrowTerms, signal: AbortSignal): Promise<bigint>;
};
