// What the market answers. Amounts are strings of base units, chain times Unix seconds. Nothing is
// believed: verify.ts checks.

import type { Aliases } from '../chains/interface/aliases.ts';
import type { Material } from '../chains/interface/material.ts';
import type { Deadlines } from '../core/deadlines.ts';
import type { Expected } from '../core/expected.ts';
import type { LegStatus } from '../core/facts.ts';
import type { Family } from '../core/families.ts';
import type { Hashlock, Secret } from '../core/hashlock.ts';
import type { Step } from '../core/next.ts';
import type { ChainPolicy } from '../core/policy.ts';
import type { Contract, Rules } from '../core/rules.ts';
import type { SwapStatus } from '../core/status.ts';
import type { Lane } from '../core/terms.ts';
import type { Direction, LegName, Party, Role } from '../core/trade.ts';

export type Scope = 'read' | 'taker' | 'maker';

export type ApiKey = {
  id: string;
  key: string;
  prefix: string;
  scopes: Scope[];
  name: string | null;
  expiresAt: string;
  replaced: boolean;
  /** Of an account that holds several keys: how a leaked one is revoked. */
  note?: string | null;
};

export type WalletsOfFamily = { login: string | null; proven: string[] };

export type Me = {
  userId: string;
  scopes: Scope[];
  wallets: Record<Family, WalletsOfFamily>;
};

export type Proof = { address: string; message: string; signature: string };

export type ProvenWallet = {
  address: string;
  family: Family;
  proven: boolean;
  authorised?: boolean;
};

export type Asset = {
  id: string;
  chain: string;
  symbol: string;
  address: string | null;
  decimals: number;
  enabled: boolean;
  verified: boolean;
  source: string;
};

/** `notChecked`: checks that the market cannot make, having nobody to ask. */
export type ListingAnswer =
  | { status: 'listed'; asset: Asset; notChecked?: string[] }
  | { status: 'pending' | 'closed'; reasons: string[]; notChecked?: string[] };

export type RfqStatus = 'open' | 'negotiating' | 'agreed' | 'cancelled' | 'expired';

export type Rfq = {
  id: string;
  direction: Direction;
  baseAssetId: string;
  baseAmount: string;
  quoteAssetId: string;
  status: RfqStatus;
  expiresAt: string;
  createdAt: string;
  visibility: 'public' | 'private';
  askAmount: string | null;
  creatorId: string;
  targetAddress?: string | null;
  /** Settled swaps that an account must have to quote; null: none. Older markets do not say. */
  minSettled?: number | null;
  creatorStanding?: Standing | null;
};

export type CreateRfq = {
  direction: Direction;
  baseAssetId: string;
  baseAmount: string;
  quoteAssetId: string;
  ttlSeconds: number;
  visibility?: 'public' | 'private';
  askAmount?: string;
  targetAddress?: string;
  /** Takes quotes of accounts with at least so many settled swaps. */
  minSettled?: number;
};

export type Thread = {
  id: string;
  rfqId: string;
  makerId: string;
  /** Older markets do not say. */
  makerStanding?: Standing | null;
  takerId: string;
  status: 'open' | 'agreed' | 'closed';
  quoteAmount: string;
  proposedBy: Party;
  makerAccepted: boolean;
  takerAccepted: boolean;
  /** When the acceptance that stands lapses (RFC 3339); null: none stands. */
  acceptanceExpiresAt?: string | null;
  /** From when on nobody may accept this price (RFC 3339); null: it has no end of its own. */
  quoteExpiresAt?: string | null;
  /** When the maker withdrew its quote, which closed the thread until it quotes again. */
  withdrawnAt?: string | null;
  initiator: Party;
  legs: Record<LegName, LegPreview>;
  /** What an acceptance would mean now, or what the swap began with; null: nobody knows. */
  rules: Rules | null;
  swapId: string | null;
  messages: { by: Party; quoteAmount: string; at: string }[];
  rfq: Rfq;
  createdAt: string;
  updatedAt: string;
};

/** What became of one quote of many: as `quote` would have been answered. */
export type QuoteOutcome = {
  /** 201: a thread was opened; 200: its price moved; else refused. */
  status: number;
  rfqId: string;
  threadId?: string;
  quoteExpiresAt?: string | null;
  error?: string;
  code?: string;
};

export type LegPreview = {
  chain: string;
  assetId: string;
  amount: string;
  long: boolean;
  timelockSeconds: number;
};

export type SwapLeg = {
  leg: LegName;
  chain: string;
  assetId: string;
  amount: string;
  funder: Party;
  long: boolean;
  status: LegStatus;
  /** `unknown`: the market cannot tell what became of it. */
  outcome?: 'unknown' | null;
  timelock: number;
  escrow: string | null;
  /** Where a contract holds many escrows: the word of the funder that this one takes. */
  lane?: Lane | null;
  redeemScript: string | null;
  payoutAddress: string | null;
  refundAddress: string | null;
  /** Bitcoin legs: the compressed keys in the script. */
  payoutPubkey?: string | null;
  refundPubkey?: string | null;
  fundTx: string | null;
  claimTx: string | null;
  refundTx: string | null;
  /** Who sent it: the market's gas key, or anybody else. */
  claimedBy?: 'party' | 'keeper' | null;
  refundedBy?: 'party' | 'keeper' | null;
  confirmations: number;
  requiredConfirmations: number;
  /** Base units in the escrow, as the market saw it last. */
  balance?: string;
  /** Solana: what a claim left of the funder's deposit, and from when on a refund takes it. */
  rentLeft?: { lamports: string; from: number | null } | null;
  /** Bitcoin, of the leg that you fund. */
  scheduledRefunds?: Omit<ScheduledRefunds, 'escrow' | 'txids'> | null;
};

/** Signed refunds that the market keeps; rates in sat per vbyte. */
export type ScheduledRefunds = {
  escrow: string;
  txids: string[];
  count: number;
  lowestFeeRate: number;
  highestFeeRate: number;
  sentTxid: string | null;
};

export type Swap = {
  id: string;
  threadId: string;
  rfqId: string;
  status: SwapStatus;
  hashlock: Hashlock;
  secret: Secret | null;
  role: Role;
  initiatorUserId: string;
  makerId: string;
  takerId: string;
  legs: Record<LegName, SwapLeg>;
  deadlines: Deadlines;
  /** What it was agreed under; null: agreed before they were kept. */
  rules?: Rules | null;
  next: Step[];
  createdAt: string;
  updatedAt: string;
};

/** Of one transaction, in base units of its chain's native coin; `most` is to be had for it. */
export type LegCost = { usual: string; most: string };

export type LegCosts = {
  fund: LegCost;
  claim: LegCost;
  refund: LegCost;
  /** Bitcoin: a claim or refund pays its fee out of the amount. */
  settlesFromAmount: boolean;
  /** Solana: lamports that a funding locks, and what of them a claim leaves locked. */
  deposit: { locked: string; keptByClaim: string } | null;
};

export type PairLeg = {
  chain: string;
  assetId: string;
  long: boolean;
  timelockSeconds: number;
  confirmations: number;
  /** Less is refused now, in base units of the asset; null: the chain does not tell. */
  leastAmount: string | null;
  costs: LegCosts | null;
};

/** What a trade would mean; seconds from the agreement. */
export type Pair = {
  direction: Direction;
  baseAssetId: string;
  quoteAssetId: string;
  initiator: Party;
  rules: Rules;
  legs: Record<LegName, PairLeg>;
  initiatorFundBySeconds: number;
  counterpartyFundBySeconds: number;
  revealBySeconds: number;
  expected: Record<Role, Expected> | null;
};

/** A public agreement that both sides funded; `direction` is the taker's. */
export type Agreement = {
  direction: Direction;
  baseAmount: string;
  quoteAmount: string;
  agreedAt: string;
};

/** `median`: the middle one by price; null of fewer than three. A hint, no quote. */
export type PairPrice = {
  baseAssetId: string;
  quoteAssetId: string;
  median: Agreement | null;
  agreements: Agreement[];
  windowSeconds: number;
};

/** One of a maker's prices for a pair, as it publishes it. */
export type WantedLevel = {
  /** What the taker does: `sell_base` is the maker's bid, `buy_base` its ask. */
  direction: Direction;
  /** For RFQs of up to so many base units. */
  baseAmount: string;
  /** For all of `baseAmount`: their quotient is the price. */
  quoteAmount: string;
  leastBaseAmount?: string;
  /** 10 to 3 600, from the market's receipt. */
  validForSeconds: number;
};

/** All levels of yours on a pair, 20 at most, in place of those before. */
export type PublishLevels = {
  baseAssetId: string;
  quoteAssetId: string;
  levels: readonly WantedLevel[];
};

/** `endsAt`: when the first of them ends; null of none. */
export type PublishedLevels = {
  baseAssetId: string;
  quoteAssetId: string;
  published: number;
  endsAt: string | null;
};

/** A price at which a maker would quote. It promises nothing. */
export type Level = {
  makerId: string;
  makerStanding: Standing | null;
  direction: Direction;
  baseAssetId: string;
  quoteAssetId: string;
  baseAmount: string;
  quoteAmount: string;
  leastBaseAmount: string | null;
  publishedAt: string;
  expiresAt: string;
};

/** `agreed` and `settled` count a counterparty once a day, the others every swap. */
export type StandingCounts = {
  agreed: number;
  settled: number;
  /** Swaps that ended because it did not fund or reveal in its turn. */
  abandoned: number;
  /** Swaps in which something was locked and went back, by whoever's fault. */
  refunded: number;
};

/** How an account kept its agreements, in whole days that are over. */
export type Standing = StandingCounts & {
  countedFrom: string;
  countedUntil: string;
  /** Of them, swaps with an amount from `highValueFrom` of its asset on. */
  high: StandingCounts;
  medianFundSeconds: number | null;
};

/** Of the other side of a thread. */
export type AccountRecord = Standing & { accountId: string; since: string };

export type MarketStatus = {
  at: string;
  network: string;
  agrees: boolean;
  waitsFor: string[];
  chains: {
    chain: string;
    height: number | null;
    clock: number | null;
    seenAt: string | null;
    blockSeconds: number | null;
    isQuiet: boolean;
    haltedSince: string | null;
    /** For who asks, within the market's bounds; older markets do not say. */
    sendsClaims?: boolean;
    sendsFundings?: boolean;
  }[];
};

/** The formula of all times, and each chain's contract and policy. */
export type MarketRules = {
  formula: number;
  /** How many requests an account has in a window: more, the more swaps of it were settled. */
  limits?: {
    windowSeconds: number;
    requests: number;
    requestsOfSettledSwap: number;
    mostRequests: number;
    settledDays: number;
  };
  chains: {
    chain: string;
    family: Family;
    contract: Contract & { id: string };
    policy: ChainPolicy;
    policyDigest: string;
  }[];
};

/** The `thread.` ones go to webhooks that name them, and to no other. */
export type WebhookEvent =
  | 'quote.created'
  | `swap.${'agreed' | 'funded' | 'settled' | 'refunded' | 'half_settled' | 'reorged'}`
  | 'secret.revealed'
  | `thread.${'accepted' | 'proposed' | 'closed'}`;

export type Webhook = {
  id: string;
  url: string;
  /** Empty: all of them. */
  events: string[];
  /** false: it failed for a day, and is sent nothing until a ping is answered 2xx. */
  enabled: boolean;
};

/** `lastStatus` 0: no answer; null: nothing was sent yet. */
export type ListedWebhook = Webhook & {
  lastStatus: number | null;
  lastError: string | null;
  lastDeliveryAt: string | null;
};

/** What a builder answers: the bytes to sign, and until when they may be sent (Unix seconds). */
export type Built = Material & Aliases & { validUntil?: number | null };

export type Page<Name extends string, T> = { [K in Name]: T[] } & { nextCursor: string | null };

type OfThread = {
  readonly threadId: string;
  readonly rfqId: string;
  /** RFC 3339 */
  readonly createdAt: string;
};

type Offered = {
  readonly quoteAmount: string;
  /** RFC 3339; only of a price that has an end of its own. */
  readonly quoteExpiresAt?: string;
};

/** Of your own threads, for who names them: by webhook with `deliveryId`, and on the feed. */
export type ThreadEvent =
  /** The other side accepted: until then, or, with `swapId`, both have. */
  | (OfThread & {
      readonly type: 'thread.accepted';
      readonly role: Party;
      readonly quoteAmount: string;
      readonly acceptanceExpiresAt: string | null;
      readonly swapId: string | null;
    })
  /** The taker named another price for your quote. */
  | (OfThread & Offered & { readonly type: 'thread.proposed' })
  /** Without a swap. `role` is yours. */
  | (OfThread & {
      readonly type: 'thread.closed';
      readonly role: Party;
      readonly reason: 'cancelled' | 'expired' | 'agreed' | 'withdrawn' | 'disconnected';
    });

/** An event on the feed. `eventSeq`: its number among all of your account. */
export type FeedEvent = { readonly eventSeq: number } & (
  | ThreadEvent
  /** A maker quoted your RFQ, or moved its price. */
  | (OfThread & Offered & { readonly type: 'quote.created' })
);
