// The market's answers, as its description has them (generated.ts). Amounts are strings of base
// units, chain times Unix seconds. The types prove no value: verify.ts checks.

import type { Aliases } from '@parley/chains/interface/aliases.ts';
import type { Material } from '@parley/chains/interface/material.ts';
import type { WebhookTopic } from '@parley/core/events.ts';
import type {
  Authorization,
  LegCosts,
  ListedAsset,
  PairPrice,
  QuoteCreatedFrame,
  ScheduledReply,
  Standing,
  ThreadAcceptedFrame,
  ThreadClosedFrame,
  ThreadProposedFrame,
  WaitingAsset,
} from './generated.ts';

export type { Scope } from '@parley/core/scopes.ts';
export type {
  AccountRecord,
  ApiKey,
  Asset,
  CreateRfq,
  Fiat,
  LegCosts,
  LegPreview,
  Level,
  ListedWebhook,
  MarketRules,
  MarketStatus,
  Me,
  PairHistory,
  PairLeg,
  PairList,
  PairPrice,
  PairTerms as Pair,
  ProvenWallet,
  PublishedLevels,
  PublishLevels,
  QuoteOutcome,
  Rfq,
  Standing,
  Swap,
  SwapLeg,
  Thread,
  WalletsOfFamily,
  WantedLevel,
  Webhook,
} from './generated.ts';

export type Proof = Authorization;
export type ListingAnswer = ListedAsset | WaitingAsset;
export type ScheduledRefunds = ScheduledReply['scheduledRefunds'];
export type LegCost = LegCosts['fund'];
export type Agreement = PairPrice['agreements'][number];
export type StandingCounts = Standing['high'];

/** The `thread.` ones go to webhooks that name them, and to no other. */
export type WebhookEvent = WebhookTopic;

/** A builder's answer: the bytes to sign, and until when they may be sent (Unix seconds). */
export type Built = Material & Aliases & { validUntil?: number | null };

export type Page<Name extends string, T> = { [K in Name]: T[] } & { nextCursor: string | null };

type Without<T, Name extends string> = T extends unknown ? Readonly<Omit<T, Name>> : never;

/**
 * Events of your own threads, as two channels carry them: by webhook with `deliveryId`, and on the
 * feed.
 */
export type ThreadEvent = Without<
  ThreadAcceptedFrame | ThreadProposedFrame | ThreadClosedFrame,
  'eventSeq' | 'seq'
>;

/** An event on the feed. `eventSeq`: its number among all of your account. */
export type FeedEvent = Without<
  ThreadAcceptedFrame | ThreadProposedFrame | ThreadClosedFrame | QuoteCreatedFrame,
  'seq'
>;
