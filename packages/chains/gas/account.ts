// An operator's key that pays for claims, refunds and signed fundings that others leave undone.
// Escrows pay fixed addresses, so it decides over its own coins only. EVM, TRON, Solana.

import type { ChainKey } from '@parley/core/families.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { ReadTransaction } from '../interface/sending.ts';

/** The transaction that is sent. `void` takes a nonce that nothing else needs any more (EVM). */
export type GasWork =
  | {
      readonly verb: 'claim';
      readonly terms: EscrowTerms;
      readonly secret: Secret;
      /** It goes to no node before its claim: that is tried with another, or not at all. */
      readonly isPublic: boolean;
    }
  | { readonly verb: 'refund'; readonly terms: EscrowTerms }
  /** EVM, of a token: by the funder's signature (EIP-3009), which binds all of the terms. */
  | {
      readonly verb: 'fund';
      readonly terms: EscrowTerms;
      readonly signature: string;
      /** The payee's, for a lane of its own. */
      readonly laneSignature?: string;
    }
  | { readonly verb: 'void' };

/** A signed transaction of the key; `raw` goes to the chain by the adapter's `broadcast`. */
export type GasTransaction = ReadTransaction & {
  /** EVM; null elsewhere. */
  readonly nonce: number | null;
  /** In the family's unit: wei of `maxFeePerGas`, micro-lamports a unit, sun of `fee_limit`. */
  readonly offer: bigint;
  /** The most that it can cost, base units of the native coin: fees, and rent that it advances. */
  readonly mostCost: bigint;
  /** Unix seconds by the chain's clock after which no block takes it; null: never (EVM). */
  readonly diesAt: number | null;
  readonly height?: number;
};

/** `price`: blocks take more than it offers. `passed over`: they come without it all the same. */
export type Outbid = 'price' | 'passed over';

export type Paid = {
  /** Base units of the native coin, fees and rent: the highest that a node says. */
  readonly cost: bigint;
  readonly said: number;
};

/** By the best block. `failed`: without effect. `gone`: no block can take it. Only `deep` stays. */
export type GasOutcome = 'unknown' | 'pending' | 'mined' | 'deep' | 'failed' | 'gone';

export type GasSent = Pick<GasTransaction, 'txid' | 'nonce' | 'diesAt'> & {
  /** EVM: its nonce is known to be used up for good, whatever a node that is behind says. */
  readonly isPast?: boolean;
};

export type CountAsked = {
  /** Above it no node is believed alone while another may still answer. */
  readonly most?: number;
  /** How long each node has for its answer; default: the limit of every call. */
  readonly answerMs?: number;
};

export type GasSlot = {
  /** EVM: which nonce to take; null elsewhere. */
  readonly nonce: number | null;
  /** EVM: the transaction that it replaces, by as much more as nodes want. Null elsewhere. */
  readonly above: Pick<GasTransaction, 'offer' | 'raw'> | null;
  /** Base units: a transaction that could cost more is not signed (`fee_above_limit`). */
  readonly mostCost: bigint;
};

export type GasAccount = {
  readonly chain: ChainKey;
  readonly address: string;
  balance(signal: AbortSignal): Promise<bigint>;
  /** EVM: the lowest free nonce by blocks; else null. Above `most` no early node decides alone. */
  minedNonce(signal: AbortSignal, asked?: CountAsked): Promise<number | null>;
  /** EVM: the mempool included. Above `most` one node decides nothing. */
  pendingNonce?(signal: AbortSignal, asked?: CountAsked): Promise<number>;
  /** EVM: the same count by each node that answers, the lowest first. */
  pendingNonces?(signal: AbortSignal): Promise<readonly number[]>;
  /** Its cost at fees that 99.9 % of times stay below. Base units. */
  reserve(work: GasWork, signal: AbortSignal): Promise<bigint>;
  /** The most that it can cost. Tries it as `sign` does. An unshown claim may be left untried. */
  quote(work: GasWork, signal: AbortSignal): Promise<bigint>;
  /**
   * Tries and signs it. Throws `nothing_there`, `payout_would_fail`, `fee_above_limit` above
   * `mostCost`, `wrong_secret`; for a funding `funding_would_fail`, `bad_signature`.
   */
  sign(work: GasWork, slot: GasSlot, signal: AbortSignal): Promise<GasTransaction>;
  /** EVM: whether paying more would help; null: not. `refused`: no node takes its fee. */
  outbid?(
    sent: { readonly raw: string; readonly height: number | null; readonly refused: boolean },
    signal: AbortSignal,
  ): Promise<Outbid | null>;
  outcome(sent: GasSent, signal: AbortSignal): Promise<GasOutcome>;
  /** By the nodes' word alone, which the caller bounds; null: no node can tell. */
  paid?(txid: string, signal: AbortSignal): Promise<Paid | null>;
};
