// A spend of a Bitcoin escrow of Taproot that both sides sign together (bitcoin/musig.ts).

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { SpendInput } from './building.ts';
import type { InTurns } from './turns.ts';

export type SpendTogether = {
  readonly verb: 'claim' | 'refund';
  readonly outputs: readonly {
    readonly txid: string;
    readonly vout: number;
    readonly amount: BaseUnits;
  }[];
  readonly feeSats: BaseUnits;
  /** Where all of it goes less the fee: an address that the asking side chooses. */
  readonly paysTo: string;
};

export type CosignRequest = SpendTogether & {
  /** Public ones, one for each output: 66 bytes in hex. */
  readonly nonces: readonly string[];
};

export type CosignAnswer = {
  readonly nonces: readonly string[];
  /** Partial, one for each output: 32 bytes in hex. */
  readonly signatures: readonly string[];
};

export type Cosigning = {
  /**
   * The payments that it takes and its fee, as of a claim or refund by one side, paid to the address
   * of the terms; a refund may come before the timelock. Throws `nothing_there`, and `bad_field` on
   * an escrow of P2WSH.
   */
  planTogether(
    input: SpendInput,
    verb: SpendTogether['verb'],
    signal: AbortSignal,
  ): Promise<SpendTogether>;
  /**
   * Throws `bad_field` unless it takes payments of the escrow as the chain shows them,
   * `bad_fee_rate` where its fee is out of the bounds of such a spend, `bad_address` or
   * `wrong_network` where it pays no address of the network, and `bad_signature` on a nonce that is
   * none.
   */
  checkRequest(
    input: Pick<SpendInput, 'escrow' | 'isPublic'>,
    request: CosignRequest,
    inTurns: InTurns,
    signal: AbortSignal,
  ): Promise<void>;

  /** Throws `bad_signature` unless the asking side can finish the spend with it. Asks no node. */
  checkAnswer(
    terms: EscrowTerms,
    exchange: { readonly request: CosignRequest; readonly answer: CosignAnswer },
    inTurns: InTurns,
    signal: AbortSignal,
  ): Promise<void>;
};
