// Coming to an agreement, and out of it with a trade that is the customer's own.

import { type Deadlines, deadlines } from '@parley/core/deadlines.ts';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import type { Rules } from '@parley/core/rules.ts';
import type { Destination } from '@parley/core/terms.ts';
import {
  type Direction,
  givenByMaker,
  givenByTaker,
  initiatorOf,
  type LegName,
  type Party,
  type Role,
  roleOf,
} from '@parley/core/trade.ts';
import type { Unchecked } from '@parley/core/unchecked.ts';
import { type ChainSource, type ChainWallets, destinationIn } from './chains.ts';
import type { CallOptions, ParleyClient } from './client.ts';
import { aheadOfMarket, clockFault, lookAtBlocks } from './clock.ts';
import { SettleError, VerificationError } from './errors.ts';
import { isoTime } from './people.ts';
import { mustHaveRules } from './rules.ts';
import {
  isFundingSigned,
  mayBeFunded,
  mustBeOfThread,
  mustBeOnly,
  newHashlock,
  recordsOf,
  type Store,
  type SwapRecord,
} from './stores/store.ts';
import {
  defaultAcceptTtlSeconds,
  givenLeg,
  type OwnTrade,
  ownLegs,
  type PinnedAsset,
  type PinnedChains,
  standsUntil,
  timingsOf,
  type VerifiedSwap,
} from './trade.ts';
import type { Swap, Thread } from './types.ts';
import { clockToleranceSeconds, mustEqual, mustMatch, verifyAgreement } from './verify.ts';

export type Agreeing = {
  readonly client: ParleyClient;
  /** The customer's account, from `GET /v1/me`. */
  readonly userId: string;
  readonly rfqId: string;
  readonly threadId: string;
  /**
   * From here to `quoteAmount`: the customer's own request, or the terms that it decided to quote
   * on. Never a market's answer of that moment: the thread is compared with it. `taker`: it made
   * the RFQ.
   */
  readonly party: Party;
  /** The taker's direction: `sell_base` gives the base asset. */
  readonly direction: Direction;
  readonly base: PinnedAsset;
  readonly baseAmount: BaseUnits;
  readonly quote: PinnedAsset;
  /** The price the customer accepts, base units of the quote asset. */
  readonly quoteAmount: BaseUnits;
  /**
   * When that price ends, as the customer offered or saw it, by its own clock; null: it has no end.
   * An end that the thread shows counts too: the earlier one.
   */
  readonly priceEndsAt?: UnixSeconds | null;
  readonly chains: PinnedChains & ChainWallets;
  /** The customer's own on a chain, on Bitcoin with its key; default: its wallet there. */
  readonly destinationOn?: (chain: string) => Destination;
  readonly store: Store;
  readonly now: () => UnixSeconds | Promise<UnixSeconds>;
  /** Seconds for which the acceptance binds the customer; default 600, as the market has it. */
  readonly acceptTtlSeconds?: number;
};

export type Agreed = {
  readonly trade: OwnTrade;
  readonly swapId: string | null;
};

/** The result of an acceptance: the own trade without its hashlock, and its times. */
export type Examined = {
  readonly trade: OwnTrade;
  readonly role: Role;
  /** As if it was agreed now. */
  readonly deadlines: Deadlines;
};

/**
 * Checks a thread as `accept` would, and sends the market nothing. Throws as it does: first of
 * terms, then of rules, then of times.
 */
export async function examine(
  input: Omit<Agreeing, 'store'>,
  how: CallOptions = {},
): Promise<Examined> {
  const thread = await input.client.thread(input.threadId, how);
  const { trade, own } = await tradeOf(input, thread);
  mustLast(trade);
  mustFit(thread, own);
  mustInitiate(thread, own.long);
  return comesTo(trade, input.chains, Math.floor(await input.now()));
}

/** The own trade if it is agreed at that moment. */
export function comesTo(trade: OwnTrade, chains: PinnedChains, at: UnixSeconds): Examined {
  const own = ownLegs(trade, chains);
  const role = roleOf(trade.party, own.long);
  return { trade, role, deadlines: deadlines(at, timingsOf(own), own.long) };
}

/**
 * Accepts the current price; commits. The initiator's secret is kept before its hashlock is said.
 * Called again it says the same words, until a swap has begun: SettleError `hashlock_used`.
 * RulesError and VerificationError come before anything is said.
 */
export async function accept(input: Agreeing, how: CallOptions = {}): Promise<Agreed> {
  const { client, threadId, quoteAmount, store } = input;
  const thread = await client.thread(threadId, how);
  await mustBeOnTime(input, how);
  const { trade: fresh, own } = await tradeOf(input, thread);
  const kept = await store.getTrade(threadId);
  const since = kept !== null && isSame(kept, fresh, thread) ? kept : fresh;
  const isThere = since === kept && thread.swapId !== null;
  if (!isThere) mustLast(fresh);
  const rules = isThere ? null : mustFit(thread, own);
  const initiator = mustInitiate(thread, own.long) === fresh.party;
  // A lapsed acceptance may offer its hashlock again on the same thread, nowhere else.
  const hashlock = initiator ? (kept?.hashlock ?? (await newHashlock(store))) : null;
  const before = await recordsOf(store, { hashlock, threadId, rfqId: fresh.rfqId });
  const begun = before.find((record) => mayBeFunded(record) || record.publicSecret !== null);
  if (begun !== undefined) throw used(threadId, begun.swap.id);
  const { acceptedAt, swapSeenAt } = since;
  const seen = swapSeenAt === undefined ? {} : { swapSeenAt };
  const ends = endOf(since.priceEndsAt, fresh.priceEndsAt);
  const trade = { ...fresh, hashlock, acceptedAt, ...seen, ...ends };
  await store.putTrade(trade);
  const words = {
    quoteAmount: quoteAmount.toString(),
    ...(hashlock === null ? {} : { hashlock }),
    ...(rules === null ? {} : { rules }),
  };
  const { swap, thread: after } = await client.accept(threadId, words, how);
  const swapId = swap?.id ?? after.swapId;
  const other = before.find((record) => swapId !== null && record.swap.id !== swapId);
  if (other !== undefined) throw used(threadId, other.swap.id);
  if (swap === undefined) return { trade, swapId };
  const at = { swapId: swap.id, now: Math.floor(await input.now()) };
  return { trade: await sighted(store, trade, swap, input.chains, at), swapId };
}

/** For one look at last blocks. */
const blocksMs = 4_000;

/** By a wrong clock a swap would be agreed that nobody funds. Throws SettleError `clock_wrong`. */
async function mustBeOnTime(
  { client, chains, now }: Pick<Agreeing, 'client' | 'chains' | 'now'>,
  { signal }: CallOptions,
): Promise<void> {
  const market = aheadOfMarket(client);
  if (clockFault({ market, chains: {} }) === null) return;
  const limit = AbortSignal.timeout(blocksMs);
  const until = signal === undefined ? limit : AbortSignal.any([limit, signal]);
  const sources = Object.values(chains).flatMap(({ source }) =>
    'adapter' in source ? source : [],
  );
  const blocks = await lookAtBlocks(sources as readonly ChainSource[], now, until);
  const sentence = `${clockFault({ market, chains: blocks })}: this side accepted nothing`;
  throw new SettleError('clock_wrong', sentence);
}

/** Whether what the customer says now is what it said before, and the market holds it to that. */
function isSame(kept: OwnTrade, fresh: OwnTrade, thread: Thread): boolean {
  if (kept.quoteAmount !== fresh.quoteAmount) return false;
  if (thread.swapId !== null) return true;
  return thread[`${fresh.party}Accepted`] && fresh.acceptedAt < standsUntil(kept);
}

/**
 * The trade with the moment its swap was first seen. The market says when it was agreed, and could
 * keep it back to see where the price goes.
 */
export async function sighted(
  store: Store,
  trade: OwnTrade,
  swap: Swap,
  chains: PinnedChains,
  at: { readonly swapId: string; readonly now: UnixSeconds },
): Promise<OwnTrade> {
  verifyAgreement(swap, trade, chains, at);
  const record = await store.getSwap(swap.id);
  if (record !== null) {
    mustBeOfThread(record, trade);
    // Only what was seen is kept, by a version that noted no moment too.
    return trade;
  }
  const kept = await store.getTrade(trade.threadId);
  const isKept = kept?.acceptedAt === trade.acceptedAt && kept.swapSeenAt !== undefined;
  const swapSeenAt = isKept ? kept.swapSeenAt : at.now;
  const until = standsUntil(trade);
  if (!(swapSeenAt <= until + clockToleranceSeconds)) {
    const [stood, first] = [until, swapSeenAt].map(isoTime);
    const sentence = `your acceptance stood until ${stood}; swap ${swap.id} was first seen ${first}`;
    throw new SettleError('acceptance_lapsed', sentence);
  }
  const seen = { ...trade, swapSeenAt };
  if (!isKept) await store.putTrade(seen);
  return seen;
}

/** How long another process may take to keep the swap that it funds. */
const keepMs = 5_000;

/**
 * For whoever signs elsewhere, without `settle`: the swap is kept as one that may be funded, before
 * anything that funds it is handed out. Throws SettleError `hashlock_used` where another swap of
 * its RFQ, thread or hashlock is kept, or another one under its id; `in_use` where another process
 * keeps one for so long.
 */
export async function keepToFund(store: Store, trade: OwnTrade, swap: VerifiedSwap): Promise<void> {
  const lock = await store.lock?.('to fund', AbortSignal.timeout(keepMs));
  if (lock === null) {
    const sentence = `another process has kept the store for more than ${keepMs / 1_000} s`;
    throw new SettleError('in_use', sentence);
  }
  try {
    await mustBeOnly(store, { trade, swap });
    const none = { funding: null, claim: null, refund: null, publicSecret: null };
    const kept = await store.getSwap(swap.id);
    if (kept !== null) mustBeTheKept(kept, trade, swap);
    await store.putSwap({ ...(kept ?? none), trade, swap, byHand: true });
  } finally {
    await lock?.release();
  }
}

/** An escrow that may have been paid is not handed out again as another one, nor at other times. */
function mustBeTheKept(record: SwapRecord, trade: OwnTrade, swap: VerifiedSwap): void {
  mustBeOfThread(record, trade);
  const { swap: kept, restored } = record;
  const gives = givenLeg(trade.party);
  const factsOf = ({ hashlock, agreedAt, deadlines: at, legs }: VerifiedSwap) => ({
    hashlock,
    agreedAt,
    ...at,
    escrow: mayBeFunded(record) ? legs[gives].escrow?.address : null,
  });
  const [before, now] = [kept, swap].map((each) => JSON.stringify(factsOf(each)));
  if (before === now && !isFundingSigned(record) && restored !== true) return;
  const why =
    before === now ? 'may be funded from elsewhere' : `was kept as ${before} and is now ${now}`;
  throw new SettleError('hashlock_used', `swap ${swap.id} ${why}: never fund it again`);
}

/** A customer that offers a hashlock again after its secret was used gives the second swap away. */
function used(threadId: string, swapId: string): SettleError {
  const sentence =
    `the RFQ, hashlock or price of thread ${threadId} belongs to swap ${swapId} already: settle ` +
    'that one, and agree on another RFQ';
  return new SettleError('hashlock_used', sentence);
}

async function tradeOf(
  input: Omit<Agreeing, 'store'>,
  thread: Thread,
): Promise<{ trade: OwnTrade; own: OwnLegs }> {
  const { party, userId, base, quote, acceptTtlSeconds = defaultAcceptTtlSeconds } = input;
  if (!Number.isSafeInteger(acceptTtlSeconds) || acceptTtlSeconds < 1) {
    throw new RangeError(`acceptTtlSeconds must be whole seconds, is ${acceptTtlSeconds}`);
  }
  mustEqual(`thread.${party}Id`, userId, thread[`${party}Id`]);
  mustEqual('thread.id', input.threadId, thread.id);
  mustEqual('thread.rfqId', input.rfqId, thread.rfqId);
  mustEqual('thread.quoteAmount', input.quoteAmount.toString(), thread.quoteAmount);
  const ends = endOf(input.priceEndsAt, endShown(thread));
  const pair = {
    direction: input.direction,
    baseAssetId: base.id,
    quoteAssetId: quote.id,
  };
  const chainOf = (assetId: string) => (assetId === base.id ? base.chain : quote.chain);
  const takers = chainOf(givenByTaker(pair));
  const makers = chainOf(givenByMaker(pair));
  const { destinationOn = (chain) => destinationIn(input.chains, chain) } = input;
  const [gives, gets] = party === 'taker' ? [takers, makers] : [makers, takers];
  const trade: OwnTrade = {
    party,
    rfqId: input.rfqId,
    threadId: input.threadId,
    makerId: thread.makerId,
    takerId: thread.takerId,
    direction: input.direction,
    base,
    baseAmount: input.baseAmount,
    quote,
    quoteAmount: input.quoteAmount,
    hashlock: null,
    acceptedAt: Math.floor(await input.now()),
    acceptTtlSeconds,
    ...ends,
    refundTo: destinationOn(gives),
    payTo: destinationOn(gets),
  };
  return { trade, own: ownLegs(trade, input.chains) };
}

/** The earlier of two ends; null without one. */
function endOf(
  one: UnixSeconds | null | undefined,
  other: UnixSeconds | null | undefined,
): Pick<OwnTrade, 'priceEndsAt'> {
  const known = [one, other].filter((each) => each != null);
  return known.length === 0 ? {} : { priceEndsAt: Math.min(...known) };
}

function endShown({ quoteExpiresAt = null }: Thread): UnixSeconds | null {
  if (quoteExpiresAt === null) return null;
  const at = Date.parse(quoteExpiresAt);
  if (Number.isFinite(at)) return Math.floor(at / 1_000);
  throw new VerificationError('thread.quoteExpiresAt', 'a time', String(quoteExpiresAt));
}

/** Throws SettleError `price_ended`. */
function mustLast({ acceptedAt, priceEndsAt }: OwnTrade): void {
  if (priceEndsAt === undefined || acceptedAt < priceEndsAt + clockToleranceSeconds) return;
  const [ended, at] = [priceEndsAt, acceptedAt].map(isoTime);
  const sentence = `the price ended ${ended}, and it is ${at} by your clock: this side accepted nothing`;
  throw new SettleError('price_ended', sentence);
}

type OwnLegs = ReturnType<typeof ownLegs>;

/** Throws unless a swap of this thread would begin with the customer's rules, legs and times. */
function mustFit(thread: Thread, own: OwnLegs): Rules {
  const rules = mustHaveRules(thread.rules, own);
  const { refundAt } = deadlines(0, timingsOf(own), own.long);
  const legs = thread.legs as Unchecked<Thread['legs']>;
  for (const name of ['a', 'b'] as const) {
    const { asset, amount } = own[name];
    const leg = {
      chain: asset.chain,
      assetId: asset.id,
      amount: amount.toString(),
      long: name === own.long,
      timelockSeconds: refundAt[name],
    };
    mustMatch(`thread.legs.${name}.`, leg, legs?.[name] ?? {});
  }
  return rules;
}

function mustInitiate(thread: Thread, long: LegName): Party {
  const initiator = initiatorOf(long);
  mustEqual('thread.initiator', initiator, thread.initiator);
  return initiator;
}
