// One swap, opened as the SDK's driver has it, without wallets: its rules decide about what is
// given out to be signed elsewhere. Everything that the own nodes show is read here.

import { opens } from '@parley/core/hashlock.ts';
import type { LegName } from '@parley/core/trade.ts';
import { sighted } from '@parley/sdk/agree.ts';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { type Poll, poll, pollWhole, snapshot, stopWatching } from '@parley/sdk/settle/chains.ts';
import { type Context, contextOf, type Hearing, newHearing } from '@parley/sdk/settle/context.ts';
import { follow } from '@parley/sdk/settle/prepare.ts';
import { remember, takeStrayed } from '@parley/sdk/settle.ts';
import { memoryStore } from '@parley/sdk/stores/memory.ts';
import { mustBeOnly, type Store, type SwapRecord } from '@parley/sdk/stores/store.ts';
import type { OwnTrade, VerifiedSwap } from '@parley/sdk/trade.ts';
import type { Swap } from '@parley/sdk/types.ts';
import { mustEqual, verifyAgain, verifySwap } from '@parley/sdk/verify.ts';
import { Failure } from '@parley/trader/failures.ts';
import type { Desk } from '../desk.ts';

export type Opened = {
  readonly trade: OwnTrade;
  /** As verified, and as kept from the first time on. */
  readonly swap: VerifiedSwap;
  /** null until both sides have named their addresses. */
  readonly seen: { readonly context: Context; readonly polled: Poll } | null;
};

type How = {
  /** A claim or refund: the kept swap is enough for it, whatever the market says or does not. */
  readonly isUrgent: boolean;
};

/** The time that another call, of any process of the profile, may take for one swap. */
const lockMs = 30_000;
/** Swaps whose nodes are remembered. */
const mostHearings = 1_000;
const legNames: readonly LegName[] = ['a', 'b'];

/**
 * One call at a time opens a swap. Without keys it is kept from when it is complete: from then on
 * nothing of it changes but an escrow that may move. Throws VerificationError where the market says
 * otherwise, and SettleError `acceptance_lapsed`, `hashlock_used`.
 */
export async function withSwap<T>(
  desk: Desk,
  swapId: string,
  how: How,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  // Processes and the calls of one wait for each other.
  const lock = await desk.watched.lock?.(`swap ${swapId}`, AbortSignal.timeout(lockMs));
  if (lock === null) {
    const sentence = `another call has worked at swap ${swapId} for ${lockMs / 1_000} s`;
    throw new Failure('local', 'in_use', sentence);
  }
  try {
    return await worked(desk, swapId, how, work);
  } finally {
    await lock?.release();
  }
}

/**
 * Calls look at a swap one after the other: a node that was silent in one call, or has spoken in
 * it, is known to the next.
 */
function hearingOf({ hearings }: Desk, swapId: string): Hearing {
  const hearing = hearings.get(swapId) ?? newHearing();
  hearings.set(swapId, hearing);
  const [oldest] = hearings.keys();
  if (hearings.size > mostHearings && oldest !== undefined) hearings.delete(oldest);
  return hearing;
}

async function worked<T>(
  desk: Desk,
  swapId: string,
  how: How,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const kept = await keptOf(desk, swapId);
  const said = await saidOf(desk, swapId, { isNeeded: kept === null || !how.isUrgent });
  const trade = kept?.trade ?? (await tradeOf(desk, swapId, said));
  const input = {
    swapId,
    client: null,
    now: desk.session.now,
    chains: await chainsOf(desk, trade),
    store: desk.held === null ? desk.watched : await copyOf(trade, kept),
  };
  const context = contextOf(input, hearingOf(desk, swapId));
  try {
    const first = said === null || kept !== null ? null : await sight(context, trade, said);
    if (first !== null) return await work({ ...first, seen: null });
    await context.store.getSwap(swapId);
    if (said !== null && kept !== null && !how.isUrgent) await compare(context, said);
    context.heard.secret = secretIn(said, context.record);
    const polled = await factsOf(context, how);
    const { record } = context;
    return await work({ trade: record.trade, swap: record.swap, seen: { context, polled } });
  } finally {
    // The driver watches the same escrows.
    if (desk.held?.driver.of(swapId)?.state !== 'running') stopWatching(context);
  }
}

/**
 * The facts of both chains, by all own nodes and held against what was seen before; it is kept.
 * An urgent step waits for one of them alone, once the secret is public.
 */
async function factsOf(context: Context, { isUrgent }: How): Promise<Poll> {
  const look = () => (isUrgent ? poll(context) : pollWhole(context));
  const polled = await look();
  await remember(context, polled);
  return (await takeStrayed(context, polled)) ? look() : polled;
}

async function keptOf({ held, watched }: Desk, swapId: string): Promise<SwapRecord | null> {
  return (await held?.own.store.getSwap(swapId)) ?? (await watched.getSwap(swapId));
}

/** null: the market does not answer, and need not. */
async function saidOf(
  { client }: Desk,
  swapId: string,
  { isNeeded }: { readonly isNeeded: boolean },
): Promise<Swap | null> {
  try {
    return await client.swap(swapId);
  } catch (error) {
    if (isNeeded || !(error instanceof ParleyApiError)) throw error;
    return null;
  }
}

/** The own trade, kept when it was accepted. Throws Failure `unknown_trade`. */
async function tradeOf(
  { held, watched }: Desk,
  swapId: string,
  said: Swap | null,
): Promise<OwnTrade> {
  const { threadId = '' } = said ?? {};
  const trade = (await held?.own.store.getTrade(threadId)) ?? (await watched.getTrade(threadId));
  if (trade !== null) return trade;
  const sentence =
    `swap ${swapId} was not accepted here, so there is nothing of one's own to verify it by` +
    (held === null ? ': a server with --keys knows what the profile accepted' : '');
  throw new Failure('needs_you', 'unknown_trade', sentence);
}

export async function chainsOf({ session }: Desk, { base, quote }: OwnTrade) {
  const chains: Record<string, { source: Awaited<ReturnType<Desk['session']['source']>> }> = {};
  for (const { chain } of [base, quote]) chains[chain] = { source: await session.source(chain) };
  return chains;
}

/** With keys the driver alone keeps what is seen. */
async function copyOf(trade: OwnTrade, kept: SwapRecord | null): Promise<Store> {
  const store = memoryStore();
  await store.putTrade(trade);
  if (kept !== null) await store.putSwap(kept);
  return store;
}

/** Keeps a swap that is complete, and resolves to null then. */
async function sight(
  { store, chains, swapId, now }: Context,
  own: OwnTrade,
  said: Swap,
): Promise<Omit<Opened, 'seen'> | null> {
  const at = { swapId, now: await now() };
  const trade = await sighted(store, own, said, chains, at);
  const swap = verifySwap(said, trade, chains, at);
  await mustBeOnly(store, { trade, swap });
  if (legNames.some((name) => swap.legs[name].escrow === null)) return { trade, swap };
  const none = { funding: null, claim: null, refund: null, publicSecret: null };
  await store.putSwap({ trade, swap, ...none });
  return null;
}

/** Throws unless the market says what is kept, but for escrows that may move now. */
async function compare(context: Context, said: Swap): Promise<void> {
  const verified = verifyAgain(said, context.record, context.chains);
  const addressOf = ({ legs }: VerifiedSwap, name: LegName) => legs[name].escrow?.address ?? null;
  const differ = (name: LegName) =>
    addressOf(context.record.swap, name) !== addressOf(verified, name);
  if (!legNames.some(differ)) return;
  await follow(context, await snapshot(context), verified);
  for (const name of legNames) {
    const kept = addressOf(context.record.swap, name);
    mustEqual(`legs.${name}.escrow`, kept, addressOf(verified, name));
  }
}

/** A preimage is the secret, whoever says it. */
function secretIn(said: Swap | null, { swap }: SwapRecord): string | null {
  const { secret = null } = said ?? {};
  const isHex = typeof secret === 'string' && /^[0-9a-f]{64}$/.test(secret);
  return isHex && opens(secret, swap.hashlock) ? secret : null;
}
