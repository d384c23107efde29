// The one interface every chain keeps. An adapter reads its chain and builds unsigned bytes; it
// knows no database, no HTTP status and no key. Every call that touches a node takes an
// AbortSignal and throws `chain_timeout` when it runs out (nothing changed then) or
// `chain_unavailable` when the node refuses or is gone.

import type { EscrowFacts } from '../core/facts.ts';
import type { ChainKey, Family } from '../core/families.ts';
import type { Hex32 } from '../core/hashlock.ts';
import type { StuckFunding } from '../core/next.ts';
import type { ChainPolicy } from '../core/policy.ts';
import type { Contract } from '../core/rules.ts';
import type { Escrow, EscrowTerms } from '../core/terms.ts';
import type { Batch, BuiltBatch } from './interface/batches.ts';
import type { Allowance, FundWays } from './interface/fund-ways.ts';
import type { HashlockReader } from './interface/hashlocks.ts';
import type { EvmCall, Material, Signed } from './interface/material.ts';
import type { ScheduledRefunds } from './interface/scheduled.ts';
import type { Care } from './kit/turns.ts';
import type { Inspection, PowerRules } from './tokens/inspection.ts';
import type { LaunchReader } from './tokens/launches.ts';

/** An escrow to follow. `requiredConfirmations` is the depth its amount wants. */
export type WatchedEscrow = {
  readonly address: string;
  readonly terms: EscrowTerms;
  readonly requiredConfirmations: number;
  /** Unix seconds: no payment to it can be older than this (its swap's agreement). */
  readonly since: number;
  /** What was last stored of it: all there is where its chain has forgotten (a lane used again). */
  readonly stored?: EscrowFacts;
};

export type Heads = {
  /** Height and hash of the best block. */
  readonly height: number;
  readonly hash: string;
  /** The chain's own clock, Unix seconds: Bitcoin median time past, EVM time of the best block. */
  readonly clock: number;
};

/** What a chain shows at one block. */
export type Look = {
  readonly heads: Heads;
  /** Of the escrows that were asked for, in their order. */
  readonly facts: readonly EscrowFacts[];
};

export type Changes = {
  /** Addresses of watched escrows about which something may have changed. */
  readonly touched: readonly string[];
  readonly heads: Heads;
};

/** What a signed transaction would do to one escrow. */
export type Touch = {
  readonly escrow: string;
  readonly verb: 'fund' | 'claim' | 'refund';
  /** The preimage that a claim shows. */
  readonly secret: Hex32 | null;
  /** EVM: of a funding that anybody may send, what is said to be its funder's signature. */
  readonly authorization?: string;
};

/** A signed transaction, read before it is sent. */
export type ReadTransaction = {
  /** The id it will have on chain, computed from the bytes. */
  readonly txid: string;
  /** The bytes to send, as the node takes them. */
  readonly raw: string;
  readonly touches: readonly Touch[];
  /**
   * What it funds and may be an escrow, watched or not: one that is paid once its swap has ended,
   * a Bitcoin escrow or one that its leg moved off, is whoever's has the secret.
   */
  readonly pays?: readonly string[];
  /** Who pays for it, where that need not be the party that a claim pays. */
  readonly payer?: string;
};

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

/** Base units of the native coin: what it takes, and what there is. */
export type Shortage = Warning & { readonly need: bigint; readonly has: bigint };

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
export type Offered = { readonly gas: bigint; readonly feePerGas: bigint | null };

/** A claim or refund to be tried. The secret is null while nobody may hear it. */
export type Spend =
  | { readonly verb: 'claim'; readonly terms: EscrowTerms; readonly secret: Hex32 | null }
  | { readonly verb: 'refund'; readonly terms: EscrowTerms };

/** What a lane holds at the best block. */
export type LaneState = {
  /** Of its last escrow; 0: never used. The next funding must bring one more. */
  readonly counter: number;
  /** Whether that escrow still holds money. */
  readonly isOpen: boolean;
};

/** The lanes of a chain whose escrows lie in contracts, each of which has words of its own. */
export type Lanes = {
  /** All that may hold money. */
  readonly contracts: readonly string[];
  /** Those of them that take new escrows. */
  readonly open: readonly string[];
  /** The one of `open` that a new escrow of this funder goes to. */
  contractFor(funder: string): string;
  /** Lanes of one funder in a contract by their numbers (`Lane.number`), at most 100. */
  read(
    of: { readonly contract: string; readonly funder: string },
    numbers: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly LaneState[]>;
};

/** EVM: what a funder asks its own node before it signs a funding. All of the best block. */
export type SigningReads = {
  /** DOMAIN_SEPARATOR() of a token, hex with 0x; null: it has none. */
  separator(token: string, signal: AbortSignal): Promise<string | null>;
  /** nonces() of a token with permits; null: it has none. */
  permitNonce(token: string, owner: string, signal: AbortSignal): Promise<bigint | null>;
  /** null where the call works now, without a value; else why not. */
  trial(call: EvmCall, from: string, signal: AbortSignal): Promise<string | null>;
};

/** What a preflight is for. */
export type About = 'payout' | 'funding' | 'claim';

/** What gates ask beside a look. */
export type Asks = Pick<ChainAdapter, 'lanes' | 'preflight' | 'claimShortage' | 'buildFund'>;

export type ChainAdapter = {
  readonly chain: ChainKey;
  readonly family: Family;
  readonly policy: ChainPolicy;
  /** What holds the escrows that it plans. */
  readonly contract: Contract;

  /** The address in canonical form. Throws `bad_address`, or `wrong_network` with both names. */
  parseAddress(text: string): string;
  /** The escrow of these terms. Pure. Where there are lanes the terms name one. */
  plan(terms: EscrowTerms): Escrow;
  /** Absent where each escrow has an address of its own. */
  readonly lanes?: Lanes;

  /** Follow these escrows from now on; known ones are left alone. Call again after a restart. */
  watch(escrows: readonly WatchedEscrow[]): void;
  /** Stop following: the escrow is empty at depth and its swap has ended. */
  unwatch(addresses: readonly string[]): void;
  /**
   * Which watched escrows to look at again, since the last call: new blocks and mempool, blocks
   * taken back, and transactions that came to depth. One caller at a time. Work grows with what
   * happened on the chain, not with the number of escrows.
   */
  changes(signal: AbortSignal): Promise<Changes>;

  /**
   * The best block, and what these escrows show at it, at most 50: gates go by its clock. They need
   * not be watched, and are not from then on. TRON: a call there names no block. Where each block
   * is another before the node has answered, the facts may be of one before that of the clock.
   */
  look(escrows: readonly WatchedEscrow[], signal: AbortSignal): Promise<Look>;
  /**
   * What gates ask beside a look. EVM: of the look's block, so that gates are decided on one block.
   * TRON answers of no block that was: there it is of the moment it is asked. On both a question is
   * asked once, by the look or by the first gate that has it. Absent on Bitcoin and Solana: what is
   * asked there beside a look is of its own moment, and each gate asks anew.
   */
  at?(heads: Heads): Asks;
  /** A look at no escrow. */
  heads(signal: AbortSignal): Promise<Heads>;
  /** A look at one escrow, where no clock matters. */
  readEscrow(escrow: WatchedEscrow, signal: AbortSignal): Promise<EscrowFacts>;

  /**
   * Where a second source of the chain is configured: throws `sources_disagree` when the two differ
   * about the head or this escrow's funding. Asked before money or a secret relies on the facts;
   * never before a refund, or a claim with a public secret.
   */
  mustAgree?(escrow: WatchedEscrow, signal: AbortSignal): Promise<void>;

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
  held?(terms: EscrowTerms, signal: AbortSignal): Promise<bigint>;

  /**
   * Whether the parties of a leg can pay for what they have to send; where a chain asks for more
   * than a fee out of the coin that moves.
   */
  warnings?(terms: EscrowTerms, signal: AbortSignal): Promise<readonly Warning[]>;

  /**
   * Bitcoin: what the funder of this escrow should hear of a funding that waits too long for its
   * first block; it was to be sent by `sendBy` (Unix seconds). null: nothing.
   */
  stuckFunding?(
    escrow: WatchedEscrow,
    sendBy: number,
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

  /** Fundings by signature. Absent where no token takes them. */
  readonly ways?: FundWays;
  /** Absent where no token is funded by a signature alone. */
  readonly signing?: SigningReads;

  /** Unsigned funding. */
  buildFund(input: BuildInput, signal: AbortSignal): Promise<Material>;
  /**
   * Unsigned claim. Throws `nothing_there` when the escrow holds no payment, and what `mustAgree`
   * throws unless the secret is public.
   */
  buildClaim(input: SpendInput, secret: Hex32, signal: AbortSignal): Promise<Material>;
  /** Unsigned refund of everything in the escrow. Throws `nothing_there` when it is empty. */
  buildRefund(input: SpendInput, signal: AbortSignal): Promise<Material>;

  /**
   * Reads signed bytes: their txid and which watched escrows they touch. What it gives as `raw` is
   * read again at little cost. Throws `bad_transaction` when they are malformed or for another
   * network. `care`: of bytes that anybody may have made up.
   */
  readSigned(signed: Signed, signal: AbortSignal, care?: Care): Promise<ReadTransaction>;
  /**
   * Offers it to every source. Bytes already known or mined give the same txid again. Throws
   * `refused_by_node` with the words of all sources that can have it, and `chain_unavailable` only
   * where none was given it: no connection, turned away before any node, or the check of the nodes
   * failed before. With either no source has it, nor a secret in it, but for a claim or refund on
   * Bitcoin that the first refuses while the second is silent. What else it throws says nothing of
   * whether one has it. Once one has it, a secret in it is public: `readEscrow` shows it at once
   * and the next `changes` names its escrows.
   */
  broadcast(transaction: ReadTransaction, signal: AbortSignal): Promise<string>;
  /**
   * Whether the chain or its mempool has these very bytes, as far as its source can tell: sending
   * them again then changes nothing.
   */
  isKnown(transaction: ReadTransaction, signal: AbortSignal): Promise<boolean>;

  /**
   * Looks at a token (canonical address) that might be listed. Throws `not_a_token` where there is
   * none at the address. What the node cannot answer throws as everywhere and says nothing of the
   * token. Absent where a chain has no tokens.
   */
  inspect?(token: string, rules: PowerRules, signal: AbortSignal): Promise<Inspection>;

  /** What launchpads launch. Absent where a chain has no tokens. */
  readonly launches?: LaunchReader;

  /**
   * Every hashlock that the chain shows, escrows of strangers included: read back when a market has
   * lost what it agreed on. Absent: not read, and an operator has to say that it need not be.
   */
  readonly hashlocks?: HashlockReader;

  /**
   * Unsigned settling of many escrows that `from` sends, tried first. Throws `payout_would_fail`
   * where one payment fails, which reverts all. Absent where each is settled by itself.
   */
  buildBatch?(batch: Batch, from: string, signal: AbortSignal): Promise<BuiltBatch>;

  /** Signed refunds to be sent later. Absent where anybody may send a refund. */
  readonly scheduledRefunds?: ScheduledRefunds;

  /** Refuses amounts that could not be claimed (`amount_too_small`): dust, fee above value. */
  checkAmount(token: string | null, amount: bigint, signal: AbortSignal): Promise<void>;

  close(): Promise<void>;
};
