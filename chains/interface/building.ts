// What an adapter builds for a party to sign, and what it tries and checks before.

import type { Secret } from '../../core/hashlock.ts';
import type { BaseUnits } from '../../core/nominal.ts';
import type { Escrow, EscrowTerms } from '../../core/terms.ts';
import type { Batch, BuiltBatch } from './batches.ts';
import type { Allowance } from './fund-ways.ts';
import type { Gas } from './gas.ts';
import type { Lanes } from './lanes.ts';
import type { Material } from './material.ts';
import type { Heads, WatchedEscrow } from './reading.ts';

export type BuildInput = {
  readonly escrow: WatchedEscrow;
  /** EVM: what an approval allows, the amount unless told. */
  readonly allowance?: Allowance;
  /** Bitcoin: sat per vbyte wanted by the caller, within bounds; null = estimate. */
  readonly feeRateSatPerVbyte: number | null;
};

/** A claim or a refund. */
export type SpendInput = BuildInput & {
  /**
   * Whether the swap's secret was seen anywhere, on this chain or another. A claim then waits for
   * no agreement of sources, and a refund is hurried: the receiver may claim at any moment.
   */
  readonly isPublic: boolean;
};

/** What a preflight is for. */
export type About = 'payout' | 'funding' | 'claim';

/** What gates ask beside a look. */
export type Asks = Pick<Building, 'lanes' | 'preflight' | 'buildFund'> & Pick<Gas, 'claimShortage'>;

export type Building = {
  /** The address in canonical form. Throws `bad_address`, or `wrong_network` with both names. */
  parseAddress(text: string): string;

  /** The escrow of these terms. Pure. Where there are lanes the terms name one. */
  plan(terms: EscrowTerms): Escrow;

  /** Absent where each escrow has an address of its own. */
  readonly lanes?: Lanes;

  /** Refuses amounts that could not be claimed (`amount_too_small`): dust, fee above value. */
  checkAmount(token: string | null, amount: BaseUnits, signal: AbortSignal): Promise<void>;

  /**
   * Whether funding and both payouts of these terms would work on chain, as far as it can be
   * tried without the secret. Throws `payout_would_fail` or `funding_would_fail` with the reason.
   * `about` 'payout' leaves the funder's balance and approval out; 'claim' is for a funded escrow,
   * and looks at nothing that the funder could change: it must not be able to stop a reveal.
   */
  preflight(terms: EscrowTerms, about: About, signal: AbortSignal): Promise<void>;

  /**
   * What the funder has of the asset. Absent where no approval is paid before a funding: there the
   * preflight of the funding tells when it is too little.
   */
  held?(terms: EscrowTerms, signal: AbortSignal): Promise<BaseUnits>;

  /**
   * What gates ask beside a look. EVM: of the look's block, so that gates are decided on one block.
   * TRON answers of no block that was: there it is of the moment it is asked. On both a question is
   * asked once, by the look or by the first gate that has it. Absent on Bitcoin and Solana: what is
   * asked there beside a look is of its own moment, and each gate asks anew.
   */
  at?(heads: Heads): Asks;

  /** Unsigned funding. */
  buildFund(input: BuildInput, signal: AbortSignal): Promise<Material>;

  /**
   * Unsigned claim. Throws `nothing_there` when the escrow holds no payment, and what `mustAgree`
   * throws unless the secret is public.
   */
  buildClaim(input: SpendInput, secret: Secret, signal: AbortSignal): Promise<Material>;

  /** Unsigned refund of everything in the escrow. Throws `nothing_there` when it is empty. */
  buildRefund(input: SpendInput, signal: AbortSignal): Promise<Material>;

  /**
   * Unsigned settling of many escrows that `from` sends, tried first. Throws `payout_would_fail`
   * where one payment fails, which reverts all. Absent where each is settled by itself.
   */
  buildBatch?(batch: Batch, from: string, signal: AbortSignal): Promise<BuiltBatch>;
};
