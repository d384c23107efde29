// An operator's key on one chain that pays for claims and refunds which others may leave undone,
// and for fundings by their funder's signature. An escrow pays the addresses fixed in its terms
// whoever sends: such a key decides over nothing but its own coins. Families: EVM, TRON and
// Solana; a Bitcoin claim needs its receiver's signature.

import type { ChainKey } from '../../core/families.ts';
import type { Secret } from '../../core/hashlock.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { Batch } from '../interface/batches.ts';
import type { ReadTransaction } from '../interface/sending.ts';

/** What is sent. `void` takes a nonce that nothing else needs any more (EVM). */
export type GasWork =
  | {
      readonly verb: 'claim';
      readonly terms: EscrowTerms;
      readonly secret: Secret;
      /**
       * Whether a chain has shown the secret already. One that none has is told to no node before
       * its claim is sent: the claim is tried with another secret where that can be, and takes the
       * most gas that is allowed where it cannot.
       */
      readonly isPublic: boolean;
    }
  | { readonly verb: 'refund'; readonly terms: EscrowTerms }
  /** EVM and TRON: at once, all of them or none. Every secret must be public. */
  | { readonly verb: 'batch'; readonly batch: Batch }
  /** EVM, of a token: by the funder's signature (EIP-3009), which binds all of the terms. */
  | { readonly verb: 'fund'; readonly terms: EscrowTerms; readonly signature: string }
  | { readonly verb: 'void' };

/** A signed transaction of the key; `raw` goes to the chain by the adapter's `broadcast`. */
export type GasTransaction = ReadTransaction & {
  /** EVM; null elsewhere. */
  readonly nonce: number | null;
  /** What it offers, in the family's own unit: EVM wei of `maxFeePerGas`, Solana micro-lamports a
   * compute unit, TRON sun of `fee_limit`. A replacement offers more. */
  readonly offer: bigint;
  /** The most that it can cost, base units of the native coin: fees, and rent that it advances. */
  readonly mostCost: bigint;
  /**
   * Unix seconds by the chain's clock after which no block takes it; null where it never dies by
   * itself (EVM). Solana counts blocks: it holds while they come no slower than every 1.2 s.
   */
  readonly diesAt: number | null;
  /** EVM: the best block by the node that was asked, when it was signed. */
  readonly height?: number;
};

/**
 * Why paying more would help. `price`: blocks take more than it offers at most. `passed over`: it
 * offers enough, and blocks come without it.
 */
export type Outbid = 'price' | 'passed over';

export type Paid = {
  /** Base units of the native coin, fees and rent: the highest that a node says. */
  readonly cost: bigint;
  /** How many nodes say what it has cost. */
  readonly said: number;
};

/**
 * By the best block, so a reorganisation changes it. `failed`: on chain without effect. `gone`: no
 * block can take it any more and none has. Only `deep` stays.
 */
export type GasFate = 'unknown' | 'pending' | 'mined' | 'deep' | 'failed' | 'gone';

export type GasSent = Pick<GasTransaction, 'txid' | 'nonce' | 'diesAt'> & {
  /** EVM: its nonce is known to be used up for good, whatever a node that is behind says. */
  readonly isPast?: boolean;
};

export type CountAsked = {
  /** Above it no node is believed alone while another may still answer. */
  readonly most?: number;
  /** How long each node has for its answer; default: what every call has. */
  readonly answerMs?: number;
};

export type GasSlot = {
  /** EVM: which nonce to take; null elsewhere. */
  readonly nonce: number | null;
  /**
   * EVM: what it replaces; it offers as much more as nodes want of a replacement, tip included.
   * Null elsewhere: nothing there takes the place of what was signed, which ends by itself.
   */
  readonly above: Pick<GasTransaction, 'offer' | 'raw'> | null;
  /** Base units: nothing that could cost more is signed (`fee_above_limit`). */
  readonly mostCost: bigint;
  /**
   * Solana: the receiver's token account must be there, since the key pays for none, whatever
   * becomes of it later. Without this it is made where it is missing.
   */
  readonly withoutAccount?: boolean;
};

/** What some work would cost now, at most. */
export type GasQuote = {
  /** Base units of the native coin. */
  readonly mostCost: bigint;
  /** Solana: whether it makes the receiver's token account, whose rent stays with the receiver. */
  readonly makesAccount: boolean;
};

export type GasAccount = {
  readonly chain: ChainKey;
  readonly address: string;
  /** How many escrows one transaction may settle; absent: one. */
  readonly mostInBatch?: number;
  /** Base units of the native coin. */
  balance(signal: AbortSignal): Promise<bigint>;
  /**
   * EVM: how many transactions of the key are in blocks, so the lowest free nonce; else null. Of
   * several nodes one that answers long before the others decides alone, but nothing above
   * `most`: there a second answer is waited for, unless all others fail.
   */
  minedNonce(signal: AbortSignal, asked?: CountAsked): Promise<number | null>;
  /**
   * EVM: the same with what waits in the node's mempool, as long as no nonce is missing. What it
   * counts and we do not know was signed with this key before a backup was restored. Of several
   * nodes one alone decides nothing above `most`, as of what is mined.
   */
  pendingNonce?(signal: AbortSignal, asked?: CountAsked): Promise<number>;
  /** EVM: what each node that answers says of the same, the lowest first. */
  pendingNonces?(signal: AbortSignal): Promise<readonly number[]>;
  /**
   * What one such transaction costs at fees that 99.9 % of times stay below: what must be at hand
   * for one that has to land. Base units.
   */
  reserve(work: GasWork, signal: AbortSignal): Promise<bigint>;
  /**
   * Tries it as `sign` does, and signs nothing. Throws what `sign` throws. Of a claim whose secret
   * no chain has shown the payment may be left untried, for whoever asks to have tried.
   */
  quote(work: GasWork, signal: AbortSignal): Promise<GasQuote>;
  /**
   * Tries it on the node and signs it. Throws `nothing_there` or `payout_would_fail` when the
   * chain would refuse it now (too early or too late by the chain's clock included),
   * `fee_above_limit` when it could cost more than `mostCost`, `wrong_secret`. Of a funding:
   * `funding_would_fail`, and `bad_signature` where it is none of the funder for these terms.
   */
  sign(work: GasWork, slot: GasSlot, signal: AbortSignal): Promise<GasTransaction>;
  /**
   * EVM: whether paying more would help something signed that no block has; null: it would not, as
   * where no block came since, or its tip is at the policy's bound. `refused`: no node takes it at
   * its fee, so that no block can have passed it over.
   */
  outbid?(
    sent: { readonly raw: string; readonly height: number | null; readonly refused: boolean },
    signal: AbortSignal,
  ): Promise<Outbid | null>;
  fate(sent: GasSent, signal: AbortSignal): Promise<GasFate>;
  /**
   * What nodes say that one on chain has cost; null where none can tell. Nothing but their word:
   * whoever counts it bounds it.
   */
  paid?(txid: string, signal: AbortSignal): Promise<Paid | null>;
};
