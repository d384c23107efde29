// An adapter's builders for a party to sign, and the trials and checks before.

import type { Secret } from '@parley/core/hashlock.ts';
import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Escrow, EscrowTerms } from '@parley/core/terms.ts';
import type { Batch, BuiltBatch } from './batches.ts';
import type { Allowance } from './fund-ways.ts';
import type { Gas } from './gas.ts';
import type { Lanes } from './lanes.ts';
import type { Material } from './material.ts';
import type { Tip, WatchedEscrow } from './reading.ts';

export type BuildInput = {
  readonly escrow: WatchedEscrow;
  /** EVM: the amount that an approval allows, the amount of the terms unless told. */
  readonly allowance?: Allowance;
  /** EVM, TRON: for a lane of the payee's, its signature of `Lanes.consent` (65 bytes, hex). */
  readonly laneSignature?: string;
  /** Bitcoin: sat per vbyte wanted by the caller, within bounds; null = estimate. */
  readonly feeRateSatPerVbyte: number | null;
};

export type SpendInput = BuildInput & {
  /** Whether the secret was seen on any chain: a claim then asks no agreement, a refund hurries. */
  readonly isPublic: boolean;
  /** EVM, TRON: the payee's signature of its release. The refund then needs no timelock. */
  readonly release?: string;
};

export type About = 'payout' | 'funding' | 'claim';

/** The questions of gates beside a look. */
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
   * Tries funding and payouts without the secret: `payout_would_fail`, `funding_would_fail`.
   * `payout` leaves the funder's balance out; `claim` is of a funded escrow and reads nothing that
   * its funder could change, lest it stop a reveal.
   */
  preflight(terms: EscrowTerms, about: About, signal: AbortSignal): Promise<void>;

  /** The funder's balance of the asset. Absent on Bitcoin: coins are the wallet's. */
  held?(terms: Pick<EscrowTerms, 'token' | 'refund'>, signal: AbortSignal): Promise<BaseUnits>;

  /** The questions of gates beside a look, once: EVM of its block, TRON of now. Absent: anew. */
  at?(heads: Tip): Asks;

  /** A trial shares the views of a look, by `at`: TRON. Elsewhere it leaves beside the look. */
  readonly triesByLook?: true;

  buildFund(input: BuildInput, signal: AbortSignal): Promise<Material>;

  /** Throws `nothing_there`, and unless the secret is public what `mustAgree` throws. */
  buildClaim(input: SpendInput, secret: Secret, signal: AbortSignal): Promise<Material>;

  /** Unsigned refund of everything in the escrow. Throws `nothing_there` when it is empty. */
  buildRefund(input: SpendInput, signal: AbortSignal): Promise<Material>;

  /** Sent by `from`, tried first: `payout_would_fail`, `funding_would_fail`. */
  buildBatch?(batch: Batch, from: string, signal: AbortSignal): Promise<BuiltBatch>;
};
