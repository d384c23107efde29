// A release: before the timelock the payee gives up its claim, and the coins go back to their
// funder at once.

import type { Family } from '@parley/core/families.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { SpendInput } from './building.ts';
import type { SolanaMaterial, TypedData } from './material.ts';

/**
 * EVM, TRON: the payout address signs the text (65 bytes r, s, v as hex), and `buildRefund` takes
 * the signature.
 */
export type ReleaseText = {
  readonly chain: string;
  readonly family: Extract<Family, 'evm' | 'tron'>;
  readonly sign: 'typed-data';
  /** TRON (TIP-712) signs the same bytes: `verifyingContract` is 20 bytes in hex with 0x there too. */
  readonly typedData: TypedData;
  /** The name of the escrow. */
  readonly escrow: string;
};

/** Solana: the payee signs the transaction, and it refunds when it is sent. */
export type ReleaseMaterial = ReleaseText | SolanaMaterial;

export type Consent = {
  /** Pure on EVM and TRON. */
  buildRelease(input: SpendInput, signal: AbortSignal): Promise<ReleaseMaterial>;
  /**
   * EVM, TRON. Throws `bad_signature` unless the contract takes the signature. A contract's own
   * (EIP-1271) is asked of the nodes.
   */
  checkRelease?(terms: EscrowTerms, signature: string, signal: AbortSignal): Promise<void>;
};
